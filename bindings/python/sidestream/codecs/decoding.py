"""Decodes the codecs of databases with NumPy. docs/database-format.md describes them."""

import struct
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from . import bounded, zfp


def _unzstd(data: bytes, size: int) -> bytes:
    if find_spec("zstandard") is None:
        raise Error("values are packed with zstd, which needs the package zstandard; install it", Code.FILE)
    import zstandard

    try:
        # zstandard allocates the length that a frame gives, whatever was asked for.
        if zstandard.frame_content_size(data) > size:
            raise ValueError(f"a frame of more than {size} bytes")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as problem:
        raise ValueError(str(problem)) from problem


def unzstd_at_most(data: bytes, most: int) -> bytes:
    """Unpacks a zstd frame of unknown but bounded length. Throws Error(FILE)."""
    if find_spec("zstandard") is None:
        return _unzstd(data, most)
    import zstandard

    try:
        size = zstandard.frame_content_size(data)
        if not 0 <= size <= most:
            raise Error(f"a frame of {size} bytes where at most {most} are expected; it is damaged", Code.FILE)
        return _unzstd(data, size)
    except (ValueError, zstandard.ZstdError) as problem:
        raise Error(f"a chunk cannot be decoded with zstd: {problem}", Code.FILE) from problem


def _ungzip(data: bytes, size: int) -> bytes:
    unpacked = zlib.decompressobj(31)
    return unpacked.decompress(data, size + 1)  # one byte more than expected is noticed, and nothing beyond it is
    # unpacked


def _unshuffle_bytes(data: bytes, width: int) -> bytes:
    return np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()


def _unshuffle_bits(data: bytes, width: int) -> bytes:
    count = len(data) // width // 8 * 8
    planes = np.frombuffer(data[: count * width], np.uint8).reshape(8 * width, -1)
    bits = np.unpackbits(planes, axis=1, bitorder="little")  # a row for each bit, a column for each element
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes() + data[count * width :]


def _widened(data: bytes, dtype: np.dtype[Any], width: int) -> bytes:
    return np.frombuffer(data, f"<f{width}").astype(dtype).tobytes()


def _unquantise(data: bytes, dtype: np.dtype[Any], width: int) -> bytes:
    low, step = struct.unpack_from("<dd", data)
    whole = np.frombuffer(data, f"<u{width}", offset=16).astype(np.float64)
    return (low + step * whole).astype(dtype).tobytes()


ROUNDED = ("bit-round:", "round:")  # values are reals as any others
NARROWER = {"half": 2, "single": 4}
QUANTISED = {"quantise-1": 1, "quantise-2": 2, "quantise-4": 4}
PACKED: dict[str, Callable[[bytes, int], bytes]] = {"zstd": _unzstd, "gzip": _ungzip}
SHUFFLED: dict[str, Callable[[bytes, int], bytes]] = {"byte-shuffle": _unshuffle_bytes, "bit-shuffle": _unshuffle_bits}


def _narrowed(codec: str, width: int, size: int) -> tuple[int, int]:
    """Returns the sizes of an element and of a chunk after a codec; for codecs that pack, those before it."""
    if codec in NARROWER:
        return NARROWER[codec], size // width * NARROWER[codec]
    if codec in QUANTISED:
        return QUANTISED[codec], size // width * QUANTISED[codec] + 16
    return width, size


def decoded(data: bytes, codecs: list[str], dtype: np.dtype[Any], size: int) -> bytes:
    """Decodes the `size` bytes of a chunk that went through `codecs`, first to last, when it was written. `dtype`, that
    of the variable, is little-endian. Throws Error(FILE) if the size is wrong, or a codec is not known."""
    widths, sizes = [dtype.itemsize], [size]
    for codec in codecs:
        width, length = _narrowed(codec, widths[-1], sizes[-1])
        widths.append(width)
        sizes.append(length)
    try:
        for n in reversed(range(len(codecs))):
            data = _undone(codecs[n], data, widths[n], widths[n + 1], sizes[n], dtype)
    except (zlib.error, struct.error, ValueError) as problem:
        raise Error(f"a chunk cannot be decoded with {', '.join(codecs)}: {problem}", Code.FILE) from problem
    if len(data) != size:
        raise Error(f"a chunk has {len(data)} bytes after decoding, expected {size}", Code.FILE)
    return data


def _undone(codec: str, data: bytes, width: int, narrow: int, size: int, dtype: np.dtype[Any]) -> bytes:
    if codec in PACKED:
        return PACKED[codec](data, size)
    if codec in SHUFFLED:
        return SHUFFLED[codec](data, width)
    if codec in NARROWER:
        return _widened(data, dtype, narrow)
    if codec.startswith(ROUNDED):
        return data
    if codec in QUANTISED:
        return _unquantise(data, dtype, narrow)
    if codec.startswith("zfp:"):
        return zfp.unpacked(data, codec.removeprefix("zfp:"), dtype, size)
    if codec.startswith("bounded:"):
        return bounded.unpacked(data, dtype, size)
    raise Error(f"values went through the codec '{codec}', which is not known here; use a newer Sidestream", Code.FILE)


def values_of(data: bytes | bytearray, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values in the byte order of this machine."""
    return np.frombuffer(data, dtype).astype(dtype.newbyteorder("="), copy=False)
