"""Cuts a cell of level LEVEL out of an output of RAMSES, and writes it as an output whose box is the cell.

python3 cut_ramses.py OUTPUT TARGET [FINEST LEVEL I J K]

Octs, values and owners are those of the original. Octs finer than FINEST are left out, numbers of levels are lower by
LEVEL, and positions refer to the new box. Pointers are 0, because no reader of outputs needs them. The order of domains
is called bisection, with empty records for its walls, because the keys of the Hilbert curve mean nothing in the new
box. `ramses_sedov_cut.tar.xz` was made from a Sedov blast with 8 domains and levels 6 to 9, with FINEST 8, LEVEL 2 and
the cell (1, 2, 2), which contains the blast. Needs NumPy.
"""

import re
import struct
import sys
from pathlib import Path

import numpy as np


def records(path):
    """Yields the records of a little-endian Fortran file."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        (length,) = struct.unpack_from("<i", data, at)
        yield data[at + 4 : at + 4 + length]
        at += 8 + length


class Writer:
    def __init__(self, path):
        self.file = path.open("wb")

    def put(self, values, kind="<i4"):
        body = values if isinstance(values, bytes) else np.asarray(values, kind).tobytes()
        self.file.write(struct.pack("<i", len(body)) + body + struct.pack("<i", len(body)))

    def close(self):
        self.file.close()


def read_amr(path):
    """The header's records, and the centres of octs by level and list."""
    of = records(path)
    head = [next(of) for _ in range(29)]
    ncpu, levels = struct.unpack("<i", head[0])[0], struct.unpack("<i", head[3])[0]
    counts = np.frombuffer(head[21], "<i4").reshape(levels, ncpu)
    octs = []
    for level in counts:
        lists = []
        for count in level:
            middles = np.zeros((0, 3))
            if count:
                body = [next(of) for _ in range(3 + 3 + 1 + 6 + 24)]
                middles = np.stack([np.frombuffer(b, "<f8") for b in body[3:6]], axis=1)
            lists.append(middles)
        octs.append(lists)
    return head, octs


def kept_octs(octs, finest, level, cell):
    """Octs of the original that stay, by new level and list."""
    low = np.array(cell) / 2**level
    inside = lambda middles: np.all((middles > low) & (middles < low + 0.5**level), axis=1)  # noqa: E731
    return [[inside(middles) for middles in lists] for lists in octs[level:finest]]


def write_amr(path, head, octs, kept, level, cell):
    out, ncpu, levels = Writer(path), len(kept[0]), len(kept)
    counts = np.array([[int(k.sum()) for k in lists] for lists in kept])
    head = list(head)
    head[3] = struct.pack("<i", levels)
    head[12] = head[13] = np.zeros(levels).tobytes()
    for n in (19, 20, 21):
        head[n] = counts.astype("<i4").tobytes()
    head[22] = np.zeros(10 * levels, "<i4").tobytes()
    head[24:26] = [b"bisection".ljust(128)] + [np.zeros(1).tobytes()] * 5
    owner = next((n for n in range(ncpu) if counts[0][n]), 0)
    head[-1] = struct.pack("<i", owner + 1)
    for body in head:
        out.put(body)
    low = np.array(cell) / 2**level
    for lists, chosen in zip(octs[level:], kept, strict=False):
        for middles, keep in zip(lists, chosen, strict=True):
            count = int(keep.sum())
            if not count:
                continue
            for _ in range(3):
                out.put(np.arange(1, count + 1))
            for axis in range(3):
                out.put((middles[keep, axis] - low[axis]) * 2**level, "<f8")
            for _ in range(31):
                out.put(np.zeros(count))
    out.close()


def write_hydro(source, path, kept, level):
    of, out = records(source), Writer(path)
    head = [next(of) for _ in range(6)]
    columns, levels = struct.unpack("<i", head[1])[0], struct.unpack("<i", head[3])[0]
    head[3] = struct.pack("<i", len(kept))
    for body in head:
        out.put(body)
    for n in range(levels):
        for number in range(len(kept[0])):
            next(of)
            (count,) = struct.unpack("<i", next(of))
            body = [np.frombuffer(next(of), "<f8") for _ in range(8 * columns if count else 0)]
            if not level <= n < level + len(kept):
                continue
            keep = kept[n - level][number]
            out.put([n - level + 1])
            out.put([int(keep.sum())])
            for values in body if keep.any() else ():
                out.put(values[keep], "<f8")
    out.close()


def main(source, target, finest=8, level=2, *cell):
    source, target, finest, level = Path(source), Path(target), int(finest), int(level)
    cell = tuple(map(int, cell)) or (1, 2, 2)
    target.mkdir(parents=True)
    text = next(source.glob("info_*.txt")).read_text()
    number = next(source.glob("info_*.txt")).stem.split("_")[1]
    for key in ("levelmin", "levelmax"):
        text = re.sub(rf"({key} *= *)(\d+)", lambda m: m[1] + str(min(int(m[2]), finest) - level), text)
    text = text[: text.index("ordering")] + "ordering type=bisection\n"
    (target / f"info_{number}.txt").write_text(text)
    (target / "hydro_file_descriptor.txt").write_bytes((source / "hydro_file_descriptor.txt").read_bytes())
    for path in sorted(source.glob("amr_*.out*")):
        head, octs = read_amr(path)
        kept = kept_octs(octs, finest, level, cell)
        write_amr(target / path.name, head, octs, kept, level, cell)
        hydro = path.name.replace("amr", "hydro")
        write_hydro(source / hydro, target / hydro, kept, level)


if __name__ == "__main__":
    main(*sys.argv[1:])
