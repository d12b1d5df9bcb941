"""Isosurfaces of plotfiles that have the range of each box. Only boxes are read that may have a part of the surface,
and the result is the same."""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from analysing import analyse, same
from pairs import few

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import amrex_files
from amrex_files import Plot

SIDE = 16


def boxes(first, counts):
    return amrex_files.cubes(first, counts, SIDE)


@dataclass(frozen=True)
class Hills(Plot):
    """A smooth field. With `steps` it jumps between boxes, so that surfaces lie between boxes and in none of them."""

    steps: bool = False
    holes: bool = False

    def value(self, variable, level, lo, hi):
        cells = self.cells[0] * int(np.prod(self.ratios[:level], dtype=int))
        axes = [(np.arange(a, b) + 0.5) / cells for a, b in zip(lo, hi, strict=True)]
        x, y, z = axes[0][None, None, :], axes[1][None, :, None], axes[2][:, None, None]
        if self.steps:
            x, y, z = (np.floor(4 * axis) / 4 + 0 * axis for axis in (x, y, z))
        values = np.sin(7 * x + variable) * np.cos(5 * y) + z
        if self.holes:
            values = np.where(np.abs(values - 0.5) < 0.05, np.nan, values)
        return values.astype(np.float32).astype(np.float64) if self.format == amrex_files.LITTLE32 else values


ONE = Hills(low=(0.0,) * 3, spacing=(1 / 64,) * 3, cells=(64,) * 3, ratios=(), boxes=(boxes((0, 0, 0), (4, 4, 4)),))
LEVELS = replace(ONE, ratios=(2,), boxes=(*ONE.boxes, boxes((1, 1, 2), (3, 4, 2))))
PLOTS = {
    "one": ONE, "steps": replace(ONE, steps=True), "levels": LEVELS, "steps of levels": replace(LEVELS, steps=True),
    "single": replace(LEVELS, format=amrex_files.LITTLE32),
    "moved": replace(ONE, first=(0, 0, 0), low=(-3.0, 1.0, 0.0)),
}  # fmt: skip


def read(said):
    return float(re.search(r"([\d.]+) MiB of values", said)[1])


def surfaces(*values, variable="density"):
    tasks = [
        f'  - isosurface: {{variable: {variable}, values: [{v}], file: "s{n}.vtp"}}\n' for n, v in enumerate(values)
    ]
    return "analyses:\n" + "".join(tasks)


NODES = (3, "{mode: nodes, buffer: 32 MiB, servers: 1}")


@pytest.mark.parametrize(
    ("name", "ranks", "placement"),
    few(
        sorted(PLOTS),
        [NODES, (1, "inline")],
        kept=[("steps of levels", *NODES)],
    ),
)
def test_what_is_found(tmp_path, name, ranks, placement):
    stated = amrex_files.write_plot(replace(PLOTS[name], version=3), tmp_path / "stated")
    unstated = amrex_files.write_plot(replace(PLOTS[name], version=2), tmp_path / "unstated")
    for n, values in enumerate([(1.95,), (-0.2, 0.25, 0.5), (7.0,)]):
        less, one = analyse(tmp_path, f"a{n}", stated, surfaces(*values), ranks=ranks, placement=placement)
        more, other = analyse(tmp_path, f"b{n}", unstated, surfaces(*values), ranks=ranks, placement=placement)
        same(one, other, len(values))
        assert read(less) <= read(more)
        if values == (1.95,) and not PLOTS[name].steps:
            assert 0 < read(less) < 0.8 * read(more)
        if values == (7.0,):
            assert read(less) < 0.3 * read(more)


@pytest.mark.test_all
def test_with_others(tmp_path):
    """All boxes are read for another analysis, for a derived variable, which has no range, and for boxes with NaN."""
    plot = amrex_files.write_plot(replace(ONE, version=3), tmp_path / "plt")
    whole = 64**3 * 8 / 2**20
    said, _ = analyse(tmp_path, "all", plot, surfaces(1.95) + "  - statistics: {variable: density}\n")
    assert read(said) == pytest.approx(whole, abs=0.051)
    derived = "derived: {twice: {expression: 2 * density}}\n"
    said, _ = analyse(tmp_path, "twice", plot, derived + surfaces(3.9, variable="twice"))
    assert read(said) == pytest.approx(whole, abs=0.051)
    said, _ = analyse(tmp_path, "once", plot, surfaces(1.95))
    assert read(said) < 0.9 * whole
    holes = amrex_files.write_plot(replace(ONE, version=3, holes=True), tmp_path / "holes")
    said, one = analyse(tmp_path, "nan", holes, surfaces(0.4))
    unstated = amrex_files.write_plot(replace(ONE, version=2, holes=True), tmp_path / "unstated")
    same(one, analyse(tmp_path, "nan2", unstated, surfaces(0.4))[1], 1)


def test_extremes_in_few_digits(tmp_path):
    """A maximum that was rounded down when it was written still counts as above the surface."""
    values = ONE.value(0, 0, (0, 0, 0), (64, 64, 64))
    written, digits = next((x, n) for n in range(1, 9) if (x := float(f"{values.max():.{n}e}")) < values.max())
    value = (written + values.max()) / 2
    stated = amrex_files.write_plot(replace(ONE, version=3, digits=digits), tmp_path / "stated")
    unstated = amrex_files.write_plot(replace(ONE, version=2), tmp_path / "unstated")
    _, one = analyse(tmp_path, "a", stated, surfaces(value))
    _, other = analyse(tmp_path, "b", unstated, surfaces(value))
    same(one, other, 1)
    assert b'NumberOfPoints="0"' not in (one / "s0.vtp").read_bytes()
