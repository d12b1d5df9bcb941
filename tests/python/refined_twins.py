"""One field three times: on an octree, on patches with the same cells, and uniformly at the finest level.

All lengths and values are whole numbers times powers of two, so that sums are exact in any order.
"""

import itertools

import numpy as np
import sidestream
from mpi4py import MPI

ROOTS, DEEPEST = np.array([6, 5, 4]), 3
ORIGIN, SPACING = np.array([-1, 0.5, 2]), np.array([0.5, 0.5, 0.75])
CENTRE, SURFACE = np.array([0.96875, 2.03125, 3.46875]), 1 + 2**-7
NEAR = np.array([0.5, 0.25, 0.125])  # distance from the surface within which cells are refined, on levels 0 to 2


class World:
    """Cells by level and index. The value of a cell is the distance of its centre from a point, in 64ths."""

    def __init__(self, dimensions):
        self.dimensions = dimensions
        self.roots = np.where(np.arange(3) < dimensions, ROOTS, 1)
        self.cells = [(0, cell) for cell in itertools.product(*map(range, self.roots[::-1]))]
        self.cells = [(0, cell[::-1]) for _, cell in self.cells]
        self.refined = []
        for level, index in self.cells:  # grows as it goes, level by level
            self.refined.append(self.is_refined(level, index))
            if self.refined[-1]:
                self.cells += [(level + 1, child) for child in self.children(index)]
        self.values = [self.value(*cell) for cell in self.cells]
        self.leaves = {c: v for c, r, v in zip(self.cells, self.refined, self.values, strict=True) if not r}

    def children(self, index):
        steps = [(0, 1) if a < self.dimensions else (0,) for a in (2, 1, 0)]
        return [
            tuple(2 * np.array(index) * (np.arange(3) < self.dimensions) + s[::-1]) for s in itertools.product(*steps)
        ]

    def box(self, level, index):
        size = SPACING / 2**level
        low = ORIGIN + size * np.array(index)
        return low[: self.dimensions], (low + size)[: self.dimensions]

    def exact(self, level, index):
        low, high = self.box(level, index)
        return np.linalg.norm((low + high) / 2 - CENTRE[: self.dimensions])

    def value(self, level, index):
        return np.round(64 * self.exact(level, index)) / 64

    def is_refined(self, level, index):
        if level == DEEPEST:
            return False
        size = np.linalg.norm(SPACING[: self.dimensions]) / 2**level
        return abs(self.exact(level, index) - SURFACE) < size / 2 + NEAR[level]

    @property
    def size(self):
        return np.where(np.arange(3) < self.dimensions, self.roots * 2**DEEPEST, 1)

    def uniform(self, of=None):
        """An array on the finest level, [k, j, i], of the leaves' values or of `of(level)`."""
        grid = np.full(self.size[::-1], np.nan)
        for (level, index), value in self.leaves.items():
            width = 2 ** (DEEPEST - level)
            at = tuple(
                slice(x * width, (x + 1) * width) if a < self.dimensions else slice(0, 1) for a, x in enumerate(index)
            )
            grid[at[::-1]] = value if of is None else of(level)
        assert not np.isnan(grid).any()
        return grid

    def volume(self, level):
        return float(np.prod(SPACING[: self.dimensions] / 2**level))

    def patches(self):
        """Returns level, lo and hi of patches. Each has the children of a row of refined cells along x."""
        found = [(0, (0, 0, 0), tuple(map(int, self.roots)))]
        parents = [
            [c[1] for c, r in zip(self.cells, self.refined, strict=True) if r and c[0] == n] for n in range(DEEPEST)
        ]
        two = np.where(np.arange(3) < self.dimensions, 2, 1)
        for level, of in enumerate(parents):
            rows = {}
            for i, j, k in of:
                rows.setdefault((j, k), []).append(i)
            for (j, k), row in sorted(rows.items()):
                row = np.sort(row)
                for run in np.split(row, np.flatnonzero(np.diff(row) > 1) + 1):
                    lo = two * [run[0], j, k]
                    hi = two * [run[-1] + 1, j + 1, k + 1]
                    found.append((level + 1, tuple(map(int, lo)), tuple(map(int, hi))))
        return found

    def patch(self, level, lo, hi):
        """Values of a patch, [k, j, i], also in cells that finer ones cover."""
        shape = np.subtract(hi, lo)[::-1]
        grid = np.empty(shape)
        for at in np.ndindex(*shape):
            grid[at] = self.value(level, np.add(lo, at[::-1]))
        return grid


DECLARED = """\
placement: inline
output: {{directory: '{directory}'}}
meshes:
  tree: {{type: octree, size: {roots}, origin: {origin}, spacing: {spacing}, refined: split, owned: mine}}
  patch: {{type: uniform, size: {roots}, origin: {origin}, spacing: {spacing}, refinement: {ratios}}}
  even: {{type: uniform, size: {size}, origin: {origin}, spacing: {fine}}}
variables:
  split: {{mesh: tree, type: uint8}}
  mine: {{mesh: tree, type: uint8}}
  t: {{mesh: tree}}
  t_volume: {{mesh: tree}}
  t_velocity: {{mesh: tree, components: {dimensions}}}
  u: {{mesh: patch}}
  u_volume: {{mesh: patch}}
  u_velocity: {{mesh: patch, components: {dimensions}}}
  f: {{mesh: even}}
  f_volume: {{mesh: even}}
  f_velocity: {{mesh: even, components: {dimensions}}}
"""


def declarations(world, directory):
    n = world.dimensions
    return DECLARED.format(
        directory=directory,
        dimensions=n,
        roots=world.roots[:n].tolist(),
        origin=ORIGIN[:n].tolist(),
        spacing=SPACING[:n].tolist(),
        ratios=[2] * DEEPEST,
        size=world.size[:n].tolist(),
        fine=(SPACING / 2**DEEPEST)[:n].tolist(),
    )


def _publish(session, prefix, block, values, volumes, dimensions):
    assert session.publish(prefix, block, values), session.message
    assert session.publish(f"{prefix}_volume", block, volumes), session.message
    velocity = np.stack([values + a for a in range(dimensions)], axis=-1)
    assert session.publish(f"{prefix}_velocity", block, velocity), session.message


def _publish_trees(session, world, blocks):
    """Publishes the tree. Each block has all of it and owns every `blocks`-th leaf; other leaves have wrong values."""
    leaf = np.array(world.refined) == 0
    for block in range(blocks):
        mine = leaf & (np.arange(len(leaf)) % blocks == block)
        session.set_block_list("tree", block, 0, len(leaf))
        assert session.publish("split", block, np.uint8(~leaf)), session.message
        assert session.publish("mine", block, np.uint8(mine)), session.message
        values = np.where(mine, world.values, 1e3)
        volumes = np.array([world.volume(level) for level, _ in world.cells])
        _publish(session, "t", block, values, volumes, world.dimensions)


def run(world, directory, tasks, outputs=""):
    """Runs one iteration with the analyses `tasks`, a list in YAML."""
    text = declarations(world, directory) + "analyses:\n" + tasks + outputs
    patches, n = world.patches(), world.dimensions
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        for block in range(3):
            session.set_block_list("tree", block, 0, len(world.cells))
        for block, (level, lo, hi) in enumerate(patches):
            session.set_block("patch", block, lo[:n], hi[:n], level=level)
        session.set_block("even", 0, [0] * n, world.size[:n].tolist())
        session.start()
        _publish_trees(session, world, 3)
        for block, (level, lo, hi) in enumerate(patches):
            values = world.patch(level, lo, hi).reshape(np.subtract(hi, lo)[:n][::-1])
            _publish(session, "u", block, values, np.full_like(values, world.volume(level)), n)
        shape = world.size[:n][::-1]
        values = world.uniform().reshape(shape)
        _publish(session, "f", 0, values, np.full_like(values, world.volume(DEEPEST)), n)
        assert session.end_iteration(0, 0.0), session.message
        assert session.close().delivered == 1


def yt_grids(world):
    """The same patches in yt, where a mesh of two dimensions is one cell deep."""
    import yt

    yt.set_log_level(40)
    edge = np.where(np.arange(3) < world.dimensions, SPACING, 1)
    low = np.where(np.arange(3) < world.dimensions, ORIGIN, 0)
    grids = []
    for level, lo, hi in world.patches():
        size = np.where(np.arange(3) < world.dimensions, edge / 2**level, edge)
        values = world.patch(level, lo, hi).transpose(2, 1, 0)
        grids.append(
            {
                "left_edge": low + size * lo,
                "right_edge": low + size * hi,
                "level": level,
                "dimensions": np.subtract(hi, lo),
                ("stream", "u"): values,
            }
        )
    box = np.stack([low, low + edge * world.roots], axis=1)
    return yt.load_amr_grids(grids, world.roots, bbox=box, length_unit=1.0, refine_by=2)
