"""The figures of benchmarks/needed_only: figures 5 and 6 of the paper."""

import matplotlib.pyplot as plt
from style import BLUE, GREEN, RED, bare, save

MOVES = {"all": {"color": BLUE, "ls": "--", "marker": "s"}, "needed": {"color": RED, "ls": "-", "marker": "o"}}


def fractions(rows, options, file):
    """The part of the field that moves in each step."""
    figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
    fewest = min(row.servers for row in rows)
    names = {"slice": "slice", "isosurface": "isosurfaces " + ", ".join(f"{value:g}" for value in options.values)}
    for analysis, colour in (("slice", GREEN), ("isosurface", RED)):
        row = next(r for r in rows if (r.analysis, r.move, r.servers) == (analysis, "needed", fewest))
        axes.plot([100 * part for part in row.fraction], "o-", color=colour, lw=2, label=names[analysis])
    axes.axhline(100, color=BLUE, ls="--", lw=1.5, label="move: all")
    axes.set(xlabel="step", ylabel="per cent of the field moved", ylim=(0, 105))
    axes.set_title(f"What moves: {options.blocks} blocks of a {options.grid}³ grid")
    axes.legend(frameon=False, loc="center right")
    bare(axes)
    save(figure, file)


PANELS = (
    ("Most data to a server", "MB, whole run", lambda row: row.largest_bytes / 1e6),
    ("Most memory of a server", "MB resident", lambda row: row.largest_memory / 1e6),
    ("Time to solution", "s", lambda row: row.seconds),
    ("Cost", "10⁻³ CPU-hours", lambda row: 1e3 * row.cost),
)


def scaling(rows, file):
    """Four measures over the number of servers, a row of panels for each extract."""
    figure, grid = plt.subplots(2, 4, figsize=(13, 6), layout="constrained", sharex=True)
    for panels, analysis in zip(grid, ("isosurface", "slice"), strict=True):
        for axes, (title, unit, measure) in zip(panels, PANELS, strict=True):
            for move, style in MOVES.items():
                shown = sorted((r for r in rows if (r.analysis, r.move) == (analysis, move)), key=lambda r: r.servers)
                axes.plot([r.servers for r in shown], [measure(r) for r in shown], lw=2, label=f"move: {move}", **style)
            axes.set(ylabel=unit, ylim=(0, None), xticks=sorted({r.servers for r in rows}))
            axes.set_title(f"{analysis}\n{title}" if axes is panels[0] else f"\n{title}")
            bare(axes)
    for axes in grid[1]:
        axes.set_xlabel("servers (N)")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    save(figure, file)
