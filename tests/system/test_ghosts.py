"""Ghosts: HDF5 files keep them wherever servers are. Halos are read from them if they are declared filled."""

import csv
import os
import uuid

import h5py
import numpy as np
import pytest
from pairs import few
from programs import built
from support import run, run_beside
from test_in_transit import movement
from test_placements import STEPS, check, reference  # noqa: F401 (a fixture)

PROGRAM = built("SIDESTREAM_MESH_PROGRAM")
PLUGIN = built("SIDESTREAM_PIECES_PLUGIN")
TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
CELLS = (11, 7, 5)
NAMES = ["cell", "x-face", "y-face", "z-edge", "z-face", "y-edge", "x-edge", "node"]


def configuration(folder, placement, dimensions, tasks, periodic="", ghosts="untrusted", still=False):
    """A configuration of mesh_program whose results go to a separate folder."""
    folder.mkdir(parents=True, exist_ok=True)
    size, ends = ", ".join(str(n) for n in CELLS[:dimensions]), ", ".join(periodic)
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\nplugins: [{PLUGIN}]\n"
    text += f"meshes: {{m: {{type: uniform, size: [{size}], periodic: [{ends}]}}}}\nvariables:\n"
    for n, name in enumerate(NAMES):
        dtype, components = "float64" if n % 2 else "int32", 2 if n % 3 == 1 else 1
        order, varying = ["column", "row"][n % 4 // 2], "false" if still and n >= 5 else "true"
        text += f"  v{n}: {{mesh: m, type: {dtype}, centering: {name}, components: {components}, order: {order}, "
        text += f"ghosts: {ghosts}, time_varying: {varying}}}\n"
    path = folder / "run.yaml"
    path.write_text(text + tasks)
    return path


def simulate(folder, path, ranks, options, beside=None, steps=3):
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(path), f"steps={steps}", *options]
    run_beside(folder, command, steps, beside, timeout=200)
    return folder / "results"


# ---- What is written ------------------------------------------------------------------------------------------------

# There are variables without ghosts, and one whose ghosts nobody wants.
OUTPUT = """\
outputs:
  - hdf5: {variables: [v0, v1, v2, v4, v5, v6, v7], ghosts: true}
  - hdf5: {name: plain, file: "plain-{index}.h5"}
"""


def datasets(results, stem):
    """Every block's dataset and attributes in the servers' files of each iteration."""
    found = {}
    for path in sorted(results.glob(f"{stem}-*-*.h5")):
        iteration = path.stem.rsplit("-", 1)[0]
        with h5py.File(path) as file:
            for variable, group in file["variables"].items():
                for name, block in group.items():
                    key = (iteration, variable, name)
                    assert key not in found
                    attributes = {k: np.asarray(v).tolist() for k, v in block.attrs.items()}
                    found[key] = (block[...], attributes)
    return found


def compare(found, expected):
    assert found.keys() == expected.keys()
    for key, (values, attributes) in expected.items():
        assert found[key][0].dtype == values.dtype
        assert found[key][0].shape == values.shape, key
        assert found[key][0].tobytes() == values.tobytes(), key
        assert found[key][1] == attributes, key


@pytest.fixture(scope="module")
def inline(tmp_path_factory):
    """The files of `inline` by the options of the program, made once for each."""
    made = {}

    def files(clients, dimensions, options, still):
        key = (clients, dimensions, *options)
        if key not in made:
            folder = tmp_path_factory.mktemp("inline")
            path = configuration(folder, "inline", dimensions, OUTPUT, still=still)
            results = simulate(folder, path, clients, [f"dimensions={dimensions}", *options])
            made[key] = datasets(results, "fields"), datasets(results, "plain")
        return made[key]

    return files


OPTIONS = {
    "even": ["ghosts=2", "fill=own"],
    "uneven": ["uneven=1", "fill=own"],
    "changing": ["uneven=1", "fill=own", "changing=1"],
    "still": ["uneven=1", "fill=own", "still=1"],
}

WAYS = [
    ("{mode: nodes, servers: 2, progress: thread, buffer: 4 MiB}", 2),
    ("{mode: nodes, servers: 3, progress: calls, buffer: 4 MiB}", 3),
    ("{mode: nodes, servers: 2, forward: blocks, buffer: 4 MiB}", 3),
    ("{mode: nodes, servers: 1, forward: partials, per_node: 2, buffer: 4 MiB}", 3),
    ("{mode: cores, per_node: 2, buffer: 4 MiB}", 2),
    ("{mode: nodes, servers: 2, partitioner: {replicated: {copies: 2}}, buffer: 4 MiB}", 2),
]


def has_ghosts(files):
    return sum(attributes["lo"] != attributes["points_lo"] for _, attributes in files.values())


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("kind", "placement", "servers"), few(OPTIONS, WAYS, kept=[("changing", *WAYS[2]), ("uneven", *WAYS[4])])
)
def test_files_hold_what_inline_writes(tmp_path, inline, placement, servers, kind):
    dimensions = 1 + (WAYS.index((placement, servers)) + len(kind)) % 3
    expected, plain = inline(3, dimensions, OPTIONS[kind], kind == "still")
    assert has_ghosts(expected) > 10
    path = configuration(tmp_path, placement, dimensions, OUTPUT, still=kind == "still")
    results = simulate(tmp_path, path, 3 + servers, [f"dimensions={dimensions}", *OPTIONS[kind]])
    compare(datasets(results, "fields"), expected)
    compare(datasets(results, "plain"), plain)


@pytest.mark.test_all
@pytest.mark.parametrize(
    ("endpoints", "engine", "kind"),
    few([(2, "files"), (1, "files"), (2, "sst")], ["changing", "still", "even", "uneven"]),
)
def test_files_of_a_job_hold_what_inline_writes(tmp_path, inline, endpoints, engine, kind):
    if engine not in os.environ.get("SIDESTREAM_ENGINES", "files,sst").split(","):
        pytest.skip("built without ADIOS2: the engine sst is NOT TESTED")
    expected, plain = inline(3, 3, OPTIONS[kind], kind == "still")
    placement = f"{{mode: job, buffer: 32 MiB, stream: {{directory: {tmp_path}, engine: {engine}}}}}"
    path = configuration(tmp_path, placement, 3, OUTPUT, still=kind == "still")
    beside = [MPIRUN, "-n", str(endpoints), TOOL, "endpoint", "--wait", "100", str(path)]
    results = simulate(tmp_path, path, 4, ["dimensions=3", *OPTIONS[kind]], beside)
    compare(datasets(results, "fields"), expected)
    compare(datasets(results, "plain"), plain)


@pytest.mark.test_all
def test_a_part_of_a_block_has_ghosts_on_the_sides_on_which_the_block_ends(tmp_path, inline):
    expected, _ = inline(3, 3, OPTIONS["uneven"], False)
    placement = "{mode: nodes, servers: 3, partitioner: {regrid: {shape: slabs, axis: z}}, buffer: 4 MiB}"
    path = configuration(tmp_path, placement, 3, OUTPUT)
    found = datasets(simulate(tmp_path, path, 6, ["dimensions=3", *OPTIONS["uneven"]]), "fields")
    split = 0
    for (iteration, variable, name), (values, attributes) in found.items():
        # A part has the id -1 - (id * servers + server).
        number = int(name.removeprefix("block-"))
        whole = number if number >= 0 else (-1 - number) // 3
        all_values, of = expected[iteration, variable, f"block-{whole}"]
        split += number < 0
        for a in range(3):
            ends_low = attributes["points_lo"][a] == of["points_lo"][a]
            ends_high = attributes["points_hi"][a] == of["points_hi"][a]
            assert attributes["lo"][a] == (of["lo"] if ends_low else attributes["points_lo"])[a]
            assert attributes["hi"][a] == (of["hi"] if ends_high else attributes["points_hi"])[a]
        box = tuple(
            slice(low - first, high - first)
            for low, high, first in zip(attributes["lo"], attributes["hi"], of["lo"], strict=True)
        )
        row = ["column", "row"][int(variable[1:]) % 4 // 2] == "row"
        np.testing.assert_array_equal(values, all_values[box if row else box[::-1]])
    assert split > 10


# ---- What moves -----------------------------------------------------------------------------------------------------


@pytest.mark.test_all
def test_ghosts_move_for_those_who_want_them(tmp_path):
    """A writer that wants ghosts gets whole arrays. Others move no more than before."""
    n, clients, options = 12, 3, ["grid=12", "steps=2", "blocks=2", "ghosts=2"]
    sizes = {}
    for ghosts in ("true", "false"):
        task = f"analyses: [statistics: {{variable: t}}]\noutputs: [hdf5: {{variables: [t], ghosts: {ghosts}}}]\n"
        done = run(tmp_path / ghosts, clients + 2, "{mode: nodes, buffer: 32 MiB, servers: 2}", task, options=options)
        assert done.status == 0, done.text
        rows = [r for r in movement(done) if r["iteration"] == 1]
        sizes[ghosts] = [sum(r["bytes"] for r in rows if (r["role"] == "server") == server) for server in (True, False)]
        assert all(r["layer_bytes"] == 0 for r in rows if r["role"] == "server")
    slabs = clients * 2
    whole = sum((n + 4) * (n + 4) * (n * (b + 1) // slabs - n * b // slabs + 4) for b in range(slabs)) * 8
    assert sizes == {"true": [whole, whole], "false": [n**3 * 8, n**3 * 8]}


# ---- Ghosts that are declared filled --------------------------------------------------------------------------------

SURFACE = "analyses: [isosurface: {variable: t, values: [-0.3, 0.4], normals: false}]\n"
PLACEMENTS = {
    "inline": 0,
    "{mode: cores, per_node: 2, buffer: 8 MiB}": 2,
    "{mode: nodes, servers: 2, progress: thread, buffer: 8 MiB}": 2,
    "{mode: nodes, servers: 3, progress: calls, buffer: 8 MiB}": 3,
    "{mode: nodes, servers: 2, forward: blocks, buffer: 8 MiB}": 3,
    "{mode: nodes, servers: 1, forward: partials, per_node: 2, buffer: 8 MiB}": 3,
    "{mode: nodes, servers: 2, partitioner: {regrid: {shape: bricks}}, buffer: 8 MiB}": 2,
}


@pytest.mark.keep(4)
@pytest.mark.parametrize(("placement", "ghosts"), [(p, (0, 1, 3)[n % 3]) for n, p in enumerate(PLACEMENTS)])
def test_right_ghosts_change_no_result(tmp_path, reference, placement, ghosts):  # noqa: F811
    options = [f"steps={STEPS}", "blocks=2", f"ghosts={ghosts}", "filled=1", "right=1"]
    check(run(tmp_path, 3 + PLACEMENTS[placement], placement, options=options), 3, reference)


def surfaces(done):
    assert done.status == 0, done.text
    return {path.name: path.read_bytes() for path in sorted(done.results.glob("*.vtp"))}


@pytest.mark.test_all
def test_what_ghosts_are_declared_decides_whether_they_are_used(tmp_path):
    """Wrong ghosts are used only if they are declared filled. Then the wrong result is the same in every placement."""
    found = {}
    for placement, more in PLACEMENTS.items():
        if "regrid" in placement:
            continue  # other blocks have their seams, and wrong values, elsewhere
        for filled in (0, 1):
            options = ["steps=1", "blocks=2", "ghosts=1", f"filled={filled}"]
            done = run(tmp_path, 3 + more, placement, SURFACE, options=options)
            found[filled, placement] = surfaces(done)
    right, wrong = found[0, "inline"], found[1, "inline"]
    assert len(right) == 1
    assert right != wrong
    for (filled, placement), files in found.items():
        assert files == (wrong if filled else right), placement


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", [p for p in PLACEMENTS if "nodes" in p and "s: 1" not in p and "regrid" not in p])
def test_nothing_moves_for_halos_that_ghosts_hold(tmp_path, placement):
    clients, n = 4, 12
    layers, pieces = {}, {}
    for filled in (0, 1):
        options = [f"grid={n}", "steps=2", "blocks=3", "ghosts=2", "right=1", f"filled={filled}"]
        done = run(tmp_path, clients + PLACEMENTS[placement], placement, SURFACE, options=options)
        assert done.status == 0, done.text
        rows = [r for r in movement(done) if r["iteration"] == 1 and r["role"] == "server"]
        layers[filled], pieces[filled] = sum(r["layer_bytes"] for r in rows), sum(r["bytes"] for r in rows)
    assert layers[0] > 0
    assert layers[1] == 0
    # Only the layer that is wanted comes with its block, not the second one.
    slabs = clients * 3
    whole = sum((n + 2) ** 2 * (n * (b + 1) // slabs - n * b // slabs + 2) for b in range(slabs)) * 8
    assert n**3 * 8 < pieces[1] <= whole
    assert pieces[1] % ((n + 2) ** 2 * 8) == 0


def pieces():
    tasks = "analyses:\n"
    for n in range(8):
        tasks += f"  - pieces: {{variable: v{n}, pieces: slabs, halo: {n % 2 + 1}, name: n{n}, file: 'n{n}.csv'}}\n"
    return tasks


def rows_of(results):
    """The results of the analysis for each variable and iteration."""
    rows = {}
    for n in range(8):
        with (results / f"n{n}.csv").open() as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                rows[n, row["iteration"]] = {k: int(v) for k, v in row.items() if k not in ("time", "iteration")}
                assert rows[n, row["iteration"]]["wrong"] == 0  # the values in pieces come from the owners
    return rows


def servers_of(placement, folder):
    """The placement, the ranks of the simulation with 3 clients, and the command that runs beside it."""
    if placement == "sidecar":
        name = f"test-{uuid.uuid4().hex[:12]}"
        serve = [MPIRUN, "-n", "2", TOOL, "serve", "--wait", "100"]
        return f"{{mode: sidecar, session: {name}, per_node: 2, buffer: 4 MiB, when_full: wait}}", 3, serve
    if placement == "job":
        endpoint = [MPIRUN, "-n", "2", TOOL, "endpoint", "--wait", "100"]
        return f"{{mode: job, buffer: 32 MiB, stream: {{directory: {folder}, engine: files}}}}", 4, endpoint
    return placement, 3 + PLACEMENTS[placement], None


ROUND = [(p, "xz") for p in [*PLACEMENTS, "sidecar", "job"]] + [(p, "") for p in [*PLACEMENTS][::3]]


@pytest.mark.parametrize(("placement", "periodic"), few(ROUND, kept=[("sidecar", "xz")]))
def test_round_periodic_meshes(tmp_path, placement, periodic):
    """Ghosts have different widths on every block and side. They are points of other blocks, of the periodic mesh's
    other end, or of nothing."""
    found = {}
    for ghosts, fill in (("untrusted", "own"), ("filled", "right"), ("filled", "own")):
        folder = tmp_path / (ghosts + fill)
        given, ranks, command = servers_of(placement, folder)
        path = configuration(folder, given, 3, pieces(), periodic, ghosts)
        options = ["dimensions=3", "uneven=1", "changing=1", f"fill={fill}", f"periodic={periodic}"]
        results = simulate(folder, path, ranks, options, command and [*command, str(path)], steps=4)
        found[ghosts, fill] = rows_of(results)
    assert found["filled", "right"] == found["untrusted", "own"]
    assert sum(row["block_wrong"] for row in found["untrusted", "own"].values()) == 0
    for key, row in found["filled", "own"].items():
        plain = found["untrusted", "own"][key]
        assert row["block_missing"] == plain["block_missing"]  # halos exist as before
    assert sum(row["block_wrong"] for row in found["filled", "own"].values()) > 100
