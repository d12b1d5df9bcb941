"""Bounds of each value in the codec `bounded`: values from numbers of their logarithms, and their signs and zeros."""

import math

import numpy as np
from numpy.typing import NDArray

from .bounded_bits import BitModel, Bits

NEGATIVE, ZERO = 1, 2
_LEAST_POWER = -36
_MOST_BASE = 2**47
_MOST_WHOLE = 1100  # is infinity, as its opposite is zero
# 2^(f - 1/2) for f from -1/2 to 1/2. The bytes of the codec mean these numbers, so they never change.
_POLYNOMIAL = [
    float.fromhex(text)
    for text in (
        "0x1.6a09e667f3bcdp+0",
        "0x1.f5e46537ab942p-1",
        "0x1.5be298adf0359p-2",
        "0x1.41839eb878090p-4",
        "0x1.bdb696e89c63cp-7",
        "0x1.ee4fd268bfccep-10",
        "0x1.c8d752fa56d01p-13",
        "0x1.69e4a7cb98b65p-16",
        "0x1.f5b0fa77c6efcp-20",
        "0x1.3609b8c256fafp-23",
        "0x1.57abd0af446adp-27",
    )
]


def check_lattice(base: float, exponent: int) -> None:
    """Throws ValueError if no encoder has made it."""
    if not (_LEAST_POWER <= exponent <= 0 and abs(base) <= _MOST_BASE and base == math.trunc(base)):
        raise ValueError("the codec 'bounded' has no such logarithms")


def sizes_of(numbers: list[int], base: float, exponent: int) -> NDArray[np.float64]:
    """The sizes of values. Sums and products in this order have the bits of the encoder."""
    logarithms = np.array(numbers, np.int64) + int(base)
    whole = np.clip(logarithms >> -exponent, -_MOST_WHOLE, _MOST_WHOLE)
    f = (logarithms & ((1 << -exponent) - 1)).astype(np.float64) * math.ldexp(1.0, exponent) - 0.5
    total = np.full(len(numbers), _POLYNOMIAL[-1])
    for factor in reversed(_POLYNOMIAL[:-1]):
        total = total * f + factor
    half = whole >> 1
    with np.errstate(over="ignore", under="ignore"):
        result: NDArray[np.float64] = total * np.ldexp(1.0, half) * np.ldexp(1.0, whole - half)
    return result


class States:
    """Signs and zeros of the boxes of a chunk."""

    def __init__(self) -> None:
        self._zero = [BitModel() for _ in range(64)]
        self._negative = [[BitModel() for _ in range(64)] for _ in range(2)]

    def decoded(self, bits: Bits, flags: int, extents: tuple[int, int, int]) -> list[int]:
        """The state of each point of a box. Throws ValueError if no encoder has made `flags`."""
        zeros, signs, negative = flags & 1, flags & 2, flags & 4
        if flags > 7 or (signs and negative):
            raise ValueError("the codec 'bounded' has no such states")
        nx, ny, nz = extents
        states = [NEGATIVE if negative else 0] * (nx * ny * nz)
        if not zeros and not signs:
            return states
        for point in range(len(states)):
            context = states[point - 1] if point % nx > 0 else 0
            context |= states[point - nx] << 2 if point // nx % ny > 0 else 0
            context |= states[point - nx * ny] << 4 if point >= nx * ny else 0
            is_zero = bool(zeros) and bits.get(self._zero[context])
            if bits.get(self._negative[is_zero][context]) if signs else negative:
                states[point] = NEGATIVE | ZERO * is_zero
            else:
                states[point] = ZERO * is_zero
        return states
