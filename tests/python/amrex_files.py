"""Plotfiles of AMReX made by hand, in all forms of numbers that AMReX writes. `value` gives their contents."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

NATIVE = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))"
BIG = "((8, (64 11 52 0 1 12 0 1023)),(8, (1 2 3 4 5 6 7 8)))"
IEEE32 = "((8, (32 8 23 0 1 9 0 127)),(4, (1 2 3 4)))"
LITTLE32 = "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))"
ORDERS = {NATIVE: "<f8", BIG: ">f8", IEEE32: ">f4", LITTLE32: "<f4"}


@dataclass(frozen=True)
class Particles:
    """A folder of `count[level][grid]` particles, whose numbers come from `numbers`."""

    count: tuple[tuple[int, ...], ...]
    version: str = "Version_Two_Dot_Zero_double"
    reals: tuple[str, ...] = ("mass", "drift_x", "drift_y", "drift_z")
    integers: tuple[str, ...] = ("kind",)
    with_integers: bool = True  # is_checkpoint in the Header
    digits: int = 5  # digits in the names of files

    @property
    def dtype(self):
        return np.dtype("<f4" if self.version.endswith("_single") else "<f8")

    @property
    def packed(self):
        return "Dot_One" in self.version


def particles_of(plot, about, level, grid):
    """Positions (within the box), ids, processes, whole and real numbers of the particles of a grid."""
    n, count = plot.dimensions, about.count[level][grid]
    random = np.random.default_rng(1000 * level + grid)
    lo, hi = (np.array(edge[:n]) for edge in plot.boxes[level][grid])
    spacing = np.array(plot.spacing[:n]) / np.prod(plot.ratios[:level], dtype=int)
    base = np.array(plot.low[:n]) - np.array(plot.spacing[:n]) * plot.domain(0)[0]
    places = (base + spacing * (lo + (0.01 + 0.98 * random.random((count, n))) * (hi - lo))).astype(about.dtype)
    first = 2**33 if about.packed else 1
    ids = first + 100_000 * level + 1000 * grid + np.arange(count)
    reals = random.normal(size=(count, len(about.reals))).astype(about.dtype)
    whole = random.integers(-(2**31), 2**31, (count, len(about.integers)), dtype=np.int32)
    return places, ids, np.full(count, 3 + grid), whole, reals


def write_particles(plot, about, folder):
    n, finest = plot.dimensions, len(about.count) - 1
    folder.mkdir()
    total = sum(map(sum, about.count))
    lines = [about.version, n, len(about.reals), *about.reals, len(about.integers), *about.integers]
    lines += [int(about.with_integers), total, total + 1, finest, *(len(grids) for grids in about.count)]
    for level, grids in enumerate(about.count):
        if any(grids):
            (folder / f"Level_{level}").mkdir()
        for grid, count in enumerate(grids):
            path = folder / f"Level_{level}" / f"DATA_{grid // 2:0{about.digits}}"  # two grids in a file
            if count == 0:
                lines.append(f"{grid // 2} 0 0")
                continue
            places, ids, cpus, whole, reals = particles_of(plot, about, level, grid)
            if about.packed:
                both = np.uint64(1) << np.uint64(63) | ids.astype(np.uint64) << np.uint64(24) | cpus.astype(np.uint64)
                ids, cpus = both >> np.uint64(32), both & np.uint64(0xFFFFFFFF)
            halves = np.stack([ids, cpus], axis=1).astype(np.uint32).view(np.int32)
            with path.open("ab") as out:
                lines.append(f"{grid // 2} {count} {out.tell()}")
                if about.with_integers:
                    out.write(np.hstack([halves, whole]).astype("<i4").tobytes())
                out.write(np.hstack([places, reals]).astype(about.dtype).tobytes())
    (folder / "Header").write_text("\n".join(map(str, lines)) + "\n")


@dataclass(frozen=True)
class Plot:
    """Boxes by level, [lo, hi), in cells of the level."""

    dimensions: int = 3
    format: str = NATIVE
    names: tuple[str, ...] = ("density", "x_velocity", "Y(H2)")
    low: tuple[float, ...] = (-1.0, 0.0, 2.0)
    spacing: tuple[float, ...] = (0.25, 0.5, 0.25)
    cells: tuple[int, ...] = (8, 8, 4)
    first: tuple[int, ...] = (0, 0, 0)
    ratios: tuple[int, ...] = (2, 4)
    boxes: tuple = (
        (((0, 0, 0), (4, 8, 4)), ((4, 0, 0), (8, 8, 4))),
        (((4, 4, 0), (8, 12, 8)), ((8, 4, 2), (12, 8, 6))),
        (((20, 20, 4), (28, 28, 12)),),
    )
    ghosts: int = 0
    ghost_text: str | None = None  # newer versions write (1,1,1)
    version: int = 1  # version of Cell_H; above 1, boxes have no headers
    code: str = "HyperCLaw-V1.1"
    coordinates: int = 0
    time: float = 0.5
    level_times: tuple[float, ...] = ()  # times of levels, if they differ from `time`
    step: int = 40
    particles: tuple[tuple[str, Particles], ...] = ()  # by folder
    files: int = 0  # boxes are dealt out to so many files in turn, in reverse order; 0 means two boxes in each file
    formats: tuple[str, ...] = ()  # formats of boxes in turn, instead of `format`
    digits: int = 17  # digits after the decimal point of the ranges in Cell_H
    coded: str = ""  # encoding of `names`, if not UTF-8

    def format_of(self, number):
        return self.formats[number % len(self.formats)] if self.formats else self.format

    def domain(self, level):
        ratio = int(np.prod(self.ratios[:level], dtype=int))
        first = np.array(self.first[: self.dimensions]) * ratio
        return first, first + np.array(self.cells[: self.dimensions]) * ratio

    def value(self, variable, level, lo, hi):
        """The values in a box as an array, k first."""
        axes = [np.arange(a, b, dtype=np.float64) for a, b in zip(lo, hi, strict=True)]
        grid = np.meshgrid(*reversed(axes), indexing="ij")
        mixed = sum(x * 37.0**n for n, x in enumerate(grid)) * 0.25 + 1000 * level + 0.125 * variable
        return mixed.astype(np.float32).astype(np.float64)  # exact in four bytes


def cubes(first, counts, side):
    """Adjacent boxes, so many along each axis. `first` is the position of the first one, in sides."""
    found = []
    for k, j, i in itertools.product(*(range(n) for n in reversed(counts))):
        lo = tuple(side * (f + n) for f, n in zip(first, (i, j, k), strict=True))
        found.append((lo, tuple(x + side for x in lo)))
    return tuple(found)


def _box(lo, hi, nodes=None):
    text = lambda numbers: f"({','.join(str(int(n)) for n in numbers)})"  # noqa: E731
    return f"({text(lo)} {text([n - 1 for n in hi])} {text([0] * len(lo) if nodes is None else nodes)})"


def _cell_h(plot, level, places):
    boxes, n = plot.boxes[level], plot.dimensions
    lines = [str(plot.version), "0", str(len(plot.names)), plot.ghost_text or str(plot.ghosts), f"({len(boxes)} 0"]
    lines += [_box(lo[:n], hi[:n]) for lo, hi in boxes] + [")", str(len(boxes))]
    lines += [f"FabOnDisk: {name} {offset}" for name, offset in places] + [""]
    if plot.version in (1, 3):
        for side in (np.min, np.max):
            lines.append(f"{len(boxes)},{len(plot.names)}")
            for lo, hi in boxes:
                values = (plot.value(v, level, lo[:n], hi[:n]) for v in range(len(plot.names)))
                lines.append("".join(f"{side(v):.{plot.digits}e}," for v in values))
            lines.append("")
    if plot.version == 4:
        every = [[plot.value(v, level, lo[:n], hi[:n]) for lo, hi in boxes] for v in range(len(plot.names))]
        for side in (np.min, np.max):
            lines.append("".join(f"{side([side(one) for one in of]):.17e}," for of in every))
    if plot.version > 1:
        lines.append(plot.format)
    return "\n".join(lines) + "\n"


def _write_level(plot, level, folder):
    folder.mkdir()
    n, places = plot.dimensions, []
    order = list(enumerate(plot.boxes[level]))
    for number, (lo, hi) in reversed(order) if plot.files else order:
        # Each file has two boxes, as after a run of several processes.
        path = folder / f"Cell_D_{number % plot.files if plot.files else number // 2:05}"
        outer = [a - plot.ghosts for a in lo[:n]], [b + plot.ghosts for b in hi[:n]]
        with path.open("ab") as out:
            places.append((path.name, out.tell()))
            if plot.version == 1:
                out.write(f"FAB {plot.format_of(number)}{_box(*outer)} {len(plot.names)}\n".encode())
            for v in range(len(plot.names)):
                values = np.full([b - a for a, b in zip(*outer, strict=True)][::-1], np.nan)
                own = (slice(plot.ghosts, -plot.ghosts or None),) * n
                values[own] = plot.value(v, level, lo[:n], hi[:n])
                out.write(values.astype(ORDERS[plot.format_of(number)]).tobytes())
    (folder / "Cell_H").write_text(_cell_h(plot, level, places[::-1] if plot.files else places))


def write_field(plot, folder, name, nodes, components=1, ghosts=0, level=0, shift=0):
    """Writes NAME_H and its values as WarpX does in raw_fields/Level_L, at nodes along the axes with 1. Values of
    component c are those of variable c of the plotfile, at the point's index. `shift` moves the boxes, as in other
    codes."""
    folder.mkdir(parents=True, exist_ok=True)
    n, lines, places = plot.dimensions, [], []
    boxes = [(np.array(lo[:n]) + shift, np.array(hi[:n]) + shift + nodes) for lo, hi in plot.boxes[level]]
    with (folder / f"{name}_D_00000").open("wb") as out:
        for lo, hi in boxes:
            places.append(out.tell())
            outer = lo - ghosts, hi + ghosts
            out.write(f"FAB {plot.format}{_box(*outer, nodes)} {components}\n".encode())
            for c in range(components):
                out.write(plot.value(c, level, *outer).astype(ORDERS[plot.format]).tobytes())
    lines = ["1", "0", str(components), str(ghosts), f"({len(boxes)} 0", *(_box(*box, nodes) for box in boxes), ")"]
    lines += [str(len(boxes)), *(f"FabOnDisk: {name}_D_00000 {at}" for at in places), ""]
    (folder / f"{name}_H").write_text("\n".join(lines) + "\n")


def write_plot(plot: Plot, place: Path) -> Path:
    place.mkdir(parents=True)
    n, levels = plot.dimensions, range(len(plot.boxes))
    size = lambda level: np.array(plot.spacing[:n]) / np.prod(plot.ratios[:level], dtype=int)  # noqa: E731
    reals = lambda numbers: " ".join(f"{x:.17g}" for x in numbers) + " "  # noqa: E731
    high = np.array(plot.low[:n]) + np.array(plot.spacing[:n]) * plot.cells[:n]
    lines = [plot.code, str(len(plot.names)), *plot.names, str(n), f"{plot.time}", str(len(levels) - 1)]
    lines += [reals(plot.low[:n]), reals(high), " ".join(map(str, plot.ratios[: len(levels) - 1])) + " "]
    lines.append(" ".join(_box(*plot.domain(level)) for level in levels) + " ")
    lines.append(" ".join(str(plot.step) for _ in levels) + " ")
    lines += [reals(size(level)) for level in levels]
    lines += [str(plot.coordinates), "0"]
    for level in levels:
        time = plot.level_times[level] if plot.level_times else plot.time
        lines += [f"{level} {len(plot.boxes[level])} {time}", str(plot.step)]
        first = plot.domain(0)[0]
        for lo, hi in plot.boxes[level]:
            for axis in range(n):
                base = plot.low[axis] - plot.spacing[axis] * first[axis]
                lines.append(f"{base + size(level)[axis] * lo[axis]:.17g} {base + size(level)[axis] * hi[axis]:.17g}")
        lines.append(f"Level_{level}/Cell")
        _write_level(plot, level, place / f"Level_{level}")
    (place / "Header").write_text("\n".join(lines) + "\n", encoding=plot.coded or "utf-8")
    (place / "job_info").write_text("AMReX git hash: by hand\n")  # without this file yt does not look for particles
    for name, about in plot.particles:
        write_particles(plot, about, place / name)
    return place


def cells_of(plot):
    """Maps (level, index) of every cell that no finer box covers to its values by variable."""
    n, found = plot.dimensions, {}
    for level, boxes in enumerate(plot.boxes):
        for lo, hi in boxes:
            values = [plot.value(v, level, lo[:n], hi[:n]) for v in range(len(plot.names))]
            for cell in itertools.product(*(range(a, b) for a, b in zip(lo[:n], hi[:n], strict=True))):
                where = tuple(c - a for c, a in zip(cell, lo[:n], strict=True))[::-1]
                found[level, cell] = [v[where] for v in values]
    for level in range(len(plot.boxes) - 1, 0, -1):
        for lo, hi in plot.boxes[level]:
            for coarse in range(level):
                ratio = int(np.prod(plot.ratios[coarse:level], dtype=int))
                ranges = (range(a // ratio, -(-b // ratio)) for a, b in zip(lo[:n], hi[:n], strict=True))
                for cell in itertools.product(*ranges):
                    found.pop((coarse, cell), None)
    return found


def check_cells(plot, levels, names):
    """Checks that each cell that no finer one covers exists once, with all its values. `names` are in the plot's
    order."""
    expected, found = cells_of(plot), 0
    for n, cells in enumerate(levels.cells):
        leaf = cells.counted
        columns = {name: levels.values(name, n, leaf) for name in names}
        for row, index in enumerate(cells.index[leaf]):
            exact = expected[n, tuple(int(i) for i in index[: plot.dimensions])]
            assert [columns[name][row] for name in names] == exact, (n, index)
            found += 1
    assert found == len(expected)
