"""The figures of benchmarks/needed_levels: figures 8 to 10 of the paper."""

import matplotlib.pyplot as plt
from levels_table import cases, of_case
from style import BLUE, GREEN, GREY, ORANGE, RED, bare, save


def per_step(rows, file):
    """What moves in each step (above), and how long solver and analysis take (below), of each case."""
    shown = cases(rows)
    figure, grid = plt.subplots(3, len(shown), figsize=(3.2 * len(shown), 8), layout="constrained", squeeze=False)
    for column, (simulation, analysis) in enumerate(shown):
        every, needed, job = of_case(rows, simulation, analysis)
        axes = grid[0][column]
        axes.plot([step.bytes / 1e6 for step in every.steps], "s--", color=BLUE, ms=4, label="move: all")
        axes.plot([step.bytes / 1e6 for step in needed.steps], "o-", color=RED, ms=4, label="move: needed")
        axes.plot([step.bytes / 1e6 for step in job.steps], "x:", color=GREEN, ms=5, label="job")
        axes.set(ylim=(0, None), title=f"{simulation}\n{analysis}")
        bare(axes)
        most = max(1e3 * (step.solver + step.analysis) for row in (every, needed) for step in row.steps[1:])
        for below, row in ((1, every), (2, needed)):
            axes = grid[below][column]
            steps = range(1, len(row.steps))
            solver = [1e3 * row.steps[n].solver for n in steps]
            analysed = [1e3 * row.steps[n].analysis for n in steps]
            axes.stackplot(steps, solver, analysed, colors=[GREY, RED if row is needed else BLUE],
                           labels=["solver", "analysis"])  # fmt: skip
            axes.set(ylim=(0, 1.05 * most), title=f"move: {row.move}")
            bare(axes)
        grid[2][column].set_xlabel("step")
    grid[0][0].set_ylabel("MB to servers")
    grid[0][0].legend(frameon=False)
    for below in (1, 2):
        grid[below][0].set_ylabel("ms")
        grid[below][0].legend(frameon=False, loc="upper left", fontsize=8)
    save(figure, file)


PANELS = (
    ("Data a step", "MB", lambda row: row.moved / 1e6),
    ("Most memory of a server", "MB resident", lambda row: row.memory / 1e6),
    ("Time to solution", "s", lambda row: row.seconds),
    ("Cost", "10⁻³ CPU-hours", lambda row: 1e3 * row.cost),
    ("Processing a step", "ms", lambda row: 1e3 * row.processing),
)


def comparison(rows, file):
    """Five measures of each case."""
    shown = cases(rows)
    figure, panels = plt.subplots(1, len(PANELS), figsize=(15, 4.2), layout="constrained")
    for axes, (title, unit, measure) in zip(panels, PANELS, strict=True):
        for place, (simulation, analysis) in enumerate(shown):
            for shift, row, colour in zip((-0.27, 0, 0.27), of_case(rows, simulation, analysis), (BLUE, RED, ORANGE),
                                          strict=True):  # fmt: skip
                label = ("job" if row.placement == "job" else f"move: {row.move}") if place == 0 else None
                axes.bar(place + shift, measure(row), 0.25, color=colour, label=label)
        axes.set(title=title, ylabel=unit)
        axes.set_xticks(range(len(shown)), [f"{s}, {a}" for s, a in shown], rotation=40, ha="right", fontsize=8)
        bare(axes)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    save(figure, file)
