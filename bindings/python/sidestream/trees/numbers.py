"""Decodes differences from predictions, coded kinds and low bits: modules/amr_codec/stream-format.md."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .parts import Parts, bits_at, damaged, unpacked
from .prediction import SLOPE, Layout, Prediction

CLASSES, LANES, SYMBOLS, LONGEST = 4, 4, 128, 10
SLOPE_CODES = 8 * CLASSES
CODES = SLOPE_CODES + 4
UNUSED, IN_LIST = 254, 255
TAIL = 64  # bytes that may be read beyond the end of a stream of codes before this is noticed
CHANGE_COUNTS, MOST = 3, 16 * 65


def _packed_part(parts: Parts) -> bytes:
    size, packed = parts.number(), parts.number()
    return unpacked(parts.take(packed), size)


def _decoder(first: int, bits: list[int]) -> list[int]:
    """Makes a table by the value of the next bits: 16 times the kind, plus the length of its code."""
    entries, code = np.full(1 << LONGEST, first << 4 | LONGEST), 0
    for length in range(1, LONGEST + 1):
        for kind, one in enumerate(bits, first):
            if one == length:
                turned = int(f"{code:0{length}b}"[::-1], 2)
                entries[turned :: 1 << length] = kind << 4 | length
                code += 1
        code <<= 1
    return entries.tolist()


class _Codes:
    """Four interleaved streams of codes, and their decoders."""

    def __init__(self, parts: Parts, width: int) -> None:
        sizes = [parts.number() for _ in range(LANES)]
        self.sizes = [8 * size for size in sizes]
        self.windows = [self._windows(parts.take(size)) for size in sizes]
        head = Parts(_packed_part(parts))
        self.classes = head.byte()
        if self.classes > CLASSES:
            raise damaged("has too many classes of lengths")
        self.limits = np.full((8, CLASSES - 1), 0x8000)
        if self.classes > 1:
            limits = np.frombuffer(head.take(16 * (self.classes - 1)), "<u2")
            self.limits[:, : self.classes - 1] = limits.reshape(8, -1)
        self.decoders: list[list[int]] = []
        self.lists: dict[int, list[int]] = {}
        greatest = 2 * width - 1
        for number in range(CODES):
            first = head.byte() if self._has(number) else UNUSED
            bits, last = list[int](), 0
            if first == IN_LIST:
                self.lists[number] = list(_packed_part(parts))
                last = max(self.lists[number], default=SYMBOLS)
            elif first != UNUSED:
                last = head.byte()
                bits = list(head.take(max(last + 1 - first, 0))) if first != last else []
            if last > greatest or any(one > LONGEST for one in bits) or sum(2.0**-one for one in bits if one) > 1:
                raise damaged("has codes that make no sense")
            self.decoders.append(_decoder(first, bits) if bits else [(0 if first >= UNUSED else first) << 4])
        if head.rest() or parts.rest():
            raise damaged("has more bytes than its lists")
        self.places, self.listed = [0] * LANES, dict.fromkeys(self.lists, 0)

    def _has(self, number: int) -> bool:
        """True if a value may have this code."""
        if number >= SLOPE_CODES:
            return True
        return number == 0 if self.classes == 0 else number % CLASSES < self.classes

    @staticmethod
    def _windows(data: bytes) -> list[int]:
        """Returns for each bit the number formed by the next LONGEST bits, beginning with it."""
        bits = np.unpackbits(np.frombuffer(data + bytes(TAIL), np.uint8), bitorder="little").astype(np.int64)
        return sum(bits[n : len(bits) - LONGEST + n] << n for n in range(LONGEST)).tolist()

    def row(self, codes: list[int]) -> NDArray[np.int64]:
        found, places, decoders, windows = [], self.places, self.decoders, self.windows
        for n, code in enumerate(codes):
            lane = n % LANES
            decoder = decoders[code]
            entry = decoder[windows[lane][places[lane]]] if len(decoder) > 1 else decoder[0]
            places[lane] += entry & 15
            found.append(entry >> 4)
        for n, code in enumerate(codes) if self.lists else ():
            if code in self.lists:
                if self.listed[code] == len(self.lists[code]):
                    raise damaged("has fewer lengths than values")
                found[n] = self.lists[code][self.listed[code]]
                self.listed[code] += 1
        if any(place > size for place, size in zip(places, self.sizes, strict=True)):
            raise damaged("has fewer bits than its lengths say")
        return np.array(found, np.int64)


def _expected(whole: Prediction | None, tile: slice, width: int) -> tuple[NDArray[np.int64], int]:
    """Estimates lengths: sums in sixteenths of a bit, and the number of summands."""
    if whole is None or whole.change is None:
        return np.zeros(tile.stop - tile.start, np.int64), 0
    change = whole.change[tile].view(np.int64) >> 48 & 0x7FFF
    parent = np.ascontiguousarray(whole.parent[tile]).view(np.int64) >> 52 & 0x7FF
    length = change - 16 * parent + 16 * (24 if width == 32 else 53)
    return CHANGE_COUNTS * np.clip(length, 0, MOST), CHANGE_COUNTS


def _kinds(codes: _Codes, layout: Layout, whole: Prediction | None, width: int) -> NDArray[np.int64]:
    """Decodes the kinds of all values; axes are steps and groups."""
    sources = layout.sources().astype(np.int64)
    found = np.zeros(sources.shape, np.int64)
    for first, past in layout.tiles:
        tile = slice(first, past)
        sums, known = _expected(whole, tile, width)
        for step in range(len(sources)):
            of = sources[step, tile]
            estimates = sums * (65536 // known if known else 0) >> 16
            classes = (estimates[:, None] >= codes.limits[step]).sum(axis=1)
            chosen = np.where(of == SLOPE, (step if codes.classes else 0) * CLASSES + classes, SLOPE_CODES - 1 + of)
            row = found[step, tile] = codes.row(chosen.tolist())
            if (of == SLOPE).all() or (of != of[0]).any():
                sums = sums + np.where(of == SLOPE, 8 * row, estimates)
                known += 1
    return found


def numbers_of(parts: Parts, layout: Layout, whole: Prediction | None, width: int) -> NDArray[np.uint64]:
    """Decodes all differences; axes are steps and groups. `whole`: a prediction of all groups, or None."""
    bits = parts.take(parts.number())
    kinds = _kinds(_Codes(parts, width), layout, whole, width)
    children, groups = kinds.shape
    # Positions of numbers in the order of the stream: tile by tile, step by step.
    order = [(np.arange(children)[:, None] * groups + np.arange(a, b)).reshape(-1) for a, b in layout.tiles]
    places_of = np.concatenate([np.empty(0, np.int64), *order])
    in_order = kinds.reshape(-1)[places_of]
    low = np.where(in_order < 4, 0, (in_order >> 1) - 1)
    places = np.cumsum(low) - low
    if len(low) and places[-1] + low[-1] > 8 * len(bits):
        raise damaged("has fewer bits than its lengths say")
    high = np.where(in_order < 2, in_order, 2 | (in_order & 1)).astype(np.uint64)
    numbers = bits_at(bits, places, low) | high << low.astype(np.uint64)
    found: NDArray[Any] = np.empty_like(numbers)
    found[places_of] = numbers
    return found.reshape(kinds.shape)
