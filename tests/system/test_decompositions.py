"""Decompositions and halos round periodic meshes: servers see the published values, in every placement.

The analysis (pieces_plugin.cpp) looks at every point that it gets and computes the right value. Its sums over the
servers are compared here with a look at every point of the mesh."""

import csv
import os
import re
import uuid

import numpy as np
import pytest
from pairs import few, pairs
from programs import built
from support import run_beside

PROGRAM = built("SIDESTREAM_MESH_PROGRAM")
PLUGIN = built("SIDESTREAM_PIECES_PLUGIN")
C_PLUGIN = built("SIDESTREAM_LINES_PLUGIN")
TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
CELLS = (11, 7, 5)
NAMES = ["cell", "x-face", "y-face", "z-edge", "z-face", "y-edge", "x-edge", "node"]
STEPS = 4


def tasks(dimensions):
    """Some pieces with some halo for each variable: name, variable, kind of pieces, axis, halo."""
    kinds = [(kind, axis) for kind in ("slabs", "pencils") for axis in range(dimensions)] + [("bricks", 0)]
    chosen = []
    for n in range(8):
        for step in range(2):
            kind, axis = kinds[(n + 3 * step) % len(kinds)]
            chosen.append((f"v{n}-{kind}-{axis}-{step}", n, kind, axis, (0, 1, 2, 6)[(n // 2 + step) % 4]))
    return chosen


def configuration(folder, placement, dimensions, periodic):
    size = ", ".join(str(n) for n in CELLS[:dimensions])
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\nplugins: [{PLUGIN}, {C_PLUGIN}]\n"
    text += f"meshes: {{m: {{type: uniform, size: [{size}], periodic: [{', '.join(periodic)}]}}}}\nvariables:\n"
    for n, name in enumerate(NAMES):
        # These are as in the program.
        dtype, components, order = (
            "float64" if n % 2 else "int32",
            2 if n % 3 == 1 else 1,
            ["column", "row"][n % 4 // 2],
        )
        text += f"  v{n}: {{mesh: m, type: {dtype}, centering: {name}, components: {components}, order: {order}}}\n"
    text += "analyses:\n"
    for name, n, kind, axis, halo in tasks(dimensions):
        text += f"  - pieces: {{variable: v{n}, pieces: {kind}, axis: {axis}, halo: {halo}, name: {name}, "
        text += f"file: '{name}.csv'}}\n"
    text += "  - lines: {variable: v7, axis: 0}\n"
    path = folder / "run.yaml"
    path.write_text(text)
    return path


def simulate(folder, path, ranks, options, beside=None):
    """Runs the program, and servers beside it. Returns its output."""
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(path), f"steps={STEPS}", *options]
    return run_beside(folder, command, STEPS, beside, timeout=200)


def shape(n, dimensions):
    """The number of points along x, y and z: one more than cells along the axes of the bits in n."""
    return tuple((CELLS[a] if a < dimensions else 1) + (a < dimensions and n >> a & 1) for a in range(3))


def there(n, dimensions, boxes):
    """True for points of the mesh that a block has, [i, j, k]."""
    mask = np.zeros(shape(n, dimensions), bool)
    for lo, hi in boxes:
        end = [hi[a] + (a < dimensions and n >> a & 1) for a in range(3)]
        mask[lo[0] : end[0], lo[1] : end[1], lo[2] : end[2]] = True
    return mask


def seen(mask, n, dimensions, periodic, lo, hi, halo):
    """Counts the points in a block's surroundings that are points of the mesh: those that some block has, and those
    that none has."""
    along = []
    for a in range(3):
        used = a < dimensions
        indices = np.arange(lo[a] - halo * used, hi[a] + (used and n >> a & 1) + halo * used)
        count = mask.shape[a]
        if "xyz"[a] in periodic:
            while (indices < 0).any() or (indices >= count).any():
                indices = np.where(indices < 0, indices + CELLS[a], indices)
                indices = np.where(indices >= count, indices - CELLS[a], indices)
        along.append(indices[(indices >= 0) & (indices < count)])
    part = mask[np.ix_(*along)]
    return part.sum(), part.size - part.sum()


def rows(path):
    with path.open() as file:
        return {int(row["iteration"]): {k: int(v) for k, v in row.items() if k != "time"}
                for row in csv.DictReader(line for line in file if not line.startswith("#"))}  # fmt: skip


def check(results, text, dimensions, periodic, servers, combining=None, split=False):
    """`combining` is the number of servers that combine, if these are others. With `split` blocks come in parts."""
    blocks = {step: [] for step in range(STEPS)}
    for line in re.findall(r"^block (.*)$", text, re.MULTILINE):
        step, *box = (int(word) for word in line.split())
        blocks[step].append((tuple(box[:3]), tuple(box[3:])))
    whole = int(np.prod(CELLS[:dimensions]))
    for name, n, kind, axis, halo in tasks(dimensions):
        found = rows(results / f"{name}.csv")
        assert sorted(found) == list(range(STEPS))
        for step, row in found.items():
            mask = there(n, dimensions, blocks[step])
            i, j, k = np.nonzero(mask)
            assert row["wrong"] == 0, (name, row)
            assert row["block_wrong"] == 0, (name, row)
            # If `local` and `combine` run on the same servers, `combine` saw the blocks of `local`.
            assert row["readable"] == (servers if (combining or servers) == servers else 0), (name, row)
            assert (row["points"], row["places"]) == (mask.sum(), (i + 50 * j + 2500 * k).sum()), (name, row)
            assert row["cells"] == whole
            most = {"slabs": CELLS[axis], "pencils": whole // CELLS[axis], "bricks": whole}[kind]
            # Bricks and pencils leave servers out if this makes the largest piece smaller.
            assert row["pieces"] <= min(servers, most), (name, row)
            assert kind != "slabs" or row["pieces"] == min(servers, most), (name, row)
            assert (row["absent"] > 0) == (not mask.all()), (name, row)
            assert row["block_points"] == mask.sum()
            if split:
                continue
            assert row["blocks"] == len(blocks[step])
            around = [seen(mask, n, dimensions, periodic, lo, hi, halo) for lo, hi in blocks[step]] if halo else []
            assert row["block_missing"] == sum(missing for _, missing in around), (name, row)
    check_lines(rows(results / "lines.csv"), blocks, dimensions, combining or servers)


def check_lines(found, blocks, dimensions, servers):
    """The analysis in C gives the number of complete lines along x and the sum of their values."""
    for step in range(STEPS):
        mask = there(7, dimensions, blocks[step])
        whole = mask.all(axis=0)
        j, k = np.nonzero(whole)
        i = np.arange(mask.shape[0])[:, None]
        assert found[step]["lines"] == whole.sum()
        assert found[step]["sum"] == (i + 50 * j + 2500 * k + 250000 * step).sum()
        assert found[step]["servers"] == servers


PLACEMENTS = [
    ("inline", 1, 0, 3), ("inline", 2, 0, 2), ("inline", 3, 0, 3), ("inline", 5, 0, 1), ("inline", 8, 0, 3),
    ("{mode: cores, per_node: 1, buffer: 4 MiB}", 1, 1, 2), ("{mode: cores, per_node: 2, buffer: 4 MiB}", 3, 2, 3),
    ("{mode: cores, per_node: 3, buffer: 4 MiB}", 5, 3, 1), ("{mode: nodes, servers: 1, buffer: 4 MiB}", 2, 1, 3),
    ("{mode: nodes, servers: 2, buffer: 4 MiB}", 1, 2, 1), ("{mode: nodes, servers: 3, buffer: 4 MiB}", 8, 3, 3),
    ("{mode: nodes, servers: 3, buffer: 4 MiB, partitioner: regrid}", 3, 3, 2),
    ("{mode: nodes, servers: 2, buffer: 4 MiB, forward: blocks}", 5, 3, 3),
    ("{mode: nodes, servers: 1, buffer: 4 MiB, forward: partials, per_node: 2}", 3, 3, 3),
]  # fmt: skip


def options_for(dimensions, clients, changing=1):
    return [f"dimensions={dimensions}", f"ghosts={clients % 3}", f"changing={changing}"]


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "clients", "servers", "dimensions", "periodic"), pairs(PLACEMENTS, ["", "xyz"], strength=1)
)
def test_placements(tmp_path, placement, clients, servers, dimensions, periodic):
    periodic = periodic[:dimensions]
    path = configuration(tmp_path, placement, dimensions, periodic)
    text = simulate(tmp_path, path, clients + servers, options_for(dimensions, clients))
    looking = combining = servers - ("forward" in placement) if servers else clients
    if "partials" in placement:
        looking, combining = 2, 1
    check(tmp_path / "results", text, dimensions, periodic, looking, combining, "regrid" in placement)


@pytest.mark.parametrize("servers", few([2, 1]))
def test_sidecar(tmp_path, servers):
    session = f"test-{uuid.uuid4().hex[:12]}"
    placement = f"{{mode: sidecar, session: {session}, per_node: {servers}, buffer: 4 MiB, when_full: wait}}"
    path = configuration(tmp_path, placement, 3, "xz")
    text = simulate(
        tmp_path, path, 3, options_for(3, 3), [MPIRUN, "-n", str(servers), TOOL, "serve", "--wait", "100", str(path)]
    )
    check(tmp_path / "results", text, 3, "xz", servers)


@pytest.mark.parametrize(("servers", "periodic"), few([(3, "xyz"), (1, "y")]))
def test_job(tmp_path, servers, periodic):
    path = configuration(
        tmp_path,
        f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}",
        3,
        periodic,
    )
    beside = [MPIRUN, "-n", str(servers), TOOL, "endpoint", "--wait", "100", str(path)]
    # One rank of the node hands over the iterations.
    text = simulate(tmp_path, path, 4, options_for(3, 3), beside)
    check(tmp_path / "results", text, 3, periodic, servers)
