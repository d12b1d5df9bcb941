"""The order in which the codec `bounded` predicts the points of a box, and from which others."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

Extents = tuple[int, int, int]
Tap = tuple[int, int]  # offset, factor
Rule = list[tuple[int, bool]]  # of each axis: weight, and whether two points on each side count


@dataclass
class Run:
    """Points with the same taps, `step` apart; the first is the number `x` of its line."""

    first: int
    x: int
    count: int
    step: int
    taps: list[Tap]
    near: list[int]
    line: int
    odd: int


_CLASSES = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1))


def levels_of(extents: Extents) -> int:
    return max((extent - 1).bit_length() for extent in extents)


def _axis_taps(at: int, extent: int, spacing: int, stride: int, cubic: bool) -> tuple[list[Tap], bool]:
    """Taps along an axis, the nearest first, with factors times 16, and whether they are on both sides."""
    one = spacing * stride
    right = at + spacing < extent
    left3, right3 = cubic and at >= 3 * spacing, cubic and at + 3 * spacing < extent
    if not right:
        return ([(-one, 24), (-3 * one, -8)] if left3 else [(-one, 16)]), False
    if left3 and right3:
        return [(-one, 9), (one, 9), (-3 * one, -1), (3 * one, -1)], True
    if left3:
        return [(-one, 12), (one, 6), (-3 * one, -2)], True
    if right3:
        return [(-one, 6), (one, 12), (3 * one, -2)], True
    return [(-one, 8), (one, 8)], True


def _joined(axes: dict[int, tuple[list[Tap], bool]], rule: Rule) -> tuple[list[Tap], list[int]]:
    """Joins the taps of axes by their weights, and lists the nearest points; only axes with both sides, if any."""
    both = any(is_both for _, is_both in axes.values())
    chosen = [axis for axis in sorted(axes) if axes[axis][1] == both]
    total, left = sum(rule[axis][0] for axis in chosen), 64
    taps, near = [], []
    for axis in chosen:
        weight = left if axis == chosen[-1] else 64 * rule[axis][0] // total
        left -= weight
        taps += [(offset, factor * weight) for offset, factor in axes[axis][0]]
        near += [offset for offset, _ in axes[axis][0][: 2 if both else 1]]
    return taps, near


def runs_of_level(extents: Extents, level: int, rule: Rule) -> Iterator[Run]:
    """All runs of a level; 0 is the finest, its spacing is 2^level."""
    nx, ny, nz = extents
    spacing, step = 1 << level, 2 << level
    for odd in _CLASSES:
        x0, y0, z0 = (spacing * is_odd for is_odd in odd)
        for z, y in product(range(z0, nz, step), range(y0, ny, step)):
            axes = {}
            if odd[1]:
                axes[1] = _axis_taps(y, ny, spacing, nx, rule[1][1])
            if odd[2]:
                axes[2] = _axis_taps(z, nz, spacing, nx * ny, rule[2][1])
            line = -step * nx if y > y0 else -step * nx * ny if z > z0 else 0
            first = (z * ny + y) * nx
            if not odd[0]:
                yield Run(first, 0, (nx - 1) // step + 1, step, *_joined(axes, rule), line, sum(odd))
                continue
            for x in range(x0, nx, step):
                axes[0] = _axis_taps(x, nx, spacing, 1, rule[0][1])
                yield Run(first + x, x, 1, step, *_joined(axes, rule), line, sum(odd))
