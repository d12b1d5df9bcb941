"""Building blocks of the streams of modules/amr_codec/stream-format.md."""

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.decoding import unzstd_at_most
from ..errors import Code, Error


def damaged(what: str) -> Error:
    return Error(f"a stream of a tree's values {what}; it is damaged", Code.FILE)


class Parts:
    """Reads a stream sequentially."""

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
    """Unpacks data that follow a byte with the method. Throws Error(FILE) unless the result has `size` bytes."""
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
    """Reads numbers of the given lengths, at most 64 bits, that begin at bits `places`; the lowest bits come first."""
    padded = np.frombuffer(data + bytes(16), np.uint8)
    at, shift = places >> 3, (places & 7).astype(np.uint64)
    window = np.lib.stride_tricks.sliding_window_view(padded, 9)[at]
    low = np.ascontiguousarray(window[:, :8]).view("<u8").reshape(-1)
    high = window[:, 8].astype(np.uint64)
    word = (low >> shift) | np.where(shift > 0, high << ((np.uint64(64) - shift) & np.uint64(63)), np.uint64(0))
    lengths = lengths.astype(np.uint64)
    mask = np.where(lengths == 0, np.uint64(0), np.uint64(2**64 - 1) >> ((np.uint64(64) - lengths) & np.uint64(63)))
    return word & mask
