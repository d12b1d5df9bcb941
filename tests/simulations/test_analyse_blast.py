"""`sidestream analyse` on octrees gives the same bytes as in situ."""

import os

import pytest
from analysing import analyse, configure, run, same
from pairs import few

TASKS = """\
analyses:
  - statistics: {variable: density}
  - histogram: {variable: pressure, bins: 16}
  - slice: {variable: density, axis: z, position: 0.51, cells: own}
  - isosurface: {variable: density, values: [1.1]}
"""


OPTIONS = ["octant", "--least", 2, "--most", 4, "--end", 1, "--steps", 6, "--every", 3]


@pytest.fixture(scope="module")
def insitu(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blast")
    file = configure(folder, "insitu", TASKS, outputs="outputs: [database: {directory: data, kind: post}]\n")
    run(2, os.environ["BLAST"], *OPTIONS, "--sidestream", file)
    return folder / "insitu"


@pytest.mark.parametrize("ranks", few([3, 1, 2, 5]))
def test_trees(tmp_path, insitu, ranks):
    same(insitu, analyse(tmp_path, "out", insitu / "data", TASKS, ranks=ranks)[1], 6)
