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
    """Results and an iteration that are asked for after finalize are refused without harm."""
    text = configuration("uniform") + "steering:\n  gain: {type: real, default: 2.5}\n"
    done = start(tmp_path, HOST, 2, "--results", text=text)
    assert done.stdout.count("gain 2.5") == 3
    assert done.stderr.count("before initialize, or after finalize") == 2  # once on each rank
    assert outcomes(tmp_path) == ["delivered"] * 3


def test_a_channel_that_comes_late_is_left_out(tmp_path):
    done = start(tmp_path, HOST, 2, "--late", text=configuration("uniform"))
    assert "the mesh 'late' is left out" in done.stderr
    assert outcomes(tmp_path) == ["delivered"] * 3


@pytest.mark.parametrize("ranks", few([1, 3], kept=[3]))
def test_the_session_waits_for_the_first_mesh(tmp_path, ranks):
    """Executions without channels on any rank are no iterations. The last rank never has a channel."""
    done = start(tmp_path, HOST, ranks, "--begin", "1", "--other-rank", text=configuration("uniform"))
    assert done.stdout == "" and "left out" not in done.stderr
    assert outcomes(tmp_path) == ["delivered"] * 2
    with (tmp_path / "results" / "points.csv").open() as file:
        assert [row["cycle"] for row in csv.DictReader(file)] == ["10", "20"]


def trapped(folder):
    with (folder / "results" / "trap.csv").open() as file:
        return [int(row["cycle"]) // 10 for row in csv.DictReader(file)]


TRAP = """placement: {mode: inline}
output: {directory: results}
analyses:
  - statistics: {variable: trap, every: 4, file: trap.csv}
"""


@pytest.mark.parametrize(("mesh", "ranks"), few([(m, r) for m in ("uniform", "structured", "mixed") for r in (1, 2, 5)],
                                                kept=[("uniform", 2), ("mixed", 1)]))  # fmt: skip
def test_only_what_tasks_need_is_read(tmp_path, mesh, ranks):
    """Memory that nobody needs cannot be read: a copy of it would crash."""
    start(tmp_path / "due", HOST, ranks, "--mesh", mesh, "--trap", "4", "--steps", "14", text=TRAP)
    assert trapped(tmp_path / "due") == [0, 4, 8, 12]
    text = TRAP.replace("trap, every: 4", "in_cells")  # the file has the same name
    start(tmp_path / "never", HOST, ranks, "--mesh", mesh, "--trap", "0", "--steps", "14", text=text)
    assert trapped(tmp_path / "never") == list(range(14))
    assert outcomes(tmp_path / "never") == ["delivered"] * 14


# Each: a task, the multiples of iterations in which `trap` may be read, and the iterations that the task has.
NEEDS = [
    ("statistics: {variable: trap, every: 40 cycles, file: trap.csv}", 4, [0, 4, 8, 12]),
    ('statistics: {variable: "2 * trap", every: 4, file: trap.csv}', 4, [0, 4, 8, 12]),
    ("statistics: {variable: in_cells, every: 4, when: max(trap) > 5, file: trap.csv}", 1, [8, 12]),
    ("statistics: {variable: trap, every: 2 time, file: trap.csv}", 1, [0, 4, 8, 12]),
]


@pytest.mark.parametrize(("task", "multiples", "expected"), few(NEEDS, kept=NEEDS[2:3]))
def test_needs_of_schedules_and_expressions(tmp_path, task, multiples, expected):
    text = f"placement: inline\noutput: {{directory: results}}\nanalyses:\n  - {task}\n"
    start(tmp_path, HOST, 2, "--trap", str(multiples), "--steps", "14", text=text)
    assert trapped(tmp_path) == expected


@pytest.mark.test_all
def test_servers_with_other_analyses_tell_what_they_need(tmp_path):
    """The simulation's own file names no analysis of the field; those of the servers count."""
    placement = "{mode: sidecar, buffer: 32 MiB, session: catalyst-needs}"
    (tmp_path / "servers.yaml").write_text(TRAP.replace("inline", "sidecar").replace("{mode: sidecar}", placement))
    command = [*MPIRUN, "-n", "1", TOOL, "serve", "servers.yaml"]
    servers = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    try:
        text = f"placement: {placement}\noutput: {{directory: results}}\n"
        start(tmp_path, HOST, 2, "--trap", "4", "--steps", "14", text=text)
        servers.communicate(timeout=60)
        assert servers.returncode == 0
    finally:
        servers.kill()
    assert trapped(tmp_path) == [0, 4, 8, 12]


def test_fields_whose_names_become_the_same(tmp_path):
    start(tmp_path, HOST, 1, "--twins", text=configuration("uniform").replace("in_cells", "grid_in_cells"))
    with h5py.File(tmp_path / "results" / "fields-1.h5") as file:
        names = set(file["variables"])
        assert {"grid_in_cells", "grid_in_cells_"} <= names
        assert np.array_equal(file["variables/grid_in_cells"], file["variables/grid_in_cells_"])


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
        ("data/fields", "numbers", "data/fields"),
        ("data/fields/in_cells/topology", "text", "fields/in_cells/topology"),
        ("data/fields/in_cells/topology", "number:1", "fields/in_cells/topology"),
        ("data/fields/in_cells/association", "number:1", "fields/in_cells/association"),
        ("data/fields/in_cells/values", "empty", "fields/in_cells/values"),
        ("data/fields/in_cells/strides", "number:1", "fields/in_cells/strides"),
        ("data/fields/in_cells/offsets", "number:1", "fields/in_cells"),
        ("data/fields/pair/values/v", "object", "fields/pair/values/v"),
        ("data/coordsets/coords/spacing/dy", "number:0", "spacing/dy"),
        ("data/coordsets/coords/dims/k", "number:0", "coordsets/coords"),
        ("data/coordsets/coords/dims/j", "empty", "dims/j"),
        ("data/coordsets/coords/origin/y", "text", "origin/y"),
        ("data/topologies", "numbers", "data/topologies"),
        ("data/topologies/topo", "numbers", "topologies/topo"),
        ("data/topologies/topo/coordset", "number:3", "topologies/topo/coordset"),
        ("data/topologies/topo/type", "number:3", "topologies/topo/type"),
        ("data/topologies/topo/type", "word:rectilinear", "coordsets/coords"),
        ("state/timestep", "number:77", "channels/grid/state/timestep"),
        ("type", "text", "channels/grid/type"),
        ("type", "number:3", "channels/grid/type"),
        ("type", "word:ioss", "channels/grid/type"),
        ("type", "word:amrmesh", "channels/grid/data"),
        ("type", "remove", "channels/grid"),
        ("data", "remove", "channels/grid"),
        ("data", "numbers", "channels/grid/data"),
        ("data", "text", "channels/grid/data"),
    ],
    "mixed": [
        ("data/topologies/topo/elements/connectivity", "short", "elements"),
        ("data/topologies/topo/elements/sizes", "short", "elements"),
        ("data/topologies/topo/elements/shapes", "short", "elements/shapes"),
        ("data/topologies/topo/elements/shape", "text", "elements/shape"),
        ("data/topologies/topo/elements/shape_map", "object", "elements/shapes"),
        ("data/topologies/topo/subelements", "remove", "topologies/topo"),
        ("data/topologies/topo/subelements/connectivity", "beyond", "topologies/topo/elements"),
        ("data/topologies/topo/elements", "remove", "topologies/topo"),
        ("data/topologies/topo/elements/connectivity", "beyond", "topologies/topo/elements"),
        ("data/topologies/topo/elements/offsets", "beyond", "topologies/topo/elements"),
        ("data/topologies/topo/elements/shapes", "beyond", "elements/shapes"),
        ("data/topologies/topo/elements/shape_map/hex", "text", "shape_map/hex"),
        ("data/coordsets/coords/values", "remove", "coordsets/coords"),
        ("data/topologies/topo/subelements/connectivity", "short", "subelements"),
        ("data/coordsets/coords/values/y", "short", "coordsets/coords/values/y"),
    ],
    "rectilinear": [("data/coordsets/coords/values/x", "negative", "coordsets/coords/values/x"),
                    ("data/coordsets/coords/values/y", "foreign", "coordsets/coords/values/y")],
    "structured": [("data/topologies/topo/elements/dims/i", "half", "dims/i"),
                   ("data/coordsets/coords/values", "numbers", "coordsets/coords")],
    "amr": [("data/domain_0/state/level", "remove", "data/domain_0"),
            ("data/domain_0/state/level", "text", "state/level"),
            ("data/domain_0/state/level", "number:-1", "state/level"),
            ("data/domain_0/state/domain_id", "text", "state/domain_id"),
            ("data/domain_0", "numbers", "data/domain_0")],
}  # fmt: skip
CASES = [(mesh, *case) for mesh, cases in DAMAGED.items() for case in cases]


@pytest.mark.parametrize(("mesh", "path", "action", "named"), few(CASES, kept=CASES[::24]))
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


# Nodes beside channels: what is damaged, and the node that the sentence names; the run goes on with all of its values.
BESIDE = [
    ("catalyst/state/pipelines/0", "word:vtu", 1, "catalyst/state/pipelines"),
    ("catalyst/state/parameters/0", "word:1", 1, "catalyst/state/parameters"),
    ("catalyst/state/multiblock", "number:1", 1, ""),
    ("catalyst/pipelines/vtu/type", "word:io", -1, "catalyst/pipelines/vtu: the pipeline of type 'io'"),
    ("catalyst/scripts/script1", "number:3", -1, "catalyst/scripts/script1"),
    ("catalyst/proxies/p", "word:xml", -1, "catalyst/proxies"),
]


@pytest.mark.parametrize(("path", "action", "step", "named"), few(BESIDE, kept=BESIDE[3:4]))
def test_nodes_that_are_not_used(tmp_path, path, action, step, named):
    damage = ["--edit", f"{path}={action}", "--edit-step", str(step)]
    done = start(tmp_path / "odd", HOST, 1, *damage, text=configuration("uniform"))
    assert done.stdout == "" and done.stderr.count(named or "catalyst/") == bool(named), done.stderr
    start(tmp_path / "plain", HOST, 1, text=configuration("uniform"))
    ours, theirs = results(tmp_path / "odd"), results(tmp_path / "plain")
    assert ours == theirs and len(ours) >= 4


LOST = [
    ("catalyst/state/time", "nan", "state/time"),
    ("catalyst/state/time", "empty", "state/time"),
    ("catalyst/state/timestep", "half", "state/timestep"),
    ("catalyst/state", "numbers", "catalyst"),
    ("catalyst", "numbers", "execute"),
    ("catalyst/channels", "numbers", "catalyst/channels"),
    ("catalyst/channels", "empty", ""),
]


@pytest.mark.parametrize(("path", "action", "named"), few(LOST, kept=LOST[:1]))
def test_nodes_that_cost_their_iteration(tmp_path, path, action, named):
    damage = ["--edit", f"{path}={action}", "--edit-step", "1"]
    done = start(tmp_path, HOST, 1, *damage, text=configuration("uniform"))
    assert named in done.stderr
    with (tmp_path / "results" / "points.csv").open() as file:
        assert [row["cycle"] for row in csv.DictReader(file)] == ["0", "20"]


@pytest.mark.test_all
def test_a_communicator_that_is_none(tmp_path):
    damage = ["--edit", "catalyst/mpi_comm=text", "--edit-step", "-1"]
    done = start(tmp_path, HOST, 1, *damage, text=configuration("uniform"), status=1)
    assert "initialize/catalyst/mpi_comm" in done.stderr


def test_a_host_that_never_finalizes(tmp_path):
    start(tmp_path, HOST, 2, "--leave", text=configuration("uniform"))
    assert outcomes(tmp_path) == ["delivered"] * 3
