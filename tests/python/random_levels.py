"""Publishes random hierarchies of patches, which change with each step, and tells which of them have cells at surfaces.

random_levels.py RESULTS PLACEMENT DIMENSIONS RATIO TASKS
"""

import itertools
import sys

import numpy as np

STEPS, LEVELS, PATCHES = 4, 3, 20
MISSING = 2  # the step in which a value is missing
VALUES = (0.62,)  # of surfaces, times the number of dimensions
CELLS = {1: (40, 1, 1), 2: (20, 14, 1), 3: (10, 9, 8)}


class World:
    """One step's patches: number, level, lower and upper corner. All are the same for the same arguments."""

    def __init__(self, dimensions, ratio, step):
        self.dimensions, self.step = dimensions, step
        self.random = np.random.default_rng([dimensions, ratio, step])
        self.levels = LEVELS if ratio == 2 or dimensions < 3 else 2
        self.ratio = np.where(np.arange(3) < dimensions, ratio, 1)
        self.cells = np.array(CELLS[dimensions])
        self.blocks = []
        cuts = [np.linspace(0, n, 1 + (4 if a < dimensions else 1)).astype(int) for a, n in enumerate(self.cells)]
        for box in itertools.product(*map(itertools.pairwise, cuts)):
            self.add(0, [a for a, _ in box], [b for _, b in box])
        for level in range(1, self.levels):
            for _ in range(PATCHES):
                self.refine(level)
        # In one step `t` is missing on a finest patch: what it covers counts again.
        finest = [number for number, level, _, _ in self.blocks if level == self.levels - 1]
        self.missing = finest[0] if step == MISSING and finest else -1
        self.owner = self.paint()

    def add(self, level, lo, hi):
        self.blocks.append((len(self.blocks), level, np.array(lo), np.array(hi)))

    def refine(self, level):
        """Adds a patch of whole cells of the next coarser level, if these are there and no others of its level are."""
        below = [block for block in self.blocks if block[1] == level - 1]
        _, _, start, end = below[self.random.integers(len(below))]
        lo = start + self.random.integers(end - start)
        hi = np.minimum(self.cells * self.ratio ** (level - 1), lo + 1 + self.random.integers(4, size=3))
        shared = (np.minimum(hi, b) - np.maximum(lo, a) for _, _, a, b in below)
        if sum(size.prod() for size in shared if size.min() > 0) < (hi - lo).prod():
            return
        lo, hi = lo * self.ratio, hi * self.ratio
        if all(n != level or np.any(b <= lo) or np.any(hi <= a) for _, n, a, b in self.blocks):
            self.add(level, lo, hi)

    def width(self, level):
        """Cells of the finest level in one of a level."""
        return self.ratio ** (self.levels - 1 - level)

    def paint(self):
        """The number of the finest patch with `t` at each cell of the finest level, [i, j, k]."""
        owner = np.zeros(self.cells * self.width(0), int)
        for number, level, lo, hi in sorted(self.blocks, key=lambda block: block[1]):
            if number != self.missing:
                owner[tuple(map(slice, lo * self.width(level), hi * self.width(level)))] = number
        return owner

    def smooth(self, places):
        """A wave at [axis, ...] in cells of level 0."""
        size = self.cells.reshape(3, 1, 1, 1)
        turns = 0.7 * places / size + 0.13 * self.step + 0.2 * np.arange(3).reshape(3, 1, 1, 1)
        return np.sin(2 * np.pi * turns)[: self.dimensions].sum(axis=0)

    def cell_values(self, block):
        """The values of a patch, [k, j, i]; those of covered cells are far from all others."""
        _, level, lo, hi = block
        index = np.stack(np.meshgrid(*(np.arange(a, b) for a, b in zip(lo, hi, strict=True)), indexing="ij"))
        ratio = (self.ratio**level).reshape(3, 1, 1, 1)
        values = self.smooth((index + 0.5) / ratio) + 0.03 * level
        levels = np.array([block[1] for block in self.blocks])[self.owner]
        part = levels[tuple(map(slice, lo * self.width(level), hi * self.width(level)))]
        shape = [n for pair in zip(hi - lo, self.width(level), strict=True) for n in pair]
        covered = (part > level).reshape(shape).all(axis=(1, 3, 5))
        return np.where(covered, 1000.0 * (-1) ** index[0], values).T

    def node_values(self, block):
        _, level, lo, hi = block
        used = np.arange(3) < self.dimensions
        nodes = [np.arange(a, b + u) for a, b, u in zip(lo, hi, used, strict=True)]
        return self.smooth(np.stack(np.meshgrid(*nodes, indexing="ij")) / (self.ratio**level).reshape(3, 1, 1, 1)).T

    def leaf_values(self):
        """The value of the cell that counts at each cell of the finest level, [i, j, k]."""
        found = np.zeros(self.owner.shape)
        for block in self.blocks:
            number, level, lo, hi = block
            values = self.cell_values(block).T
            for axis, width in enumerate(self.width(level)):
                values = np.repeat(values, width, axis)
            part = tuple(map(slice, lo * self.width(level), hi * self.width(level)))
            found[part] = np.where(self.owner[part] == number, values, found[part])
        return found

    def at_surface(self):
        """Numbers of the patches with a cell at a corner of cells around which values lie on both sides."""
        owner, values = self.owner, self.leaf_values()
        levels = np.array([block[1] for block in self.blocks])[owner]
        used = range(self.dimensions)
        shifts = list(itertools.product(*[(0, 1) if a in used else (0,) for a in range(3)]))
        inner = []
        for shift in shifts:
            ends = zip(shift, owner.shape, strict=True)
            inner.append(tuple(slice(s, n - 1 + s) if a in used else slice(None) for a, (s, n) in enumerate(ends)))
        low, high = (of([values[part] for part in inner], axis=0) for of in (np.min, np.max))
        index = np.indices(low.shape) + 1
        corner = np.zeros(low.shape, bool)
        for part in inner:
            whole = [
                index[a] % np.array([self.width(n)[a] for n in range(self.levels)])[levels[part]] == 0 for a in used
            ]
            corner |= np.all(whole, axis=0)
        crossed = corner & np.any([(low < v) & (high >= v) for v in self.surfaces()], axis=0)
        return {int(n) for part in inner for n in owner[part][crossed]}

    def surfaces(self):
        return [v * self.dimensions for v in VALUES]


def declared(dimensions, ratio):
    world = World(dimensions, ratio, 0)
    steps = ["x".join(map(str, world.ratio))] * (world.levels - 1)
    size = world.cells[:dimensions].tolist()
    return (
        f"meshes: {{m: {{type: uniform, size: {size}, spacing: 0.125, periodic: [x], refinement: {steps}}}}}\n"
        "variables: {t: {mesh: m}, n: {mesh: m, centering: node}}\n"
    )


def main(results, placement, dimensions, ratio, tasks):
    import sidestream
    from mpi4py import MPI

    text = f"placement: {placement}\noutput: {{directory: '{results}'}}\n{declared(dimensions, ratio)}{tasks}"
    with sidestream.open_session(MPI.COMM_WORLD, text=text) as s:
        if s.is_server:
            s.serve()
            return
        s.start()
        before = set()
        for step in range(STEPS):
            world = World(dimensions, ratio, step)
            # Patches change their clients.
            own = [block for block in world.blocks if (block[0] // 2 + step) % s.comm.size == s.comm.rank]
            for number in before - {block[0] for block in own}:
                s.remove_block("m", number)
            before = {block[0] for block in own}
            for number, level, lo, hi in own:
                s.set_block("m", number, lo[:dimensions].tolist(), hi[:dimensions].tolist(), level=level)
            for block in own:
                cut = (0,) * (3 - dimensions)
                if block[0] != world.missing:
                    assert s.publish("t", block[0], np.ascontiguousarray(world.cell_values(block)[cut])), s.message
                assert s.publish("n", block[0], np.ascontiguousarray(world.node_values(block)[cut])), s.message
            s.end_iteration(step, float(step))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
