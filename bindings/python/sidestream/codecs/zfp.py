"""Unpacks the codec `zfp` with zfp's own library, which is located when it is needed."""

import ctypes
import ctypes.util
from functools import cache
from typing import Any

import numpy as np

from ..errors import Code, Error

_TYPES = {"<f4": 3, "<f8": 4}  # zfp_type
_HEADER_FULL = 7
_FIXED_ACCURACY = 4  # zfp_mode

_Handle = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {  # result, arguments
    "stream_open": (_Handle, _Handle, ctypes.c_size_t),
    "stream_close": (None, _Handle),
    "zfp_stream_open": (_Handle, _Handle),
    "zfp_stream_close": (None, _Handle),
    "zfp_stream_rewind": (None, _Handle),
    "zfp_stream_compression_mode": (ctypes.c_int, _Handle),
    "zfp_stream_accuracy": (ctypes.c_double, _Handle),
    "zfp_stream_set_accuracy": (ctypes.c_double, _Handle, ctypes.c_double),
    "zfp_stream_maximum_size": (ctypes.c_size_t, _Handle, _Handle),
    "zfp_field_1d": (_Handle, _Handle, ctypes.c_int, ctypes.c_size_t),
    "zfp_field_free": (None, _Handle),
    "zfp_field_type": (ctypes.c_int, _Handle),
    "zfp_field_size": (ctypes.c_size_t, _Handle, ctypes.POINTER(ctypes.c_size_t)),
    "zfp_field_set_pointer": (None, _Handle, _Handle),
    "zfp_read_header": (ctypes.c_size_t, _Handle, _Handle, ctypes.c_uint),
    "zfp_decompress": (ctypes.c_size_t, _Handle, _Handle),
}


@cache
def _library() -> ctypes.CDLL:
    name = ctypes.util.find_library("zfp")
    if name is None:
        raise Error("values are packed with zfp, whose library is not here; install it (Debian: libzfp1)", Code.FILE)
    library = ctypes.CDLL(name)
    for function, (result, *arguments) in _SIGNATURES.items():
        try:
            found = getattr(library, function)
        except AttributeError:
            raise Error(f"'{name}' has no {function}(); install zfp 1.0 or 0.5.5", Code.FILE) from None
        found.restype, found.argtypes = result, arguments
    return library


def _room(zfp: ctypes.CDLL, kind: int, count: int, bound: float) -> tuple[int, float]:
    """Returns the most bytes that zfp could ever read for so many numbers, and the accuracy that it chooses for the
    bound. The first is needed because zfp does not check for the end of its input."""
    bits = zfp.stream_open(None, 0)
    stream, field = zfp.zfp_stream_open(bits), zfp.zfp_field_1d(None, kind, count)
    accuracy = zfp.zfp_stream_set_accuracy(stream, bound)
    room = zfp.zfp_stream_maximum_size(stream, field) + 16
    zfp.zfp_field_free(field)
    zfp.zfp_stream_close(stream)
    zfp.stream_close(bits)
    return int(room), accuracy


def unpacked(data: bytes, argument: str, dtype: np.dtype[Any], size: int) -> bytes:
    """The `size` bytes of numbers of type `dtype` that `zfp:argument` has packed into `data`. Throws Error(FILE) if it
    cannot have packed them, or if the library is missing."""
    zfp = _library()
    kind, count = _TYPES.get(dtype.newbyteorder("<").str), size // dtype.itemsize
    if kind is None:
        raise ValueError(f"zfp packs no values of type {dtype}")
    if count == 0:
        raise ValueError("zfp packs nothing of no values")
    room, accuracy = _room(zfp, kind, count, float(argument))
    if len(data) > room:
        raise ValueError(f"{len(data)} bytes are more than zfp makes of {size}")
    padded = ctypes.create_string_buffer(data, room + 8)
    out = ctypes.create_string_buffer(size)
    bits = zfp.stream_open(padded, room + 8)
    stream, field = zfp.zfp_stream_open(bits), zfp.zfp_field_1d(None, kind, count)
    try:
        zfp.zfp_stream_rewind(stream)
        read = zfp.zfp_read_header(stream, field, _HEADER_FULL)
        # The header decides how much is read, so it must agree with the available memory.
        as_expected = (
            read > 0
            and zfp.zfp_field_type(field) == kind
            and zfp.zfp_field_size(field, None) == count
            and zfp.zfp_stream_compression_mode(stream) == _FIXED_ACCURACY
            and zfp.zfp_stream_accuracy(stream) == accuracy
        )
        if not as_expected:
            raise ValueError("zfp's header says something else")
        zfp.zfp_field_set_pointer(field, out)
        if zfp.zfp_decompress(stream, field) == 0:
            raise ValueError("zfp cannot read it")
    finally:
        zfp.zfp_field_free(field)
        zfp.zfp_stream_close(stream)
        zfp.stream_close(bits)
    return out.raw
