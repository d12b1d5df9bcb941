"""Unpacks the codec `bounded` with the module bounded_codec where it is found, otherwise, far more slowly, in Python.

modules/bounded_codec/stream-format.md describes the bytes. Both give the same bits: predictions are whole numbers.
"""

import ctypes
import math
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bounded_bits import Bits, Residuals
from .bounded_levels import Run, levels_of, runs_of_level
from .bounded_powers import NEGATIVE, ZERO, States, check_lattice, sizes_of
from .module_files import module_function

_FUNCTION = "sidestream_bounded_codec_decode_1"  # the number changes with its arguments
_MESSAGE = 1024
_PLACE, _HEADS = struct.Struct("<B4Q"), {1: struct.Struct("<dhI12B"), 2: struct.Struct("<dhI12BB")}  # by version
_RULED_LEVELS = 4
_MOST = 2**48
_TAP_BITS = 10

Extents = tuple[int, int, int]


def unpacked(data: bytes, dtype: np.dtype[Any], size: int) -> bytes:
    """Returns the `size` bytes of a chunk. Throws ValueError if the bytes are damaged."""
    values = np.empty(size // dtype.itemsize, dtype)
    arguments = (ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)
    function = module_function("bounded_codec", _FUNCTION, *arguments)
    if function is None:
        _decode(data, values)
        return values.tobytes()
    message = ctypes.create_string_buffer(_MESSAGE)
    code = function(bytes(data), len(data), dtype.itemsize, values.ctypes.data, values.nbytes, message, _MESSAGE)
    if code != 0:
        raise ValueError(message.value.decode(errors="replace"))
    return values.tobytes()


def _boxes_of_points(nx: int, layer: int, begin: int, end: int) -> Iterator[Extents]:
    """Whole layers, whole lines or a part of a line, whichever is largest at each place."""
    while begin < end:
        extents = (min(end, (begin // nx + 1) * nx) - begin, 1, 1)
        stop = min(end, (begin // layer + 1) * layer)
        if begin % layer == 0 and end - begin >= layer:
            extents = (nx, layer // nx, (end - begin) // layer)
        elif begin % nx == 0 and stop - begin >= nx:
            extents = (nx, (stop - begin) // nx, 1)
        yield extents
        begin += math.prod(extents)


def _boxes(place: tuple[int, int, int, int], count: int) -> Iterator[tuple[Extents, int, int]]:
    """Extents, first element and step of the boxes of `count` elements."""
    nx, ny, components, first = place
    if nx == 0:
        nx = count
    for component in range(min(components, count)):
        element, point = component, (first + component) // components
        end = point + (count - component + components - 1) // components
        for extents in _boxes_of_points(nx, nx * ny, point, end):
            yield extents, element, components
            element += math.prod(extents) * components


def _decode(data: bytes, values: NDArray[Any]) -> None:
    if len(data) < _PLACE.size:
        raise ValueError(f"{len(data)} bytes of the codec 'bounded' are too few")
    version, nx, ny, components, first = _PLACE.unpack_from(data)
    if version not in _HEADS:
        raise ValueError(f"version {version} of the codec 'bounded'; use a newer Sidestream")
    if ny == 0 or components == 0 or (nx == 0 and (components, first) != (1, 0)):
        raise ValueError("the codec 'bounded' has no such place")
    boxes = list(_boxes((nx, ny, components, first), len(values)))
    head = _HEADS[version]
    start = _PLACE.size + len(boxes) * head.size
    if len(data) < start:
        raise ValueError(f"{len(data)} bytes of the codec 'bounded' are too few for {len(boxes)} boxes")
    bits, residuals, states = Bits(data, start), Residuals(), States()
    for n, (extents, element, step) in enumerate(boxes):
        made = _Box if version == 1 else _PowerBox
        box = made(extents, head.unpack_from(data, _PLACE.size + n * head.size), values.dtype)
        box.find_states(bits, states)
        values[element::step][: math.prod(extents)] = box.decoded(bits, residuals)
    if bits.at != len(data):
        raise ValueError(f"{len(data) - bits.at} bytes of the codec 'bounded' are left")


class _Box:
    def __init__(self, extents: Extents, head: tuple[Any, ...], dtype: np.dtype[Any]) -> None:
        self._base, self._exponent, self._step, *rules = head[:15]
        if min(rules) < 2:
            raise ValueError("a rule of the codec 'bounded' has no weight")
        axes = [(byte >> 1, bool(byte & 1)) for byte in rules]
        self._rules = [axes[n : n + 3] for n in range(0, len(axes), 3)]
        self._extents, self._dtype = extents, dtype
        self._numbers = [0] * math.prod(extents)
        self._sizes = [0] * len(self._numbers)
        self._exact: dict[int, int] = {}

    def find_states(self, bits: Bits, states: States) -> None:
        """Decodes what comes before the differences: nothing."""

    def decoded(self, bits: Bits, residuals: Residuals) -> NDArray[Any]:
        levels, self._last = levels_of(self._extents), 0
        self._code(0, 0, (2, 0, 0), bits, residuals)
        for level in reversed(range(levels)):
            rule = self._rules[min(level, _RULED_LEVELS - 1)]
            for run in runs_of_level(self._extents, level, rule):
                self._code_run(run, min(level, 2), bits, residuals)
        values = self._values()
        raw = values.view(f"<u{self._dtype.itemsize}")
        for point, exact in self._exact.items():
            raw[point] = exact
        return values

    def _values(self) -> NDArray[Any]:
        numbers = np.array(self._numbers, np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            return (self._base + numbers * _power_of_two(self._exponent)).astype(self._dtype)

    def _code_run(self, run: Run, level: int, bits: Bits, residuals: Residuals) -> None:
        numbers, sizes = self._numbers, self._sizes
        left = sizes[run.first - run.step] if run.x >= run.step else 0
        for point in range(run.first, run.first + run.count * run.step, run.step):
            total = 1 << (_TAP_BITS - 1)
            for offset, factor in run.taps:
                total += numbers[point + offset] * factor
            near = sum(sizes[point + offset] for offset in run.near)
            before = left + (sizes[point + run.line] if run.line else left)
            activity = Residuals.activity(near, len(run.near), before)
            left = self._code(point, total >> _TAP_BITS, (level, run.odd - 1, activity), bits, residuals)

    def _code(
        self, point: int, prediction: int, context: tuple[int, int, int], bits: Bits, residuals: Residuals
    ) -> int:
        difference = residuals.difference(bits, context)
        if difference is None:
            width = 8 * self._dtype.itemsize
            self._last = self._exact[point] = residuals.exact(bits, width, self._last) & (2**width - 1)
            self._numbers[point], self._sizes[point] = prediction, 255
        else:
            self._numbers[point] = max(-_MOST, min(_MOST, prediction + difference * self._step))
            self._sizes[point] = min(abs(difference), 254)
        return self._sizes[point]


class _PowerBox(_Box):
    """Its numbers are those of logarithms."""

    def __init__(self, extents: Extents, head: tuple[Any, ...], dtype: np.dtype[Any]) -> None:
        super().__init__(extents, head, dtype)
        self._flags = head[15]
        check_lattice(self._base, self._exponent)

    def find_states(self, bits: Bits, states: States) -> None:
        self._states = states.decoded(bits, self._flags, self._extents)

    def _values(self) -> NDArray[Any]:
        states = np.array(self._states)
        with np.errstate(over="ignore", under="ignore"):
            values = sizes_of(self._numbers, self._base, self._exponent).astype(self._dtype)
        values[states & ZERO != 0] = 0
        return np.where(states & NEGATIVE != 0, -values, values)

    def _code(
        self, point: int, prediction: int, context: tuple[int, int, int], bits: Bits, residuals: Residuals
    ) -> int:
        if self._states[point] & ZERO:
            self._numbers[point] = prediction
            return 0
        return super()._code(point, prediction, context, bits, residuals)


def _power_of_two(exponent: int) -> float:
    return math.ldexp(1.0, exponent) if exponent < 1024 else math.inf
