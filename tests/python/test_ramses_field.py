"""A magnetic field of RAMSES without divergence: what `sidestream import` saves, and a run with the same relations."""

import subprocess
import sys

import numpy as np
import pytest
import ramses_files
import sidestream
from ramses_files import Sample
from sidestream.reader.journal import chosen
from sidestream.reader.stored import Context
from test_import_ramses import imported

FINEST = 4
RUN = """\
placement: inline
output: {directory: FOLDER}
meshes: {tree: {type: octree, size: SIZE, refined: refined, owned: owned}}
variables:
  refined: {mesh: tree, type: uint8}
  owned: {mesh: tree, type: uint8}
FIELDS
outputs: [database: {directory: again, kind: post, fsync: false, hdf5: false, codec: auto}]
"""
AGAIN = """\
import sys, sidestream
from mpi4py import MPI
text, data = sys.argv[1:]
levels = sidestream.open(data, into="levels")
names = [*levels.mesh.roles.values(), *(name for name in levels.variables if name.startswith("B_"))]
with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
    for block in levels.blocks:
        session.set_block_list("tree", block.id, 0, int(block.hi[0]))
        for name in names:
            assert session.publish(name, block.id, levels.source.read(name, block)), session.message
    session.end_iteration(5, 0.25)
"""
DECLARED = {
    3: """\
  B_x_left: {mesh: tree, face: low-x}
  B_x_right: {mesh: tree, face: high-x, opposite: B_x_left}
  B_y_left: {mesh: tree, face: low-y}
  B_y_right: {mesh: tree, face: high-y, opposite: B_y_left}
  B_z_left: {mesh: tree, face: low-z, divergence_free: [B_x_left, B_x_right, B_y_left, B_y_right]}
  B_z_right:
    {mesh: tree, face: high-z, opposite: B_z_left, divergence_free: [B_x_left, B_x_right, B_y_left, B_y_right]}
""",
    2: """\
  B_x_left: {mesh: tree, face: low-x}
  B_x_right: {mesh: tree, face: high-x, opposite: B_x_left}
  B_y_left: {mesh: tree, face: low-y, divergence_free: [B_x_left, B_x_right]}
  B_y_right: {mesh: tree, face: high-y, opposite: B_y_left, divergence_free: [B_x_left, B_x_right]}
  B_z_left: {mesh: tree, parent: mean}
  B_z_right: {mesh: tree, parent: mean, equals: B_z_left}
""",
}


class Field:
    """The curl of random numbers on the edges of the finest cells; coarse faces have the means of fine ones."""

    def __init__(self, dimensions):
        self.dimensions = dimensions
        rng, n = np.random.default_rng(7), 2**FINEST + 1
        edges = [rng.standard_normal((n, n, n)) for _ in range(3)]  # of one edge from each node, by axis
        if dimensions == 2:
            edges = [edge[..., :1] * (axis == 2) for axis, edge in enumerate(edges)]
        self.sums = [np.concatenate([np.zeros_like(e).take([0], a), np.cumsum(e, a)], a) for a, e in enumerate(edges)]
        self.centred = rng.standard_normal((n, n))

    def edge(self, axis, node, width):
        """The integral along an edge of `width` fine cells from a node."""
        first, past = [*node], [*node]
        past[axis] += 1 if self.dimensions == 2 else width  # along z of two dimensions, where nothing changes
        return self.sums[axis][tuple(past)] - self.sums[axis][tuple(first)]

    def face(self, axis, node, width):
        one, two = (axis + 1) % 3, (axis + 2) % 3

        def beside(along):
            return [n + width * (a == along and a < self.dimensions) for a, n in enumerate(node)]

        around = self.edge(one, node, width) - self.edge(one, beside(two), width)
        around += self.edge(two, beside(one), width) - self.edge(two, node, width)
        return around / width ** (self.dimensions - 1)

    def __call__(self, kind, column, level, index):
        if not column.startswith("B_"):
            return 1.0
        axis, width = "xyz".index(column[2]), 2 ** (FINEST - level)
        node = [n * width for n in index]
        if axis >= self.dimensions:
            x, y = node[0], node[1]
            return float(self.centred[x : x + width, y : y + width].mean())
        node[axis] += width * (column[4:] == "right")
        return float(self.face(axis, node, width))


class Even(Sample):
    def refine(self, level, index):
        return level < FINEST - 1 or (level == FINEST - 1 and index[0] < 2 ** (level - 1))


def bytes_of(place):
    """Bytes of each variable as stored, and of its values."""
    context = Context(place, chosen(place)[-1])
    found = {}
    for name, variable in context.variables.items():
        if name.startswith("B_"):
            pieces = list(context.pieces(variable))
            found[name] = sum(int(p.row["bytes"]) for p in pieces), sum(8 * int(p.hi[0]) for p in pieces)
    return found


@pytest.mark.keep(1)
@pytest.mark.parametrize("dimensions", [3, 2])
def test_three_components(tmp_path, monkeypatch, dimensions):
    """Both ways save the same: of the last axis nearly all, and of the others one face of each axis."""
    monkeypatch.setattr(ramses_files, "value", Field(dimensions))
    sample = Even(
        dimensions=dimensions, domains=2, levels=FINEST, descriptors="old", kinds=("hydro", "mhd"), boxlen=1.0
    )
    _, data, _ = imported(sample, tmp_path)
    text = RUN.replace("FOLDER", str(tmp_path)).replace("FIELDS\n", DECLARED[dimensions])
    text = text.replace("SIZE", str([1] * dimensions))
    command = [sys.executable, "-c", AGAIN, text, str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    mine, theirs = bytes_of(tmp_path / "again"), bytes_of(data)
    assert mine == theirs and len(mine) == 6
    for name in mine:
        first, again = (
            sidestream.open(place, into="numpy", cycle=5)[name][...] for place in (data, tmp_path / "again")
        )
        assert first.tobytes() == again.tobytes()
    saved = {name: 1 - stored / whole for name, (stored, whole) in theirs.items()}
    last = "xyz"[dimensions - 1]
    assert saved[f"B_{last}_left"] > 0.6 and saved[f"B_{last}_right"] > 0.8, saved
    assert saved["B_x_right"] > 0.6, saved
    assert dimensions == 3 or saved["B_z_right"] > 0.8, saved
