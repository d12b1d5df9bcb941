"""Unpacks the codec `zfp` with zfp's own library, which is located when it is needed."""

import ctypes
import ctypes.util
import struct
from functools import cache
from typing import Any

import numpy as np

from ..errors import Code, Error

_TYPES = {"<f4": 3, "<f8": 4}  # zfp_type
_HEADER_FULL = 7
_FIXED_ACCURACY = 4  # zfp_mode
_HEADER_BYTES = 32  # a header has 148 bits
_MARK = b"zfpruns1"  # chunks that are several arrays

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
    "zfp_field_3d": (_Handle, _Handle, ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t),
    "zfp_field_free": (None, _Handle),
    "zfp_field_type": (ctypes.c_int, _Handle),
    "zfp_field_size": (ctypes.c_size_t, _Handle, ctypes.c_void_p),
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


def _room(zfp: ctypes.CDLL, kind: int, extents: list[int], bound: float) -> tuple[int, float]:
    """Returns the most bytes that zfp could ever read for an array of these extents, and the accuracy that it chooses
    for the bound. The first is needed because zfp does not check for the end of its input."""
    bits = zfp.stream_open(None, 0)
    stream, field = zfp.zfp_stream_open(bits), zfp.zfp_field_3d(None, kind, *extents)
    accuracy = zfp.zfp_stream_set_accuracy(stream, bound)
    room = zfp.zfp_stream_maximum_size(stream, field) + 16
    zfp.zfp_field_free(field)
    zfp.zfp_stream_close(stream)
    zfp.stream_close(bits)
    return int(room), accuracy


class _Stream:
    """zfp's objects for the array with a header at the beginning of `data`, which is followed by `room` zeros."""

    def __init__(self, zfp: ctypes.CDLL, data: bytes, room: int) -> None:
        self.zfp = zfp
        self._padded = ctypes.create_string_buffer(data, room + 8)
        self.bits = zfp.stream_open(self._padded, room + 8)
        self.stream, self.field = zfp.zfp_stream_open(self.bits), zfp.zfp_field_1d(None, 4, 1)
        zfp.zfp_stream_rewind(self.stream)
        self.has_header = zfp.zfp_read_header(self.stream, self.field, _HEADER_FULL) > 0

    def __enter__(self) -> "_Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.zfp.zfp_field_free(self.field)
        self.zfp.zfp_stream_close(self.stream)
        self.zfp.stream_close(self.bits)

    def extents(self, kind: int, most: int) -> list[int]:
        """Those of the header, the fastest axis first, 1 for axes that the array does not have."""
        # zfp 0.5 counts in 32 bits.
        is_wide = ctypes.c_uint.in_dll(self.zfp, "zfp_library_version").value >= 0x1000
        sizes = ((ctypes.c_size_t if is_wide else ctypes.c_uint) * 4)()
        count = self.zfp.zfp_field_size(self.field, sizes)
        found = [max(int(size), 1) for size in sizes]
        if not self.has_header or self.zfp.zfp_field_type(self.field) != kind or not 0 < count <= most or found[3] > 1:
            raise ValueError("zfp's header says something else")
        return found[:3]


def _array(data: bytes, bound: float, kind: int, most: int, width: int) -> tuple[bytes, int]:
    """The bytes of the array at the beginning of `data`, of at most `most` numbers, and the bytes that it took."""
    zfp = _library()
    with _Stream(zfp, data[:_HEADER_BYTES], _HEADER_BYTES) as head:
        extents = head.extents(kind, most)
    # The header decides how much is read, so the memory is made for it.
    room, accuracy = _room(zfp, kind, extents, bound)
    with _Stream(zfp, data[:room], room) as whole:
        if (
            zfp.zfp_stream_compression_mode(whole.stream) != _FIXED_ACCURACY
            or zfp.zfp_stream_accuracy(whole.stream) != accuracy
        ):
            raise ValueError("zfp's header says something else")
        out = ctypes.create_string_buffer(extents[0] * extents[1] * extents[2] * width)
        zfp.zfp_field_set_pointer(whole.field, out)
        size = zfp.zfp_decompress(whole.stream, whole.field)
        if not 0 < size <= len(data):
            raise ValueError("zfp cannot read it")
    return out.raw, int(size)


def _runs(data: bytes, bound: float, kind: int, dtype: np.dtype[Any], size: int) -> bytes:
    out, done, at = np.empty(size // dtype.itemsize, dtype), 0, 0
    while done < out.size:
        (components,) = struct.unpack_from("<Q", data, at)
        at += 8
        left = out.size - done
        if not 0 < components <= left:
            raise ValueError("a run has a wrong number of components")
        arrays = []
        for _ in range(components):
            values, taken = _array(data[at:], bound, kind, left // components, dtype.itemsize)
            arrays.append(np.frombuffer(values, dtype))
            at += taken
        if len({len(array) for array in arrays}) > 1:
            raise ValueError("components have different lengths")
        run = np.stack(arrays, axis=-1).reshape(-1)
        out[done : done + run.size] = run
        done += run.size
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes are left over")
    return out.tobytes()


def unpacked(data: bytes, argument: str, dtype: np.dtype[Any], size: int) -> bytes:
    """The `size` bytes of numbers of type `dtype` that `zfp:argument` has packed into `data`. Throws Error(FILE) if it
    cannot have packed them, or if the library is missing."""
    _library()
    kind, count = _TYPES.get(dtype.newbyteorder("<").str), size // dtype.itemsize
    if kind is None:
        raise ValueError(f"zfp packs no values of type {dtype}")
    if count == 0:
        raise ValueError("zfp packs nothing of no values")
    if data.startswith(_MARK):
        return _runs(data[len(_MARK) :], float(argument), kind, dtype, size)
    values, _ = _array(data, float(argument), kind, count, dtype.itemsize)
    if len(values) != size:
        raise ValueError(f"zfp unpacks {len(values)} bytes, expected {size}")
    return values
