"""Decodes streams of values of trees with NumPy: modules/amr_codec/stream-format.md."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.checksums import is_right
from .numbers import numbers_of
from .parts import Parts, bits_at, damaged, unpacked
from .prediction import Around, Layout, Plan, Prediction
from .relations import Relations

RAW, CONSTANT, ZSTD, SHUFFLED, PARENT_XOR, PREDICTED, PREDICTED_ZSTD = range(7)
PARENTS, BESIDE, COMPANIONS = 1, 2, 4


@dataclass(frozen=True)
class Head:
    method: int
    flags: int
    companions: int  # a bit for each companion that is needed


def unshuffled(data: bytes, width: int) -> bytes:
    return np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()


def _parent_xor(parts: Parts, dtype: np.dtype[Any], around: Around) -> NDArray[Any]:
    bits = parts.byte()
    if not 1 <= bits <= 6:
        raise damaged("counts zeros in more than 6 bits")
    groups, width = len(around.parent), 8 * dtype.itemsize
    head = parts.take((groups * bits + 7) // 8)
    zeros = bits_at(head, np.arange(groups) * bits, np.full(groups, bits)).astype(np.int64)
    kept = width - zeros
    sizes = (kept * around.children + 7) // 8
    data = parts.rest()
    if (len(kept) and kept.min() <= 0) or int(sizes.sum()) + 1 != len(data):
        raise damaged("has not the bits that its counts of zeros say")
    starts = 8 * (np.cumsum(sizes) - sizes)
    places = starts[:, None] + kept[:, None] * np.arange(around.children)
    residues = bits_at(data, places.reshape(-1), np.repeat(kept, around.children)).astype(f"<u{dtype.itemsize}")
    parents = np.ascontiguousarray(around.parents[around.parent]).view(f"<u{dtype.itemsize}")
    return residues ^ np.repeat(parents, around.children)


def _ordered(words: NDArray[Any]) -> NDArray[Any]:
    """Maps the bits of floating-point numbers to whole numbers of the same order; its own inverse."""
    top = words.dtype.itemsize * 8 - 1
    flips = (words.dtype.type(1) << words.dtype.type(top)) - words.dtype.type(1)
    return np.where(words >> words.dtype.type(top), words ^ flips, words)


def _unzigzag(words: NDArray[Any]) -> NDArray[Any]:
    one = words.dtype.type(1)
    return (words >> one) ^ (words.dtype.type(0) - (words & one))


def _predicted(parts: Parts, head: Head, dtype: np.dtype[Any], around: Around, relations: Relations) -> NDArray[Any]:
    plan = Plan.of(int.from_bytes(parts.take(2), "little"), relations)
    if bool(head.flags & BESIDE) != plan.needs_beside or head.companions != plan.companions(relations):
        raise damaged("needs other values than it says")
    for step in range(around.children - 1 if plan.corrected else 0):
        for term in plan.corrections(step, around.dimensions):
            plan.weights[step, term] = int.from_bytes(parts.take(1), "little", signed=True) / 64.0
    layout = Layout(around, relations, plan)
    groups, children = len(around.parent), around.children
    word = np.dtype(f"<u{dtype.itemsize}")
    if head.method == PREDICTED:
        all_at_once = None if plan.closure else Prediction(layout, np.zeros((groups, children)), 0, groups)
        differences = numbers_of(parts, layout, all_at_once, 8 * dtype.itemsize).astype(word)
    else:
        data = unshuffled(unpacked(parts.rest(), groups * children * dtype.itemsize), dtype.itemsize)
        differences = np.frombuffer(data, word).reshape(groups, children).T[layout.order]
    out, own = np.empty((groups, children), word), np.zeros((groups, children))
    for first, past in layout.waves:
        prediction = Prediction(layout, own, first, past)
        for step in range(children):
            expected = _ordered(prediction.predict(step).astype(dtype).view(word))
            words = _ordered(expected + _unzigzag(differences[step, first:past]))
            out[first:past, layout.order[step]] = words
            prediction.known(step, words.view(dtype).astype(np.float64))
    restored = np.empty_like(out)
    restored[layout.sequence] = out
    return restored.reshape(-1)


def needs(stream: bytes) -> Head:
    """Reads the head of a stream. Throws Error(FILE)."""
    parts = Parts(stream)
    first, flags = parts.byte(), parts.byte()
    method = first & 15
    version = 2 if method == PREDICTED else 1
    sound = first >> 4 == version and method <= PREDICTED_ZSTD and flags <= (PARENTS | BESIDE | COMPANIONS)
    if not sound or bool(flags & PARENTS) != (method >= PARENT_XOR) or (flags > PARENTS and method < PREDICTED):
        raise damaged("begins in an unknown way")
    return Head(method, flags, int.from_bytes(parts.take(4), "little") if flags & COMPANIONS else 0)


def decode_values(
    stream: bytes, dtype: np.dtype[Any], cells: int, around: Around | None, relations: Relations
) -> NDArray[Any]:
    """Decodes one component of the values in a chunk's cells. `around`: None for roots. Throws Error(FILE)."""
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
            raise damaged("needs parents, and is of roots")
        elif head.method == PARENT_XOR:
            data = _parent_xor(parts, dtype, around).tobytes()
        elif dtype.kind != "f":
            raise damaged("predicts what are no real numbers")
        else:
            data = _predicted(parts, head, dtype, around, relations).tobytes()
    if len(data) != size or not is_right(data, int.from_bytes(stream[-8:], "little")):
        raise damaged("has not the values that it was made from")
    return np.frombuffer(data, dtype)
