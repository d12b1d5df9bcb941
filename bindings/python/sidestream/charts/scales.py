"""Ticks of axes: their positions, and their labels in plain numbers and characters."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Between these limits the widths and the ratios of ranges are finite, also with room at both ends.
_LEAST, _MOST = 1e-300, 4e307
_SUPERSCRIPTS = str.maketrans("0123456789-+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺")
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Ticks:
    """Positions of ticks, their texts, and positions of smaller ticks without text. The axis' label gives exponent and
    offset."""

    at: list[float]
    texts: list[str]
    minor: list[float]
    exponent: int = 0  # texts are in units of 10 to this power
    offset: float = 0.0  # texts are relative to this number


def superscript(number: int) -> str:
    """Writes a whole number as an exponent."""
    return str(number).translate(_SUPERSCRIPTS)


def power_of_ten(exponent: int) -> str:
    """Writes 10 to a power in its shortest readable form."""
    return f"{10.0**exponent:g}" if -4 < exponent < 4 else f"10{superscript(exponent)}"


def plain(number: float, most: int = 15) -> str:
    """Writes a number with at most `most` digits, and with a power of ten if it is very large or small."""
    digits, _, exponent = f"{number:.{most}g}".partition("e")
    power = f"10{superscript(int(exponent))}" if exponent else ""
    return power if digits == "1" and power else f"{digits}×{power}" if power else digits


def drawable(values: NDArray[np.float64], logarithmic: bool) -> NDArray[np.float64]:
    """Returns the values, with NaN for those that have no place on an axis."""
    with np.errstate(invalid="ignore"):
        fits = np.abs(values) < _MOST
        if logarithmic:
            fits &= values >= _LEAST
    return np.where(fits, values, np.nan)


def widened(low: float, high: float, room: float, logarithmic: bool) -> tuple[float, float]:
    """Adds room at both ends of a range, as a fraction of its length."""
    if not logarithmic:
        return low - room * (high - low), high + room * (high - low)
    factor = 10.0 ** (room * (math.log10(high) - math.log10(low)))
    return max(low / factor, 1e-307), min(high * factor, 1.7e308)


def usable(low: float, high: float, logarithmic: bool) -> tuple[float, float]:
    """Returns a range of nonzero width. If both ends are equal, it is widened."""
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        return (1.0, 10.0) if logarithmic else (0.0, 1.0)
    if logarithmic:
        return (low, high) if high > low * (1 + 1e-12) else (low / 2, high * 2)
    largest = max(abs(low), abs(high))
    if high - low > max(1e-13 * largest, _LEAST):
        return low, high
    room = 0.5 * abs(low) if largest > _LEAST else 0.5
    return low - room, high + room


def _fewest_digits(values: list[float], step: float) -> int:
    """Returns the least number of decimals that shows all values exactly."""
    for digits in range(17):
        if all(abs(round(v, digits) - v) < 1e-6 * step for v in values):
            return digits
    return 17


def linear_ticks(low: float, high: float, most: int) -> Ticks:
    """Returns between 2 and `most` ticks at round numbers of equal distance."""
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    finer: tuple[int, int, float] = (0, 1, rough)
    for step in (n * p for p in (power / 10, power, 10 * power) for n in _STEPS):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if 1 <= last - first < most:
            return _with_texts(first, step, last - first + 1)
        if most <= last - first < 1000:
            finer = (first, last, step)
    # No round distance gives so few ticks, so take two round numbers that are far from each other.
    first, last, step = finer
    return _with_texts(first, step, 2, last - first)


def _with_texts(first: int, step: float, count: int, every: int = 1) -> Ticks:
    """Writes multiples of `step`: `count` of them from the one with the number `first`, in distances of `every`."""
    at = [n * step for n in range(first, first + count * every, every)]
    step *= every
    largest = max(abs(v) for v in at)
    exponent = math.floor(math.log10(largest)) if largest >= 1e5 or largest < 1e-3 else 0
    scale = 10.0**exponent
    digits = _fewest_digits([v / scale for v in at], step / scale)
    offset = 0.0
    if digits > 6:  # a small part of large numbers
        offset = at[0]
        inner = _with_texts(0, step, count)  # differences between ticks would have lost most of their digits
        return Ticks(at, inner.texts, [], inner.exponent, offset)
    texts = [f"{round(v / scale, digits) + 0.0:.{digits}f}".replace("-", "−") for v in at]
    return Ticks(at, texts, [], exponent, offset)


def logarithmic_ticks(low: float, high: float, most: int) -> Ticks:
    """Returns ticks at powers of ten. Few decades also get 2 and 5 times these; a small part of a decade gets linear
    ticks."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    decades = list(range(first, last + 1))
    every = max(1, -(-len(decades) // most))
    minor = [n * 10.0**e for e in range(first - 1, last + 1) for n in range(2, 10)] if every == 1 else []
    minor = [v for v in minor if low <= v <= high]
    if len(decades) >= 3 or (len(decades) == 2 and most < 4):
        shown = decades[::every]
        return Ticks([10.0**e for e in shown], [power_of_ten(e) for e in shown], minor)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        at = [n * 10.0**e for e in range(first - 1, last + 1) for n in factors]
        at = [v for v in at if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        if 2 <= len(at) <= max(most, 2):
            return Ticks(at, [_short(v) for v in at], minor)
    plain = linear_ticks(low, high, most)
    return Ticks(plain.at, plain.texts, [], plain.exponent, plain.offset)


def _short(value: float) -> str:
    """Writes a digit times a power of ten."""
    exponent = math.floor(math.log10(value) + 1e-9)
    factor = round(value / 10.0**exponent)
    if -4 < exponent < 4:
        return f"{factor * 10.0**exponent:g}"
    return f"{factor}×10{superscript(exponent)}" if factor > 1 else f"10{superscript(exponent)}"


def is_even(edges: np.ndarray) -> bool:
    """True if intervals have equal widths, false if they have equal ratios. Two edges count as equal widths."""
    if len(edges) < 3 or not np.all(edges > 0):
        return True
    widths, ratios = np.diff(edges), np.diff(np.log(edges))
    return bool(np.ptp(widths) / np.mean(widths) <= np.ptp(ratios) / np.mean(ratios))
