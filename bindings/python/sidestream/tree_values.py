"""Streams of values of trees, decoded with NumPy: docs/database-trees.md."""

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codecs import unzstd_at_most
from .errors import Code, Error
from .journal import is_right
from .tree_prediction import SLOPE, Around, Layout, Plan, Prediction
from .tree_relations import Relations

VERSION = 1
RAW, CONSTANT, ZSTD, SHUFFLED, FATHER_XOR, PREDICTED, PREDICTED_ZSTD = range(7)
FATHERS, BESIDE, COMPANIONS = 1, 2, 4
LISTS = 9


@dataclass(frozen=True)
class Head:
    method: int
    flags: int
    companions: int  # that are needed, a bit for each


def damaged(what: str) -> Error:
    return Error(f"a stream of a tree's values {what}; it is damaged", Code.FILE)


class Parts:
    """Takes a stream apart from the front."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise damaged("ends early")
        self.at += size
        return self.data[self.at - size : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift >= 64:
                raise damaged("has a number of too many bytes")

    def rest(self) -> bytes:
        return self.take(len(self.data) - self.at)


def unpacked(data: bytes, size: int) -> bytes:
    """Behind a byte that says how. Throws Error(FILE) unless it is `size` bytes."""
    how, rest = data[:1], data[1:]
    if how == b"\0":
        found = rest
    elif how == b"\1":
        try:
            found = zlib.decompressobj().decompress(rest, size + 1)
        except zlib.error as problem:
            raise damaged(f"has a part that does not unpack ({problem})") from problem
    elif how == b"\2":
        found = unzstd_at_most(rest, size)
    else:
        raise damaged("has a part that is packed in an unknown way")
    if len(found) != size:
        raise damaged(f"has a part of {len(found)} bytes, expected {size}")
    return found


def bits_at(data: bytes, places: NDArray[np.int64], lengths: NDArray[Any]) -> NDArray[np.uint64]:
    """Numbers of these lengths, at most 64, from bit `places` on, the lowest bits first."""
    padded = np.frombuffer(data + bytes(16), np.uint8)
    at, shift = places >> 3, (places & 7).astype(np.uint64)
    window = np.lib.stride_tricks.sliding_window_view(padded, 9)[at]
    low = np.ascontiguousarray(window[:, :8]).view("<u8").reshape(-1)
    high = window[:, 8].astype(np.uint64)
    word = (low >> shift) | np.where(shift > 0, high << ((np.uint64(64) - shift) & np.uint64(63)), np.uint64(0))
    lengths = lengths.astype(np.uint64)
    mask = np.where(lengths == 0, np.uint64(0), np.uint64(2**64 - 1) >> ((np.uint64(64) - lengths) & np.uint64(63)))
    return word & mask


def unshuffled(data: bytes, width: int) -> bytes:
    return np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()


def _father_xor(parts: Parts, dtype: np.dtype[Any], around: Around) -> NDArray[Any]:
    bits = parts.byte()
    if not 1 <= bits <= 6:
        raise damaged("counts zeros in more than 6 bits")
    groups, width = len(around.father), 8 * dtype.itemsize
    head = parts.take((groups * bits + 7) // 8)
    zeros = bits_at(head, np.arange(groups) * bits, np.full(groups, bits)).astype(np.int64)
    kept = width - zeros
    sizes = (kept * around.sons + 7) // 8
    data = parts.rest()
    if (len(kept) and kept.min() <= 0) or int(sizes.sum()) + 1 != len(data):
        raise damaged("has not the bits that its counts of zeros say")
    starts = 8 * (np.cumsum(sizes) - sizes)
    places = starts[:, None] + kept[:, None] * np.arange(around.sons)
    residues = bits_at(data, places.reshape(-1), np.repeat(kept, around.sons)).astype(f"<u{dtype.itemsize}")
    fathers = np.ascontiguousarray(around.fathers[around.father]).view(f"<u{dtype.itemsize}")
    return residues ^ np.repeat(fathers, around.sons)


def _ordered(words: NDArray[Any]) -> NDArray[Any]:
    """As whole numbers in the order of the floating-point numbers; its own inverse."""
    top = words.dtype.itemsize * 8 - 1
    flips = (words.dtype.type(1) << words.dtype.type(top)) - words.dtype.type(1)
    return np.where(words >> words.dtype.type(top), words ^ flips, words)


def _unzigzag(words: NDArray[Any]) -> NDArray[Any]:
    one = words.dtype.type(1)
    return (words >> one) ^ (words.dtype.type(0) - (words & one))


def _lengths(parts: Parts, layout: Layout, width: int) -> tuple[bytes, NDArray[np.uint8]]:
    """The bits, and the length of each number: an axis of steps and one of groups."""
    steps, sources = parts.take(3), layout.sources()
    sons, groups = sources.shape
    bits = parts.take(struct.unpack("<Q", parts.take(8))[0])
    counts, sizes = [0] * LISTS, [0] * LISTS
    for n in range(LISTS):
        counts[n] = parts.number()
        sizes[n] = parts.number() if counts[n] else 0
    if sum(counts) != sons * groups:
        raise damaged("has not as many lengths as values")
    lists = [
        np.frombuffer(unpacked(parts.take(size), count), np.uint8) if count else np.empty(0, np.uint8)
        for size, count in zip(sizes, counts, strict=True)
    ]
    if parts.rest() or any(len(one) and one.max() > width for one in lists):
        raise damaged("has lengths beyond its type, or more bytes than its lists")
    found, next_of = np.zeros((sons, groups), np.uint8), [0] * LISTS
    for first, past in layout.tiles:
        tile, mean = slice(first, past), np.full(past - first, 255)
        for step in range(sons):
            from_slope = sources[step, tile] == SLOPE
            by_mean = np.where(mean == 255, 0, 1 + sum((mean >= s).astype(int) for s in steps))
            chosen = np.where(from_slope, by_mean, 4 + sources[step, tile])
            for n in np.unique(chosen):
                here = chosen == n
                part = lists[n][next_of[n] : next_of[n] + int(here.sum())]
                if len(part) != here.sum():
                    raise damaged("has fewer lengths of a kind than values")
                found[step, tile][here] = part
                next_of[n] += len(part)
            twice = 2 * found[step, tile].astype(int)
            mean = np.where(from_slope, np.where(mean == 255, twice, (mean + twice + 1) // 2), mean)
    return bits, found


def _differences(parts: Parts, layout: Layout, width: int) -> NDArray[np.uint64]:
    """An axis of steps and one of groups."""
    bits, lengths = _lengths(parts, layout, width)
    sons, groups = lengths.shape
    # Which number comes after which.
    order = [(np.arange(sons)[:, None] * groups + np.arange(a, b)).reshape(-1) for a, b in layout.tiles]
    places_of = np.concatenate([np.empty(0, np.int64), *order])
    ordered_lengths = lengths.reshape(-1)[places_of]
    low = np.maximum(ordered_lengths.astype(np.int64) - 1, 0)
    places = np.cumsum(low) - low
    if len(low) and places[-1] + low[-1] > 8 * len(bits):
        raise damaged("has fewer bits than its lengths say")
    numbers = bits_at(bits, places, low)
    numbers |= np.where(ordered_lengths > 0, np.uint64(1) << low.astype(np.uint64), np.uint64(0))
    found = np.empty_like(numbers)
    found[places_of] = numbers
    return found.reshape(lengths.shape)


def _predicted(parts: Parts, head: Head, dtype: np.dtype[Any], around: Around, relations: Relations) -> NDArray[Any]:
    plan = Plan.of(int.from_bytes(parts.take(2), "little"), relations)
    if bool(head.flags & BESIDE) != plan.needs_beside or head.companions != plan.companions(relations):
        raise damaged("needs other values than it says")
    for step in range(2, around.sons - 1 if plan.siblings else 2):
        for other in range(step):
            plan.weights[step, other] = int.from_bytes(parts.take(1), "little", signed=True) / 64.0
    layout = Layout(around, relations, plan)
    groups, sons = len(around.father), around.sons
    word = np.dtype(f"<u{dtype.itemsize}")
    if head.method == PREDICTED:
        differences = _differences(parts, layout, 8 * dtype.itemsize).astype(word)
    else:
        data = unshuffled(unpacked(parts.rest(), groups * sons * dtype.itemsize), dtype.itemsize)
        differences = np.frombuffer(data, word).reshape(groups, sons).T[layout.order]
    out, own = np.empty((groups, sons), word), np.zeros((groups, sons))
    for first, past in layout.waves:
        prediction = Prediction(layout, own, first, past)
        for step in range(sons):
            expected = _ordered(prediction.predict(step).astype(dtype).view(word))
            words = _ordered(expected + _unzigzag(differences[step, first:past]))
            out[first:past, layout.order[step]] = words
            prediction.known(step, words.view(dtype).astype(np.float64))
    restored = np.empty_like(out)
    restored[layout.sequence] = out
    return restored.reshape(-1)


def needs(stream: bytes) -> Head:
    """What a stream says of itself. Throws Error(FILE)."""
    parts = Parts(stream)
    first, flags = parts.byte(), parts.byte()
    method = first & 15
    sound = first >> 4 == VERSION and method <= PREDICTED_ZSTD and flags <= (FATHERS | BESIDE | COMPANIONS)
    if not sound or bool(flags & FATHERS) != (method >= FATHER_XOR) or (flags > FATHERS and method < PREDICTED):
        raise damaged("begins in an unknown way")
    return Head(method, flags, int.from_bytes(parts.take(4), "little") if flags & COMPANIONS else 0)


def decode_values(
    stream: bytes, dtype: np.dtype[Any], cells: int, around: Around | None, relations: Relations
) -> NDArray[Any]:
    """The values in the cells of a chunk, one component. `around`: None for roots. Throws Error(FILE)."""
    head = needs(stream)
    parts = Parts(stream[: max(len(stream) - 8, 0)])
    parts.take(6 if head.flags & COMPANIONS else 2)
    size = cells * dtype.itemsize
    with np.errstate(all="ignore"):
        if head.method == RAW:
            data = parts.rest()
        elif head.method == CONSTANT:
            data = parts.rest() * cells
        elif head.method == ZSTD:
            data = unpacked(parts.rest(), size)
        elif head.method == SHUFFLED:
            data = unshuffled(unpacked(parts.rest(), size), dtype.itemsize)
        elif around is None:
            raise damaged("needs fathers, and is of roots")
        elif head.method == FATHER_XOR:
            data = _father_xor(parts, dtype, around).tobytes()
        elif dtype.kind != "f":
            raise damaged("predicts what are no real numbers")
        else:
            data = _predicted(parts, head, dtype, around, relations).tobytes()
    if len(data) != size or not is_right(data, int.from_bytes(stream[-8:], "little")):
        raise damaged("has not the values that it was made from")
    return np.frombuffer(data, dtype)
