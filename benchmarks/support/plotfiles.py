"""A plotfile of three levels with 200 boxes, written as the tests do."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "python"))
import amrex_files

SIDE = 32  # of a box


@dataclass(frozen=True)
class _Hill(amrex_files.Plot):
    """A density that falls from 4 in the middle of the domain, and two other fields."""

    def value(self, variable, level, lo, hi):
        cells = self.cells[0] * 2**level
        axes = [((np.arange(a, b) + 0.5) / cells - 0.5) ** 2 for a, b in zip(lo, hi, strict=True)]
        distance = axes[0][None, None, :] + axes[1][None, :, None] + axes[2][:, None, None]
        return 4 * np.exp(-8 * distance) + variable


def _boxes(first, counts):
    return amrex_files.cubes(first, counts, SIDE)


def write_levels(path):
    """Writes it; returns how many boxes it has, and how many bytes one of its fields."""
    boxes = (_boxes((0, 0, 0), (4, 4, 4)), _boxes((2, 2, 2), (4, 4, 4)), _boxes((6, 6, 6), (4, 6, 3)))
    plot = _Hill(low=(0.0, 0.0, 0.0), spacing=(1 / 128,) * 3, cells=(128,) * 3, ratios=(2, 2), boxes=boxes)
    amrex_files.write_plot(plot, path)
    count = sum(map(len, boxes))
    return count, count * SIDE**3 * 8
