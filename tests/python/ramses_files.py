"""Outputs of RAMSES made by hand: a tree of any shape in domains along a curve, in the layout of RAMSES' own routines.

`leaves` gives what `sidestream import` and yt must find in them, without reading a file."""

import itertools
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Sample:
    """The output to write. `refine(level, index)` is true if a cell has children; cells of level 0 are the coarse
    ones."""

    dimensions: int = 3
    domains: int = 3
    levels: int = 6  # nlevelmax
    order: str = "<"
    real: str = "f8"
    boundaries: int = 0  # 0, or 2 for regions below and above along x
    coarse: int = 1  # cells along x inside the boundary
    kinds: tuple[str, ...] = ("hydro",)
    columns: dict[str, list[str]] = field(default_factory=dict)
    descriptors: str | None = "new"  # or old, None
    groups: bool = False
    ordering: str = "hilbert"
    boxlen: float = 2.0
    long_counts: bool = False

    def refine(self, level, index):
        """Refines everything down to level 2, then cells near a corner."""
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


def child(oct, bits):
    return tuple(2 * o + b for o, b in zip(oct, bits, strict=True))


def inside(sample):
    """The coarse cells inside the boundary."""
    first = 1 if sample.boundaries else 0
    return [(first + i, 1 if sample.boundaries and sample.dimensions > 1 else 0, 0) for i in range(sample.coarse)]


def coarse_shape(sample):
    if not sample.boundaries:
        return (sample.coarse, 1, 1)
    return (sample.coarse + 2, 3 if sample.dimensions > 1 else 1, 1)


def value(kind, column, level, index):
    """The value of a cell: different in each cell, and exact in four bytes."""
    mixed = zlib.crc32(repr((kind, column, level, *index)).encode()) & 0xFFFFF
    return float(np.float32(0.5 + mixed / 2**12))


def all_octs(sample):
    """The octs of the whole tree for each level from 1, by index of the parent cell, which they fill."""
    base = inside(sample)[0]
    level, found = list(inside(sample)), []
    for n in range(1, sample.levels + 1):
        if not level:
            break
        found.append(level)
        cells = [child(oct, bits) for oct in level for bits in children(sample.dimensions)]
        origin = [b << n for b in base]
        level = [c for c in cells if sample.refine(n, [i - o for i, o in zip(c, origin, strict=True)])]
    return found


def owner(sample, level, index):
    """The domain of a cell, from 0. Domains follow each other along a curve."""
    root = min(max((index[0] >> level) - inside(sample)[0][0], 0), sample.coarse - 1)
    bits = 0
    for n in range(level - 1, -1, -1):
        for axis in reversed(range(sample.dimensions)):
            bits = 2 * bits + (index[axis] >> n & 1)
    position = (root + bits / 2 ** (sample.dimensions * level)) / sample.coarse
    return min(int(position * sample.domains), sample.domains - 1)


def octs_of(sample, domain):
    """The octs in the file of a domain, by level, with the list that each is in. They are its own octs, their
    neighbours, their children, and all ancestors of these."""
    everything = [set(level) for level in all_octs(sample)]
    kept = [set() for _ in everything]
    for n, level in enumerate(everything):
        for oct in level:
            if owner(sample, n, oct) != domain:
                continue
            around = itertools.product(*((-1, 0, 1) if a < sample.dimensions else (0,) for a in range(3)))
            kept[n] |= {tuple(o + d for o, d in zip(oct, step, strict=True)) for step in around} & level
            if n + 1 < len(everything):
                fine = {child(oct, bits) for bits in children(sample.dimensions)}
                kept[n + 1] |= fine & everything[n + 1]
    kept[0] |= everything[0]
    for n in range(len(kept) - 1, 0, -1):
        kept[n - 1] |= {tuple(o >> 1 for o in oct) for oct in kept[n]}
    # Their order has no meaning, as after a run.
    rng = np.random.default_rng(domain)
    found = []
    for n, level in enumerate(kept):
        ordered = sorted(level)
        rng.shuffle(ordered)
        found.append([(tuple(oct), owner(sample, n, tuple(oct))) for oct in ordered])
    return found


def outer_octs(sample):
    """The octs beyond the boundary and their regions, by level."""
    if not sample.boundaries:
        return []
    nx = coarse_shape(sample)[0]
    y = inside(sample)[0][1]
    first = [((0, y, 0), 0), ((nx - 1, y, 0), 1)]
    second = [(child(oct, bits), r) for oct, r in first for bits in children(sample.dimensions)]
    return [first, second]


class Records:
    """A file of Fortran's records."""

    def __init__(self, path, order):
        self.order, self.file = order, path.open("wb")

    def put(self, values, kind):
        """Writes a record of values of type i4, f8, ..."""
        body = np.asarray(values, self.order + kind if kind[1:] != "1" else kind).tobytes()
        mark = struct.pack(self.order + "i", len(body))
        self.file.write(mark + body + mark)

    def close(self):
        self.file.close()


def _lists(sample, own, outer, level):
    """The octs of a level, list by list: those of domains, then those of regions beyond the boundary."""
    mine, beyond = (octs[level] if level < len(octs) else [] for octs in (own, outer))
    lists = [[o for o, cpu in mine if cpu == c] for c in range(sample.domains)]
    return lists + [[o for o, region in beyond if region == b] for b in range(sample.boundaries)]


def _write_head(sample, out, own):
    """Writes the tree; data that only a restart needs exist, and are wrong."""
    integers = lambda *values: out.put(values, "i4")  # noqa: E731
    levels, real = sample.levels, sample.real
    head = ([sample.domains], [sample.dimensions], coarse_shape(sample), [levels], [1000], [sample.boundaries])
    for one in (*head, [sum(map(len, own))]):
        integers(*one)
    out.put([sample.boxlen], real)
    integers(1, 1, 1)
    for reals in ([1.0], [1.0], [0.25], [0.1] * levels, [0.1] * levels):
        out.put(reals, real)
    integers(7, 5)
    for count in (3, 7, 5, 1):
        out.put([1.0] * count, real)


def _write_counts(sample, out, own, outer):
    counts = [[len(octs) for octs in _lists(sample, own, outer, n)] for n in range(sample.levels)]
    domains = [n for level in counts for n in level[: sample.domains]]
    regions = [n for level in counts for n in level[sample.domains :]]
    for _ in range(3):  # headl, taill, numbl: begin and end of lists in a run's memory, and their lengths
        out.put(domains, "i4")
    out.put([0] * 10 * sample.levels, "i8" if sample.long_counts else "i4")
    if sample.boundaries:
        for _ in range(3):
            out.put(regions, "i4")
    out.put([1, 1000, 900, 100, 100], "i4")


def _write_coarse(sample, out):
    out.put(np.frombuffer(sample.ordering.encode().ljust(128), "u1"), "u1")
    if sample.ordering == "bisection":
        for _ in range(5):
            out.put([0.0], sample.real)
    else:
        out.put(np.linspace(0, 8.0 ** (sample.levels + 1), sample.domains + 1), "f8")
    cells = list(itertools.product(*(range(n) for n in reversed(coarse_shape(sample)))))
    for _ in range(2):
        out.put([1] * len(cells), "i4")  # son, flag1
    out.put([owner(sample, 0, cell[::-1]) + 1 for cell in cells], "i4")


def _write_amr(sample, path, domain):
    out, dims = Records(path, sample.order), sample.dimensions
    own, outer = octs_of(sample, domain), outer_octs(sample)
    _write_head(sample, out, own)
    _write_counts(sample, out, own, outer)
    _write_coarse(sample, out)
    for n in range(sample.levels):
        finer = {tuple(o) for o, _ in (*(own + [[]] * (n + 2))[n + 1], *(outer + [[]] * (n + 2))[n + 1])}
        for octs in _lists(sample, own, outer, n):
            if not octs:
                continue
            for _ in range(3):
                out.put(range(1, len(octs) + 1), "i4")
            for axis in range(dims):
                out.put([(oct[axis] + 0.5) / 2**n for oct in octs], sample.real)
            for _ in range(1 + 2 * dims):
                out.put([0] * len(octs), "i4")
            for bits in children(dims):  # 1 if there is an oct, instead of its number in memory
                out.put([int(child(oct, bits) in finer) for oct in octs], "i4")
            for _ in range(2 * 2**dims):
                out.put([0] * len(octs), "i4")
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
        for octs in _lists(sample, own, outer, n):
            out.put([n + 1], "i4")
            out.put([len(octs)], "i4")
            if not octs:
                continue
            for bits in children(sample.dimensions):
                for name in names:
                    cells = (child(oct, bits) for oct in octs)
                    out.put([value(kind, name, n + 1, cell) for cell in cells], sample.real)
    out.close()


PARTICLES = [
    *((f"position_{axis}", "f8") for axis in "xyz"),
    *((f"velocity_{axis}", "f8") for axis in "xyz"),
    *(("mass", "f8"), ("identity", "i4"), ("levelp", "i4"), ("family", "i1"), ("tag", "i1"), ("birth_time", "f8")),
]
LETTERS = {"f8": "d", "i4": "i", "i1": "b", "i8": "l"}


def particles_of(sample, domain):
    """Particles by name; the middle domain has none."""
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
        for n in range(sample.domains):
            text += f"{n + 1:8} {keys[n]:23.15E} {keys[n + 1]:23.15E}\n"
    (place / f"info_{number:05}.txt").write_text(text)
    _write_descriptors(sample, place)


def _write_descriptors(sample, place):
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
        for n, (name, values) in enumerate(fields.items(), 1):
            described += f" {n}, {name}, {LETTERS[values.dtype.str[1:]]}\n"
        (place / "part_file_descriptor.txt").write_text(described)


def write_output(sample, place: Path, number: int = 7) -> Path:
    """Writes output_NNNNN in `place`."""
    made = place / f"output_{number:05}"
    made.mkdir(parents=True)
    _write_texts(sample, made, number)
    for domain in range(sample.domains):
        folder = made / "group_00001" if sample.groups else made
        folder.mkdir(exist_ok=True)
        name = lambda kind, d=domain: folder / f"{kind}_{number:05}.out{d + 1:05}"  # noqa: B023, E731
        _write_amr(sample, name("amr"), domain)
        for kind in ("hydro", "grav", "rt"):
            if kind in sample.kinds:
                _write_cells(sample, name(kind), domain, kind)
        if "part" in sample.kinds:
            _write_particles(sample, name("part"), domain)
    return made


def leaves(sample):
    """Maps (level, index inside the boundary) of each leaf of the whole tree to its index as RAMSES counts."""
    octs = all_octs(sample)
    base, found = inside(sample)[0], {}
    for n, level in enumerate(octs):
        finer = set(octs[n + 1]) if n + 1 < len(octs) else set()
        for oct in level:
            for bits in children(sample.dimensions):
                cell = child(oct, bits)
                if cell not in finer:
                    found[n + 1, *(i - (b << (n + 1)) for i, b in zip(cell, base, strict=True))] = cell
    return found
