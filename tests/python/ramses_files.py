"""Outputs of RAMSES made by hand: a tree of any shape in domains along a curve, as RAMSES' own output routines lay it out.

What `sidestream import` and yt are to find in them, `leaves` says without reading a file."""

import itertools
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Sample:
    """What is written. `refine(level, index)`: whether a cell has children; cells of level 0 are the coarse ones."""

    dimensions: int = 3
    domains: int = 3
    levels: int = 6  # nlevelmax
    order: str = "<"
    real: str = "f8"
    boundaries: int = 0  # 0, or 2: regions below and above along x
    coarse: int = 1  # cells along x inside the boundary
    kinds: tuple[str, ...] = ("hydro",)
    columns: dict[str, list[str]] = field(default_factory=dict)
    descriptors: str | None = "new"  # or old, None
    groups: bool = False
    ordering: str = "hilbert"
    boxlen: float = 2.0
    long_counts: bool = False

    def refine(self, level, index):
        """Everything down to level 2, then what lies near a corner."""
        return level < 2 or (level < 5 and sum(i / 2**level for i in index[: self.dimensions]) < 0.45)

    def names(self, kind):
        axes = "xyz"[: self.dimensions]
        usual = {
            "hydro": ["density", *(f"velocity_{a}" for a in axes), "pressure", "metallicity"],
            "mhd": ["density", *(f"velocity_{a}" for a in "xyz"), *(f"B_{a}_left" for a in "xyz"),
                    *(f"B_{a}_right" for a in "xyz"), "pressure"],
            "grav": ["potential", *(f"acceleration_{a}" for a in axes)],
            "rt": ["photon_density_01", *(f"photon_flux_01_{a}" for a in axes)],
        }  # fmt: skip
        return self.columns.get(kind, usual["mhd" if kind == "hydro" and "mhd" in self.kinds else kind])


def children(dimensions):
    """Offsets of a cell's children, x fastest."""
    for bits in itertools.product((0, 1), repeat=dimensions):
        yield (*reversed(bits), *(0,) * (3 - dimensions))


def inside(sample):
    """The coarse cells inside the boundary."""
    first = 1 if sample.boundaries else 0
    return [(first + i, 1 if sample.boundaries and sample.dimensions > 1 else 0, 0) for i in range(sample.coarse)]


def coarse_shape(sample):
    if not sample.boundaries:
        return (sample.coarse, 1, 1)
    return (sample.coarse + 2, 3 if sample.dimensions > 1 else 1, 1)


def value(kind, column, level, index):
    """Of a cell: something that is different everywhere and exact in four bytes."""
    mixed = zlib.crc32(repr((kind, column, level, *index)).encode()) & 0xFFFFF
    return float(np.float32(0.5 + mixed / 2**12))


def all_octs(sample):
    """By level from 1: the octs of the whole tree, by index of the cell of the level before that they fill."""
    base = inside(sample)[0]
    level, found = [c for c in inside(sample)], []
    for n in range(1, sample.levels + 1):
        if not level:
            break
        found.append(level)
        cells = [tuple(2 * o + b for o, b in zip(oct, bits, strict=True)) for oct in level for bits in children(sample.dimensions)]
        origin = [b << n for b in base]
        level = [c for c in cells if sample.refine(n, [i - o for i, o in zip(c, origin, strict=True)])]
    return found


def owner(sample, level, index):
    """The domain of a cell, from 0: domains follow each other along a curve."""
    root = min(max((index[0] >> level) - inside(sample)[0][0], 0), sample.coarse - 1)
    bits = 0
    for n in range(level - 1, -1, -1):
        for axis in reversed(range(sample.dimensions)):
            bits = 2 * bits + (index[axis] >> n & 1)
    position = (root + bits / 2 ** (sample.dimensions * level)) / sample.coarse
    return min(int(position * sample.domains), sample.domains - 1)


def octs_of(sample, domain):
    """By level: the octs that the file of a domain has, with the list that each is in: its own, what is next to them, what
    they are refined into, and all that these lie in."""
    everything = [set(level) for level in all_octs(sample)]
    kept = [set() for _ in everything]
    for n, level in enumerate(everything):
        for oct in level:
            if owner(sample, n, oct) != domain:
                continue
            around = itertools.product(*((-1, 0, 1) if a < sample.dimensions else (0,) for a in range(3)))
            kept[n] |= {tuple(o + d for o, d in zip(oct, step, strict=True)) for step in around} & level
            if n + 1 < len(everything):
                fine = {tuple(2 * o + b for o, b in zip(oct, bits, strict=True)) for bits in children(sample.dimensions)}
                kept[n + 1] |= fine & everything[n + 1]
    kept[0] |= everything[0]
    for n in range(len(kept) - 1, 0, -1):
        kept[n - 1] |= {tuple(o >> 1 for o in oct) for oct in kept[n]}
    # As a run leaves them: in no order that means anything.
    rng = np.random.default_rng(domain)
    found = []
    for n, level in enumerate(kept):
        ordered = sorted(level)
        rng.shuffle(ordered)
        found.append([(tuple(oct), owner(sample, n, tuple(oct))) for oct in ordered])
    return found


def outer_octs(sample):
    """By level: octs beyond the boundary, with the region."""
    if not sample.boundaries:
        return []
    nx = coarse_shape(sample)[0]
    y = inside(sample)[0][1]
    first = [((0, y, 0), 0), ((nx - 1, y, 0), 1)]
    second = [(tuple(2 * o + b for o, b in zip(oct, bits, strict=True)), r) for oct, r in first for bits in children(sample.dimensions)]
    return [first, second]


class Records:
    """A file of Fortran's records."""

    def __init__(self, path, order):
        self.order, self.file = order, path.open("wb")

    def put(self, values, kind):
        """Of type i4, f8, ..."""
        body = np.asarray(values, self.order + kind if kind[1:] != "1" else kind).tobytes()
        mark = struct.pack(self.order + "i", len(body))
        self.file.write(mark + body + mark)

    def close(self):
        self.file.close()


def _write_amr(sample, path, domain, number):
    out, real, dims = Records(path, sample.order), sample.real, sample.dimensions
    own, outer = octs_of(sample, domain), outer_octs(sample)
    shape, ncpu, levels = coarse_shape(sample), sample.domains, sample.levels
    integers = lambda *values: out.put(values, "i4")  # noqa: E731
    for one in ([ncpu], [dims], shape, [levels], [1000], [sample.boundaries], [sum(map(len, own))]):
        integers(*one)
    out.put([sample.boxlen], real)
    integers(1, 1, 1)
    for reals in ([1.0], [1.0], [0.25], [0.1] * levels, [0.1] * levels):
        out.put(reals, real)
    integers(7, 5)
    for count in (3, 7, 5, 1):
        out.put([1.0] * count, real)
    numbers = np.zeros((levels, ncpu), np.int64)
    beyond = np.zeros((levels, max(sample.boundaries, 1)), np.int64)
    for n, level in enumerate(own):
        for _, cpu in level:
            numbers[n, cpu] += 1
    for n, level in enumerate(outer):
        for _, region in level:
            beyond[n, region] += 1
    counts = "i8" if sample.long_counts else "i4"
    for _ in range(2):
        integers(*numbers.ravel())  # headl, taill: where lists begin and end in a run's memory
    out.put(numbers.ravel(), "i4")
    out.put(np.zeros((levels, 10)).ravel(), counts)
    if sample.boundaries:
        for _ in range(3):
            integers(*beyond.ravel())
    integers(1, 1000, 900, 100, 100)
    out.put(np.frombuffer(sample.ordering.encode().ljust(128), "u1"), "u1")
    if sample.ordering == "bisection":
        for _ in range(5):
            out.put([0.0], real)
    else:
        out.put(np.linspace(0, 8.0 ** (levels + 1), ncpu + 1), "f8")
    cells = list(itertools.product(*(range(n) for n in reversed(shape))))
    for _ in range(2):
        integers(*([1] * len(cells)))  # son, flag1
    integers(*(owner(sample, 0, cell[::-1]) + 1 for cell in cells))
    for n in range(levels):
        lists = [[o for o, cpu in (own[n] if n < len(own) else []) if cpu == c] for c in range(ncpu)]
        lists += [[o for o, r in (outer[n] if n < len(outer) else []) if r == b] for b in range(sample.boundaries)]
        for octs in lists:
            if not octs:
                continue
            for _ in range(3):
                integers(*range(1, len(octs) + 1))
            for axis in range(dims):
                out.put([(oct[axis] + 0.5) / 2**n for oct in octs], real)
            for _ in range(1 + 2 * dims + 3 * 2**dims):
                integers(*([0] * len(octs)))
    out.close()


def _write_cells(sample, path, domain, kind):
    out, own, outer = Records(path, sample.order), octs_of(sample, domain), outer_octs(sample)
    names, ncpu = sample.names(kind), sample.domains
    head = [ncpu, len(names)] + ([] if kind == "grav" else [sample.dimensions]) + [sample.levels, sample.boundaries]
    for one in head:
        out.put([one], "i4")
    if kind != "grav":
        out.put([1.4], sample.real)
    for n in range(sample.levels):
        lists = [[o for o, cpu in (own[n] if n < len(own) else []) if cpu == c] for c in range(ncpu)]
        lists += [[o for o, r in (outer[n] if n < len(outer) else []) if r == b] for b in range(sample.boundaries)]
        for octs in lists:
            out.put([n + 1], "i4")
            out.put([len(octs)], "i4")
            if not octs:
                continue
            for bits in children(sample.dimensions):
                for name in names:
                    cells = (tuple(2 * o + b for o, b in zip(oct, bits, strict=True)) for oct in octs)
                    out.put([value(kind, name, n + 1, cell) for cell in cells], sample.real)
    out.close()


PARTICLES = [("position_x", "f8"), ("position_y", "f8"), ("position_z", "f8"), ("velocity_x", "f8"), ("velocity_y", "f8"),
             ("velocity_z", "f8"), ("mass", "f8"), ("identity", "i4"), ("levelp", "i4"), ("family", "i1"), ("tag", "i1"),
             ("birth_time", "f8")]  # fmt: skip
LETTERS = {"f8": "d", "i4": "i", "i1": "b", "i8": "l"}


def particles_of(sample, domain):
    """By name; the middle domain has none."""
    count = 0 if domain == 1 else 5 + domain
    rng = np.random.default_rng(100 + domain)
    skipped = "" if sample.dimensions == 3 else "yz"[sample.dimensions - 1 :]
    fields = [(n, t) for n, t in PARTICLES if not (n[-2:-1] == "_" and n[-1] in skipped)]
    if sample.descriptors != "new":
        fields = [f for f in fields if f[0] not in ("family", "tag")]
    return {n: (rng.random(count) * (sample.boxlen if n.startswith("pos") else 100)).astype(t) for n, t in fields}


def _write_particles(sample, path, domain):
    out, fields = Records(path, sample.order), particles_of(sample, domain)
    out.put([sample.domains], "i4")
    out.put([sample.dimensions], "i4")
    out.put([len(fields["mass"])], "i4")
    out.put([1, 2, 3, 4], "i4")
    out.put([0], "i4")
    out.put([0.0], "f8")
    out.put([0.0], "f8")
    out.put([0], "i4")
    for values in fields.values():
        out.put(values, values.dtype.str[1:])
    out.close()


def _write_texts(sample, place, number):
    lines = [("ncpu", sample.domains), ("ndim", sample.dimensions), ("levelmin", 2), ("levelmax", sample.levels),
             ("ngridmax", 1000), ("nstep_coarse", 5)]  # fmt: skip
    text = "".join(f"{name:12}= {n:10}\n" for name, n in lines) + "\n"
    reals = [("boxlen", sample.boxlen), ("time", 0.25), ("aexp", 1), ("H0", 1), ("omega_m", 1), ("omega_l", 0),
             ("omega_k", 0), ("omega_b", 0.045), ("unit_l", 3.0), ("unit_d", 2.0), ("unit_t", 5.0)]  # fmt: skip
    text += "".join(f"{name:12}= {x:23.15E}\n" for name, x in reals)
    text += f"\nordering type={sample.ordering:80}\n"
    keys = np.linspace(0, 8.0 ** (sample.levels + 1), sample.domains + 1)
    if sample.ordering == "hilbert":
        text += "   DOMAIN   ind_min                 ind_max\n"
        text += "".join(f"{n + 1:8} {a:23.15E} {b:23.15E}\n" for n, (a, b) in enumerate(zip(keys, keys[1:], strict=False)))
    (place / f"info_{number:05}.txt").write_text(text)
    for kind in ("hydro", "rt"):
        if kind not in sample.kinds or sample.descriptors is None:
            continue
        names = sample.names(kind)
        if sample.descriptors == "new":
            described = "# version:  1\n# ivar, variable_name, variable_type\n"
            described += "".join(f"{n:3}, {name}, d\n" for n, name in enumerate(names, 1))
        else:
            described = f"nvar        = {len(names):10}\n"
            described += "".join(f"variable # {n:2}: {name}\n" for n, name in enumerate(names, 1))
        (place / f"{kind}_file_descriptor.txt").write_text(described)
    if "part" in sample.kinds and sample.descriptors == "new":
        described = "# version:  1\n# ivar, variable_name, variable_type\n"
        fields = particles_of(sample, 0)
        described += "".join(f" {n}, {name}, {LETTERS[v.dtype.str[1:]]}\n" for n, (name, v) in enumerate(fields.items(), 1))
        (place / "part_file_descriptor.txt").write_text(described)


def write_output(sample, place: Path, number: int = 7) -> Path:
    """output_NNNNN in `place`."""
    made = place / f"output_{number:05}"
    made.mkdir(parents=True)
    _write_texts(sample, made, number)
    for domain in range(sample.domains):
        folder = made / "group_00001" if sample.groups else made
        folder.mkdir(exist_ok=True)
        name = lambda kind, d=domain: folder / f"{kind}_{number:05}.out{d + 1:05}"  # noqa: B023, E731
        _write_amr(sample, name("amr"), domain, number)
        for kind in ("hydro", "grav", "rt"):
            if kind in sample.kinds:
                _write_cells(sample, name(kind), domain, kind)
        if "part" in sample.kinds:
            _write_particles(sample, name("part"), domain)
    return made


def leaves(sample):
    """(level, index inside the boundary) of each leaf of the whole tree, to its index as RAMSES counts."""
    octs = all_octs(sample)
    base, found = inside(sample)[0], {}
    for n, level in enumerate(octs):
        finer = set(octs[n + 1]) if n + 1 < len(octs) else set()
        for oct in level:
            for bits in children(sample.dimensions):
                cell = tuple(2 * o + b for o, b in zip(oct, bits, strict=True))
                if cell not in finer:
                    found[n + 1, *(i - (b << (n + 1)) for i, b in zip(cell, base, strict=True))] = cell
    return found
