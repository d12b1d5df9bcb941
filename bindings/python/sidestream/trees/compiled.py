"""The decoder of the module amr_codec, which is many times faster than the one in NumPy and gives the same values.

It is used where the module's file is found. A file that does not fit this package is not used.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.module_files import module_function
from ..errors import Code, Error
from .prediction import Around
from .relations import Relations, Term
from .values import BESIDE, PARENTS, needs

Decoder = Callable[[bytes, np.dtype[Any], int, Around | None, Relations], NDArray[Any]]

_FUNCTION = "sidestream_amr_codec_decode_1"  # the number changes with its arguments
_TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]  # in the order of sidestream::Type
_MESSAGE = 1024


class _Array(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int64),
        ("values", ctypes.c_void_p),
        ("values_size", ctypes.c_uint64),
        ("parents", ctypes.c_void_p),
        ("parents_size", ctypes.c_uint64),
    )


class _Chunk(ctypes.Structure):
    _fields_ = (
        ("parent", ctypes.c_void_p),
        ("parent_count", ctypes.c_uint64),
        ("beside", ctypes.c_void_p),
        ("beside_count", ctypes.c_uint64),
        ("numbers", ctypes.c_void_p),
        ("number_count", ctypes.c_uint64),
        ("factors", ctypes.c_void_p),
        ("factor_count", ctypes.c_uint64),
        ("arrays", ctypes.POINTER(_Array)),
        ("array_count", ctypes.c_uint64),
    )


def compiled_decoder() -> Decoder | None:
    """Returns a function with the arguments of values.decode_values; None if the module is not there."""
    arguments = (ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(_Chunk), ctypes.c_void_p, ctypes.c_uint64)
    function = module_function("amr_codec", _FUNCTION, *arguments)
    return None if function is None else _Decoding(function)


def _of_terms(terms: list[Term], numbers: list[int], factors: list[float]) -> None:
    numbers.append(len(terms))
    for term in terms:
        factors.append(term.coefficient)
        numbers += [len(term.times), *term.times, len(term.over), *term.over]


def _lists(relations: Relations, numbers: list[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Relations as modules/amr_codec/for_python.cpp takes them, behind `numbers`."""
    factors = [relations.factor]
    numbers.append(int(relations.mean is not None))
    if relations.mean is not None:
        factors.append(relations.mean.scale)
        numbers.append(relations.mean.weight)
        _of_terms(relations.mean.offset, numbers, factors)
    face = relations.face
    numbers.append(int(face is not None))
    if face is not None:
        numbers += [face.axis, int(face.high), face.opposite, len(face.others), *face.others, len(face.lengths)]
        factors += face.lengths
    _of_terms(relations.closure, numbers, factors)
    return np.array(numbers, np.int64), np.array(factors, np.float64)


class _Decoding:
    """Calls the function with arrays, which it keeps in memory until it returns."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(
        self, stream: bytes, dtype: np.dtype[Any], cells: int, around: Around | None, relations: Relations
    ) -> NDArray[Any]:
        head, kept = needs(stream), []

        def array(values: Any, of: Any = None) -> tuple[int | None, int]:
            kept.append(np.ascontiguousarray(values, of))
            return kept[-1].ctypes.data, kept[-1].nbytes

        def companion(number: int) -> _Array:
            if around is None or not head.companions >> number & 1:
                return _Array(_TYPES.index("f8"), None, 0, None, 0)
            values, parents = around.cells(number), around.above(number)
            return _Array(_TYPES.index(values.dtype.str[1:]), *array(values), *array(parents))

        parents = array(around.parents) if around is not None and head.flags & PARENTS else (None, 0)
        kind = _TYPES.index(dtype.str[1:])
        arrays = [_Array(kind, None, 0, *parents), *map(companion, range(len(relations.companions)))]
        groups: list[Any] = [None, 0, None, 0]
        if around is not None:
            groups[:2] = array(around.parent, np.int64)[0], len(around.parent)
            if head.flags & BESIDE:
                groups[2:] = array(around.beside, np.int64)[0], around.beside.size
        numbers, factors = _lists(relations, [kind, around.dimensions if around is not None else 3])
        chunk = _Chunk(
            *groups,
            *(numbers.ctypes.data, len(numbers), factors.ctypes.data, len(factors)),
            *((_Array * len(arrays))(*arrays), len(arrays)),
        )
        out = np.empty(cells, dtype)
        message = ctypes.create_string_buffer(_MESSAGE)
        code = self._function(stream, len(stream), ctypes.byref(chunk), out.ctypes.data, out.nbytes, message, _MESSAGE)
        if code != 0:
            raise Error(message.value.decode(errors="replace"), Code.FILE)
        return out
