"""A simulation that speaks Catalyst and a program with Sidestream's own calls have the same meshes and fields: all
results are the same bytes. Damaged nodes get a sentence with their path, and the run goes on."""

import csv
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few

MPIRUN = [os.environ["SIDESTREAM_MPIEXEC"], *os.environ.get("MPIEXEC_FLAGS", "").split()]
HOST = [os.environ["SIDESTREAM_CATALYST_HOST"], "--plugin", os.environ["SIDESTREAM_CATALYST"]]
DIRECT = [os.environ["SIDESTREAM_CATALYST_DIRECT"]]
TOOL = os.environ["SIDESTREAM_TOOL"]

BOXES = ["uniform", "uniform-1", "uniform-2", "rectilinear", "structured", "amr"]
LISTS = ["hex", "mixed", "points"]
# Pairs of mesh and rank count in `make test`: other tests run the other meshes.
KEPT = [("uniform-1", 3), ("rectilinear", 5), ("amr", 3), ("mixed", 2), ("points", 3)]
STATISTICS = """
  - statistics: {variable: at_points, file: points.csv}
"""
IN_CELLS = """
  - statistics: {variable: in_cells, file: cells.csv}
  - histogram:  {variable: pair.y, bins: 7, range: [-4, 8], file: pair.csv}
"""
SURFACE = """
  - isosurface: {variable: at_points, values: [0.25], file: "surface-{index}.vtp"}
"""


def configuration(mesh, placement="{mode: inline}"):
    tasks = STATISTICS + ("" if mesh == "points" else IN_CELLS)
    tasks += "" if mesh in ("points", "uniform-1", "amr") else SURFACE
    return (
        f"placement: {placement}\noutput: {{directory: results}}\nanalyses:{tasks}"
        'outputs:\n  - hdf5: {file: "fields-{index}.h5"}\n'
    )


def start(folder, program, ranks, *arguments, text, status=0):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.yaml").write_text(text)
    command = [*MPIRUN, "-n", str(ranks), *program, "--configuration", "run.yaml", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def results(folder):
    """Files of a run that do not tell who made them, with their bytes."""
    found = {}
    for file in sorted((folder / "results").rglob("*")):
        if file.suffix in (".csv", ".vtp", ".h5") and file.name not in ("iterations.csv", "timings.csv"):
            found[str(file.relative_to(folder))] = file.read_bytes()
    return found


def outcomes(folder):
    with (folder / "results" / "iterations.csv").open() as file:
        return [row["outcome"] for row in csv.DictReader(file)]


def same_results(folder, mesh, ranks, *arguments):
    text = configuration(mesh)
    start(folder / "catalyst", HOST, ranks, "--mesh", mesh, *arguments, text=text)
    start(folder / "direct", DIRECT, ranks, "--mesh", mesh, *arguments, text=text)
    ours, theirs = results(folder / "catalyst"), results(folder / "direct")
    assert len(ours) >= 4 and sorted(ours) == sorted(theirs)
    for name, content in ours.items():
        assert content == theirs[name], name


@pytest.mark.parametrize(("mesh", "ranks"), few([(m, r) for m in BOXES + LISTS for r in (1, 2, 3, 5)], kept=KEPT))
def test_same_bytes(tmp_path, mesh, ranks):
    same_results(tmp_path, mesh, ranks)


@pytest.mark.parametrize("mesh", few(["uniform", "rectilinear", "structured"], kept=["structured"]))
def test_ghosts_are_cut(tmp_path, mesh):
    same_results(tmp_path, mesh, 3, "--ghosts")


@pytest.mark.parametrize("mesh", few(["uniform", "structured"], kept=["structured"]))
def test_interleaved_fields(tmp_path, mesh):
    """The points of structured pieces lie in a larger array."""
    same_results(tmp_path, mesh, 2, "--strided")


def test_a_rank_without_the_channel(tmp_path):
    same_results(tmp_path, "hex", 3, "--other-rank")


@pytest.mark.test_all
def test_more_ranks_than_cells(tmp_path):
    same_results(tmp_path, "uniform", 13)


def test_characters_that_names_cannot_have(tmp_path):
    start(tmp_path, HOST, 2, "--mesh", "hex", "--channel", "the grid.1-b", text=configuration("hex"))
    with h5py.File(tmp_path / "results" / "fields-1.h5") as file:
        assert file["variables/the_grid_1_b_coordinates"].attrs["mesh"] in ("the_grid_1_b", b"the_grid_1_b")


def test_values_are_those_of_the_formula(tmp_path):
    start(tmp_path, HOST, 3, "--mesh", "uniform", text=configuration("uniform"))
    with h5py.File(tmp_path / "results" / "fields-1.h5") as file:
        data = file["variables/in_cells"]
        assert data.shape[-3:] == (4, 5, 12)
        z, y, x = np.meshgrid(2 + 0.125 * (np.arange(4) + 0.5), -1 + 0.5 * (np.arange(5) + 0.5),
                              0.5 + 0.25 * (np.arange(12) + 0.5), indexing="ij")  # fmt: skip
        expected = np.sin(3 * x + 0.5) + 0.5 * y * z - 0.1 * x * y
        np.testing.assert_allclose(data[...].reshape(expected.shape), expected, rtol=1e-14)
        assert data.attrs["unit"] in ("K", b"K")


def test_sidecar(tmp_path):
    text = configuration("uniform", "{mode: sidecar, buffer: 32 MiB, session: catalyst-test}")
    (tmp_path / "run.yaml").write_text(text)
    servers = subprocess.Popen([*MPIRUN, "-n", "1", TOOL, "serve", "run.yaml"], cwd=tmp_path, stderr=subprocess.PIPE)
    try:
        start(tmp_path, HOST, 2, "--mesh", "uniform", text=text)
        servers.communicate(timeout=60)
        assert servers.returncode == 0
    finally:
        servers.kill()
    start(tmp_path / "direct", DIRECT, 2, "--mesh", "uniform", text=configuration("uniform"))
    ours, theirs = results(tmp_path), results(tmp_path / "direct")
    assert ours["results/cells.csv"] == theirs["results/cells.csv"]
    assert ours["results/surface-2.vtp"] == theirs["results/surface-2.vtp"]


def test_dedicated_ranks_are_refused(tmp_path):
    done = start(tmp_path, HOST, 3, text=configuration("uniform", "{mode: nodes, servers: 1, buffer: 32 MiB}"))
    assert "makes servers of some ranks" in done.stderr
    assert "status 100" in done.stdout  # once; then the simulation goes on without


@pytest.mark.parametrize("serialized", few([False, True], kept=[False]))
def test_other_threads(tmp_path, serialized):
    """As in Catalyst 2.1, which may call from a thread of its own."""
    if serialized:
        return same_results(tmp_path, "uniform", 2, "--threads", "--serialized")
    done = start(tmp_path, HOST, 2, "--threads", text=configuration("uniform"))
    assert done.stderr.count("MPI_Init_thread with MPI_THREAD_SERIALIZED") == 1
    assert done.stdout.count("status 100") == 2
    return None


def test_a_wrong_configuration_is_said_once(tmp_path):
    done = start(tmp_path, HOST, 2, text=configuration("uniform").replace("at_points", "at_pionts"))
    assert done.stderr.count("did you mean 'at_points'") == 1
    assert done.stdout.count("execute 0") == 2 and "execute 1" not in done.stdout


def test_steered_parameters_are_results(tmp_path):
    text = configuration("uniform") + "steering:\n  gain: {type: real, default: 2.5}\n"
    done = start(tmp_path, HOST, 2, "--results", text=text)
    assert done.stdout.count("gain 2.5") == 3


def test_a_channel_that_comes_late_is_left_out(tmp_path):
    done = start(tmp_path, HOST, 2, "--late", text=configuration("uniform"))
    assert "the mesh 'late' is left out" in done.stderr
    assert outcomes(tmp_path) == ["delivered"] * 3


GRID = "catalyst/channels/grid"
# Each: the damaged node, the damage, and the path that the sentence names.
DAMAGED = {
    "uniform": [
        ("data/coordsets/coords/dims/i", "text", "dims/i"),
        ("data/coordsets/coords/dims/i", "half", "dims/i"),
        ("data/coordsets/coords/dims/i", "negative", "coordsets/coords"),
        ("data/coordsets/coords/dims/i", "large", "coordsets/coords"),
        ("data/coordsets/coords/dims", "remove", "coordsets/coords"),
        ("data/coordsets/coords/origin/x", "nan", "origin/x"),
        ("data/coordsets/coords/spacing/dx", "nan", "spacing/dx"),
        ("data/coordsets/coords/spacing/dx", "negative", "spacing/dx"),
        ("data/coordsets/coords/type", "text", "coordsets/coords"),
        ("data/coordsets", "remove", "channels/grid/data"),
        ("data/topologies", "remove", "channels/grid/data"),
        ("data/topologies/topo/type", "text", "topologies/topo/type"),
        ("data/topologies/topo/coordset", "text", "coordsets"),
        ("data/fields/in_cells/association", "remove", "fields/in_cells"),
        ("data/fields/in_cells/association", "text", "fields/in_cells/association"),
        ("data/fields/in_cells/values", "short", "fields/in_cells/values"),
        ("data/fields/in_cells/values", "text", "fields/in_cells/values"),
        ("data/fields/in_cells/values", "remove", "fields/in_cells"),
        ("data/fields/in_cells/values", "foreign", "fields/in_cells/values"),
        ("data/fields/pair/values/v", "short", "fields/pair/values/v"),
        ("data/fields", "numbers", ""),
        ("type", "text", "channels/grid/type"),
        ("type", "remove", "channels/grid"),
        ("data", "remove", "channels/grid"),
        ("data", "numbers", ""),
    ],
    "mixed": [
        ("data/topologies/topo/elements/connectivity", "short", "elements"),
        ("data/topologies/topo/elements/sizes", "short", "elements"),
        ("data/topologies/topo/elements/shapes", "short", "elements/shapes"),
        ("data/topologies/topo/elements/shape", "text", "elements/shape"),
        ("data/topologies/topo/elements/shape_map", "object", "elements/shapes"),
        ("data/topologies/topo/subelements", "remove", "topologies/topo"),
        ("data/topologies/topo/subelements/connectivity", "short", "subelements"),
        ("data/coordsets/coords/values/y", "short", "coordsets/coords/values/y"),
    ],
    "rectilinear": [("data/coordsets/coords/values/x", "negative", "coordsets/coords")],
    "structured": [("data/topologies/topo/elements/dims/i", "half", "dims/i"),
                   ("data/coordsets/coords/values", "numbers", "coordsets/coords")],
    "amr": [("data/domain_0/state/level", "remove", "data/domain_0"),
            ("data/domain_0/state/level", "text", "state/level")],
}  # fmt: skip
CASES = [(mesh, *case) for mesh, cases in DAMAGED.items() for case in cases]


@pytest.mark.parametrize(("mesh", "path", "action", "named"), few(CASES, kept=CASES[::16]))
@pytest.mark.parametrize("step", few([0, 1], kept=[1]))
def test_damaged_nodes(tmp_path, mesh, path, action, named, step):
    """One rank sends nonsense once; the sentence names the node, and the last iteration is as without the damage."""
    damage = ["--edit", f"{GRID}/{path}={action}", "--edit-step", str(step), "--edit-rank", "0"]
    done = start(tmp_path / "damaged", HOST, 2, "--mesh", mesh, *damage, text=configuration(mesh))
    assert done.stdout == ""
    if named:
        assert named in done.stderr, done.stderr
    assert len(outcomes(tmp_path / "damaged")) == 3
    if step == 1:
        start(tmp_path / "whole", HOST, 2, "--mesh", mesh, text=configuration(mesh))
        last = Path("results") / "fields-2.h5"
        assert (tmp_path / "damaged" / last).read_bytes() == (tmp_path / "whole" / last).read_bytes()


def test_a_damaged_state_costs_its_iteration(tmp_path):
    damage = ["--edit", "catalyst/state/time=text", "--edit-step", "1", "--edit-rank", "0"]
    done = start(tmp_path, HOST, 1, *damage, text=configuration("uniform"))
    assert "execute/catalyst/state/time" in done.stderr
    assert outcomes(tmp_path) == ["delivered"] * 3
    with (tmp_path / "results" / "points.csv").open() as file:
        assert [row["cycle"] for row in csv.DictReader(file)] == ["0", "20"]


def test_a_host_that_never_finalizes(tmp_path):
    start(tmp_path, HOST, 2, "--leave", text=configuration("uniform"))
    assert outcomes(tmp_path) == ["delivered"] * 3
