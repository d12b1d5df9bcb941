"""`sidestream analyse` on databases and HDF5 files of all kinds of meshes: tables, surfaces and pictures have the
bits of the run."""

import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
import sidestream
from pairs import few, pairs
from programs import built
from support import ANALYSES, run
from test_kinds import TASKS, configure, simulate

TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
FILES = ["data", "fields-*.h5"]


def analyse(folder, files, tasks, ranks, *options, placement="inline", status=0):
    folder.mkdir(exist_ok=True)
    file = folder / "run.yaml"
    file.write_text(f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n{tasks}")
    command = [MPIRUN, "-n", str(ranks), TOOL, "analyse", *map(str, files), "--config", str(file), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return folder / "results", done.stdout + done.stderr


def results(folder):
    own = ("timings.csv", "iterations.csv", "movement.csv")
    return {
        path.name: path.read_bytes()
        for path in sorted(Path(folder).iterdir())
        if path.suffix in (".csv", ".vtp", ".png") and path.name not in own
    }


def same(one, other):
    a, b = results(one), results(other)
    assert sorted(a) == sorted(b)
    assert a
    assert [name for name in a if a[name] != b[name]] == []


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    """Files of the field program: t in cells, p at nodes with two components, row order; 20 cells along each axis."""
    outputs = "outputs: [database: {directory: data, kind: post, codec: [byte-shuffle, zstd]}, hdf5: {ghosts: true}]\n"
    done = run(tmp_path_factory.mktemp("fields"), 3, "inline", ANALYSES + outputs, ["steps=2"])
    assert done.status == 0, done.text
    return done.results


NODES = "{mode: nodes, buffer: 32 MiB, servers: 2}"


@pytest.mark.parametrize(
    ("ranks", "placement", "files"),
    few(
        [(1, "inline"), (3, "inline"), (8, "inline"), (3, "cores"), (5, NODES)],
        FILES,
        kept=[(5, NODES, "fields-*.h5")],
    ),
)
def test_fields(tmp_path, fields, files, ranks, placement):
    found, text = analyse(tmp_path, [fields / files], ANALYSES, ranks, placement=placement)
    assert "analysed 2 of 2 iterations" in text
    same(fields, found)


OUTLINES = """\
analyses:
  - render: {patches: {mesh: grid}, size: [120, 90], file: "outlines-{cycle:03}.png"}
"""


@pytest.mark.keep(1)
@pytest.mark.parametrize(("ranks", "placement"), [(3, "inline"), (5, NODES)])
def test_outlines_of_blocks_without_any_values(tmp_path, ranks, placement):
    outputs = "outputs: [database: {directory: data, kind: post}]\n"
    done = run(tmp_path / "run", 3, "inline", OUTLINES + outputs, ["steps=2", "blocks=2"])
    assert done.status == 0, done.text
    found, _ = analyse(tmp_path / "later", [done.results / "data"], OUTLINES, ranks, placement=placement)
    same(done.results, found)
    pixels = np.asarray(sidestream.open(found / "outlines-010.png")["image"])
    assert len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0)) > 5  # there are lines


KINDS = [(kind, changing) for kind in sorted(TASKS) for changing in (0, 1) if (kind, changing) != ("curvilinear", 1)]


@pytest.fixture(scope="module")
def kinds(request, tmp_path_factory):
    kind, changing = request.param
    folder = tmp_path_factory.mktemp(kind)
    path = configure(folder, kind, "inline", changing)
    tasks = "analyses:" + path.read_text().split("analyses:")[1].split("outputs:")[0]
    return simulate(folder, path, kind, 3, changing, 0), tasks, kind


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("kinds", "files", "ranks"),
    pairs([(kind, files) for kind in KINDS for files in FILES], [1, 2, 5], strength=1),
    indirect=["kinds"],
)
def test_kinds(tmp_path, kinds, files, ranks):
    insitu, tasks, kind = kinds
    more = ["--periodic", "x"] if kind == "levels" and files != "data" else []
    found, _ = analyse(tmp_path, [insitu / files], tasks, ranks, *more)
    same(insitu, found)


@pytest.mark.test_all
def test_results_beside_what_is_read(tmp_path, fields):
    """A run that would replace, or go on with, the directory of the input files is refused before it touches any
    file."""
    before = {path.name for path in fields.iterdir()}
    for existing in ("replace", "resume"):
        file = tmp_path / "run.yaml"
        file.write_text(
            f"output: {{directory: {fields}, existing: {existing}}}\nanalyses: [statistics: {{variable: t}}]\n"
        )
        command = [MPIRUN, "-n", "2", TOOL, "analyse", str(fields / "data"), "--config", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 1
        assert "--directory" in done.stderr and "lies in the output directory" in done.stderr, done.stderr
    assert {path.name for path in fields.iterdir()} == before


@pytest.mark.test_all
def test_what_is_not_read(tmp_path):
    """Messages about directories of other programs tell what to do."""
    output, adios = tmp_path / "output_00007", tmp_path / "data.bp"
    for path, name in [(output, "info_00007.txt"), (adios, "md.idx")]:
        path.mkdir()
        (path / name).write_text("ncpu = 2\n")
    tasks = "analyses: [statistics: {variable: density}]\n"
    assert f"sidestream import ramses {output} DATABASE" in analyse(tmp_path / "a", [output], tasks, 1, status=1)[1]
    assert f"'{adios}' is of ADIOS2" in analyse(tmp_path / "b", [adios], tasks, 1, status=1)[1]


@pytest.mark.test_all
def test_damaged_files(tmp_path):
    """A damaged iteration among good ones is named; --skip-damaged leaves it out."""
    for step in range(4):
        with h5py.File(tmp_path / f"dump{step}.h5", "w") as file:
            file["rho"] = np.full((4, 5, 6), float(step))
    damaged = tmp_path / "dump2.h5"
    damaged.write_bytes(damaged.read_bytes()[:1500])
    description = tmp_path / "arrays.yaml"
    description.write_text("meshes: {grid: {}}\nvariables: {rho: /rho}\n")
    options = [tmp_path / "dump?.h5"], "analyses: [statistics: {variable: rho}]\n", 2, "--describe", str(description)
    _, said = analyse(tmp_path / "not", *options, status=1)
    assert f"cannot open '{damaged}'" in said and "it is damaged, was cut off" in said
    found, said = analyse(tmp_path / "some", *options, "--skip-damaged", status=1)
    assert f"left out: cannot open '{damaged}'" in said and "analysed 3 of 3 iterations" in said
    assert np.loadtxt(found / "statistics.csv", delimiter=",", skiprows=1)[:, 1].tolist() == [0, 1, 3]  # cycles
    damaged.unlink()
    analyse(tmp_path / "good", *options, "--skip-damaged")
