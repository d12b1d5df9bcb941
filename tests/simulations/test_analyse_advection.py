"""`sidestream analyse` on patches on refinement levels, which come and go, gives the same bytes as in situ."""

import os

import pytest
from analysing import analyse, configure, run, same
from pairs import few

TASKS = """\
analyses:
  - statistics: {variable: density}
  - histogram: {variable: density, bins: 16}
  - threshold: {variable: density, minimum: 0.5, file: "inside-{index}.vtu"}
  - projection: {variable: density, axis: y, file: "line-{index}.h5"}
"""
SOLID = """\
  - slice: {variable: density, axis: z, cells: own}
  - isosurface: {variable: density, values: [0.5]}
"""


@pytest.fixture(scope="module", params=["flat", "solid"])
def insitu(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    flat = request.param == "flat"
    problem = ["cylinder", "--cells", 32, "--levels", 3]
    if not flat:
        problem = ["gaussian", "--dimensions", 3, "--cells", 16, "--levels", 2]
    tasks = TASKS if flat else TASKS + SOLID
    file = configure(folder, "insitu", tasks, outputs="outputs: [database: {directory: data, kind: post}]\n")
    run(2, os.environ["ADVECTION"], *problem, "--largest", 16, "--steps", 12, "--every", 6, "--sidestream", file)
    return folder / "insitu", tasks


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "placement"),
    few([(5, "inline"), (3, "{mode: cores, buffer: 32 MiB}"), (1, "inline"), (2, "inline"), (3, "inline")], keep=2),
)
def test_levels(tmp_path, insitu, ranks, placement):
    found, tasks = insitu
    same(found, analyse(tmp_path, "out", found / "data", tasks, ranks=ranks, placement=placement)[1], 8)
