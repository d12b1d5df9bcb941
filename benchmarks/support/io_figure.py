"""Figures of benchmarks/io_methods and benchmarks/io_sweeps."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from style import BLUE, GREEN, GREY, ORANGE, RED, SKY, bare, save

MODES = {"cached": "into the system's memory", "fsync": "until the disk has it"}


def _bars(axes, found, mode, title):
    rows = [row for (_, of), row in found.items() if of == mode]
    at = np.arange(len(rows))[::-1]
    ours = [row.method.startswith("database") for row in rows]
    axes.barh(at + 0.19, [row.mean / 1e6 for row in rows], 0.36, color=[SKY if o else "#cfd6dd" for o in ours])
    axes.barh(at - 0.19, [row.minimum / 1e6 for row in rows], 0.36, color=[BLUE if o else GREY for o in ours])
    axes.plot([row.initial / 1e6 for row in rows], at, "|", color=RED, ms=11, mew=2)
    room = max(max(row.mean, row.initial) for row in rows) / 1e6
    for y, row in zip(at, rows, strict=True):
        axes.text(room * 1.02, y, f"{row.ratio:.2f}", va="center", fontsize=8)
    axes.set_yticks(at, [row.method for row in rows], fontsize=8)
    axes.set(xlabel="MB/s", xlim=(0, room * 1.14), title=title)
    bare(axes)


def methods(runs, file):
    """`runs`: (title, figures) of each run, a line of panels each."""
    modes = [mode for mode in MODES if any(mode == of for _, of in runs[0][1])]
    height = 0.9 + sum(0.27 * len({m for m, _ in found}) + 0.8 for _, found in runs)
    figure, panels = plt.subplots(len(runs), len(modes), figsize=(11, height), squeeze=False, layout="constrained")
    for line, (title, found) in zip(panels, runs, strict=True):
        for axes, mode in zip(line, modes, strict=True):
            _bars(axes, found, mode, f"{title}, {MODES[mode]}")
    handles = [
        Patch(color=GREY, label="minimum: by the slowest rank"),
        Patch(color="#cfd6dd", label="mean over ranks"),
        Patch(color=BLUE, label="the same of Sidestream"),
        Line2D([], [], color=RED, marker="|", ls="", ms=11, mew=2, label="first step"),
    ]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=4,
        frameon=False,
        title="Right of the bars: raw's time / time",
    )
    save(figure, file)


def sweeps(panels, file):
    """`panels`: (title, name of what varies, [(value, {line: figure})]) of each sweep."""
    colours = [BLUE, GREY, GREEN, ORANGE, RED, SKY]
    columns = 2
    lines = -(-len(panels) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(11, 3.3 * lines), squeeze=False, layout="constrained")
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (title, name, rows) in zip(grid.flat, panels, strict=False):
        for colour, line in zip(colours, rows[0][1], strict=False):
            values = [cells[line] for _, cells in rows]
            axes.plot([str(value) for value, _ in rows], values, "o-", color=colour, label=line)
        axes.set(title=title, xlabel=name)
        most = max(max(cells.values()) for _, cells in rows)
        axes.set_ylim(0, 1.08 * most)
        axes.legend(frameon=False, fontsize=8)
        bare(axes)
    save(figure, file)
