"""The figures of benchmarks/needed_levels: figures 8 to 10 of the paper."""

import matplotlib.pyplot as plt
from levels_table import cases, of_case
from style import BLUE, GREEN, GREY, ORANGE, RED, bare, save


def per_step(rows, file):
    """Draws the data moved in each step (above), and the times of solver and analysis (below), for each case. A
    simulation has three rows."""
    shown = cases(rows)
    simulations = list(dict.fromkeys(simulation for simulation, _ in shown))
    columns = max(sum(simulation == one for one, _ in shown) for simulation in simulations)
    figure, grid = plt.subplots(3 * len(simulations), columns, figsize=(3.2 * columns, 6.6 * len(simulations)),
                                layout="constrained", squeeze=False)  # fmt: skip
    for axes in grid.flat:
        axes.set_visible(False)
    for above, simulation in enumerate(simulations):
        analyses = [analysis for one, analysis in shown if one == simulation]
        panels = grid[3 * above : 3 * above + 3]
        for column, analysis in enumerate(analyses):
            case_per_step([row[column] for row in panels], rows, simulation, analysis)
        label(panels, last=above == len(simulations) - 1)
    save(figure, file)


def case_per_step(panels, rows, simulation, analysis):
    """One column: what moves, time with `move: all`, time with `move: needed`."""
    every, needed, job = of_case(rows, simulation, analysis)
    for axes in panels:
        axes.set_visible(True)
        bare(axes)
    for row, mark, colour, size in ((every, "s--", BLUE, 4), (needed, "o-", RED, 4), (job, "x:", GREEN, 5)):
        name = "job" if row is job else f"move: {row.move}"
        panels[0].plot([step.bytes / 1e6 for step in row.steps], mark, color=colour, ms=size, label=name)
    moved = max(step.bytes / 1e6 for row in (every, needed, job) for step in row.steps)
    panels[0].set(ylim=(0, 1.1 * moved), title=f"{simulation}\n{analysis}")
    most = max(1e3 * (step.solver + step.analysis) for row in (every, needed) for step in row.steps[1:])
    for axes, row in zip(panels[1:], (every, needed), strict=True):
        steps = range(1, len(row.steps))
        solver = [1e3 * row.steps[n].solver for n in steps]
        analysed = [1e3 * row.steps[n].analysis for n in steps]
        axes.stackplot(steps, solver, analysed, colors=[GREY, RED if row is needed else BLUE],
                       labels=["solver", "analysis"])  # fmt: skip
        axes.set(ylim=(0, 1.35 * most), title=f"move: {row.move}")  # with room for the legend


def label(panels, last):
    """Axes and legends of one simulation's rows."""
    panels[0][0].set_ylabel("MB to servers")
    panels[0][0].legend(frameon=False)
    for row in panels[1:]:
        row[0].set_ylabel("ms")
        row[0].legend(loc="upper right", fontsize=8, ncols=2, frameon=False)
    if last:
        for axes in panels[2]:
            axes.set_xlabel("step")


PANELS = (
    ("Data a step", "MB", lambda row: row.moved / 1e6),
    ("Most memory of a server", "MB resident", lambda row: row.memory / 1e6),
    ("Time to solution", "s", lambda row: row.seconds),
    ("Cost", "10⁻³ CPU-hours", lambda row: 1e3 * row.cost),
    ("Processing a step", "ms", lambda row: 1e3 * row.processing),
)


def comparison(rows, file):
    """Five measures of each case; a row of panels for each simulation."""
    shown = cases(rows)
    simulations = list(dict.fromkeys(simulation for simulation, _ in shown))
    figure, grid = plt.subplots(len(simulations), len(PANELS), figsize=(15, 3 * len(simulations) + 0.5),
                                layout="constrained", sharey="row", squeeze=False)  # fmt: skip
    for panels, simulation in zip(grid, simulations, strict=True):
        analyses = [analysis for one, analysis in shown if one == simulation]
        for axes, (title, unit, measure) in zip(panels, PANELS, strict=True):
            bars(axes, measure, [of_case(rows, simulation, analysis) for analysis in analyses])
            axes.set(title=title, xlabel=unit)
        panels[0].set_yticks(range(len(analyses)), analyses)
        panels[0].set_ylabel(simulation, fontweight="bold")
        panels[0].invert_yaxis()
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    save(figure, file)


def bars(axes, measure, found):
    """Three for each analysis: all, needed, in another job."""
    for shift, colour, column in zip((-0.27, 0, 0.27), (BLUE, RED, ORANGE), zip(*found, strict=True), strict=True):
        label = "job" if column[0].placement == "job" else f"move: {column[0].move}"
        places = [number + shift for number in range(len(column))]
        axes.barh(places, [measure(row) for row in column], 0.25, color=colour, label=label)
    axes.set_xlim(0, None)
    bare(axes)
