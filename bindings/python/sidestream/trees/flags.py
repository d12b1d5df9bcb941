"""The packed structure of trees: flags of refinement and of ownership. Bytes: stream-format.md of amr_codec."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.decoding import unzstd_at_most
from ..errors import Code, Error

FRAMED, EXPECTS_LAST = 1, 2

Bytes = NDArray[np.uint8]


def _damaged() -> Error:
    return Error("the packed structure of a tree makes no sense; it is damaged", Code.FILE)


def _unframed(packed: bytes, most: int, methods: int) -> bytes:
    if not packed or packed[0] > methods:
        raise _damaged()
    if not packed[0] & FRAMED:
        return packed[1:]
    return unzstd_at_most(packed[1:], most)


def unpack_refined(packed: bytes, dimensions: int, roots: int, cells: int) -> Bytes:
    """Unpacks the flags of refinement, 0 or 1 for each cell. Throws Error(FILE) if they do not form a tree of `cells`
    cells."""
    bits = np.frombuffer(_unframed(packed, cells, FRAMED), np.uint8)
    flags = np.zeros(cells, np.uint8)
    first, count = 0, roots if cells else 0
    while count:
        size = -(-count // 8)
        if count > cells - first or 0 < len(bits) < size:
            raise _damaged()
        if len(bits):
            level = np.unpackbits(bits[:size], bitorder="little")
            if level[count:].any() or not level.any():
                raise _damaged()
            flags[first : first + count] = level[:count]
            bits = bits[size:]
        first, count = first + count, int(flags[first : first + count].sum()) << dimensions
    if first != cells or len(bits):
        raise _damaged()
    return flags


def _runs(data: Bytes, total: int) -> tuple[Bytes, Bytes]:
    """Decodes `total` flags from alternating runs, of which the first has zeros. Returns the remaining bytes, too."""
    lengths, found, at = [], 0, 0
    while found < total:
        length = shift = 0
        while True:
            if at == len(data) or shift > 56:
                raise _damaged()
            length |= int(data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                break
        if length > total - found or (length == 0 and lengths):
            raise _damaged()
        lengths.append(length)
        found += length
    return np.repeat(np.arange(len(lengths), dtype=np.uint8) & 1, lengths), data[at:]


def unpack_owned(packed: bytes, dimensions: int, roots: int, refined: Bytes) -> Bytes:
    """Unpacks the flags of ownership, 0 or 1 for each cell, of a tree with known `refined`. Throws Error(FILE)."""
    data = np.frombuffer(_unframed(packed, len(refined) + 2, FRAMED | EXPECTS_LAST), np.uint8)
    parents = np.flatnonzero(refined)
    flags = np.zeros(len(refined), np.uint8)
    flags[refined == 0], data = _runs(data, len(refined) - len(parents))
    own, data = _runs(data, len(parents))
    if len(data):
        raise _damaged()
    flags[parents] = own
    if packed[0] & EXPECTS_LAST:
        children, starts = 1 << dimensions, tree_starts(refined, dimensions, roots)
        numbers = np.searchsorted(parents, starts)
        for level in reversed(range(len(starts) - 1)):  # combines with the last child's flag, which is final by then
            here = np.arange(numbers[level], numbers[level + 1])
            flags[parents[here]] ^= flags[roots + here * children + children - 1]
    return flags


def tree_starts(refined: Bytes, dimensions: int, roots: int) -> NDArray[np.int64]:
    """Returns the first cell of each level, then the number of cells. Throws Error(FILE) if the flags do not form a
    tree."""
    starts, count = [0], roots if len(refined) else 0
    while count:
        if count > len(refined) - starts[-1]:
            break
        starts.append(starts[-1] + count)
        count = int(np.count_nonzero(refined[starts[-2] : starts[-1]])) << dimensions
    if starts[-1] != len(refined) or count:
        raise Error(
            f"flags of refinement that are not those of a tree of {len(refined)} cells; they are damaged", Code.FILE
        )
    return np.array(starts, np.int64)


def cut_levels(starts: NDArray[np.int64], dimensions: int, cell_bytes: int, chunk: int) -> NDArray[np.int64]:
    """Returns the first cell of each chunk, then the number of cells. Chunks split neither levels nor siblings."""
    most = chunk // (cell_bytes << dimensions) << dimensions
    if most == 0:
        return np.zeros(1, np.int64)
    cuts = [np.arange(first, past, most) for first, past in pairwise(starts)]
    return np.concatenate([*cuts, starts[-1:]]).astype(np.int64)


def flags_as(packed: bytes, role: str, mesh: dict[str, Any], cells: int, refined: Bytes | None) -> Bytes:
    """Unpacks a chunk with flags. `role`: refined, or owned, which needs the flags `refined`."""
    dimensions, roots = int(mesh["dimensions"]), int(np.prod(mesh["roots"]))
    if role == "refined":
        return unpack_refined(packed, dimensions, roots, cells)
    assert refined is not None
    return unpack_owned(packed, dimensions, roots, refined)
