"""The demo's pictures: where the time went, the histogram, the statistics."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch

# Colours of one palette (Okabe and Ito), which people with colour blindness can tell apart.
PARTS = {"compute": "#9aa5b1", "publish": "#0072b2", "wait": "#d55e00", "end": "#cc79a7"}
PART_NAMES = {
    "compute": "compute",
    "publish": "publish",
    "wait": "wait for room",
    "end": "analysis on the simulation's core",
}
TASK_COLOURS = ["#009e73", "#e69f00", "#56b4e9", "#f0e442", "#6a3d9a", "#8c564b", "#b2df8a", "#444444"]


def _style(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3)


def _save(figure, file):
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _steps_panel(axes, title, timings):
    """Seconds of every step, stacked."""
    iterations = [step.iteration for step in timings.steps]
    base = np.zeros(len(iterations))
    for part, colour in PARTS.items():
        heights = np.array([getattr(step, part) for step in timings.steps])
        axes.bar(iterations, heights, bottom=base, width=1.0, color=colour, linewidth=0)
        base += heights
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.set_xlabel("step")
    axes.margins(x=0)
    _style(axes)


def _bars(axes, lane, pieces, colour, limit):
    """Intervals (start, seconds) on a lane, cut at `limit`."""
    seen = [(start, min(seconds, limit - start)) for start, seconds in pieces if start < limit and start + seconds > 0]
    axes.broken_barh(seen, (lane - 0.38, 0.76), facecolors=colour, edgecolor="white", linewidth=0.3)


def _simulation_lane(axes, lane, timings, origin, limit):
    pieces = {part: [] for part in PARTS}
    for step in timings.steps:
        at = step.start - origin
        for part in PARTS:
            pieces[part].append((at, getattr(step, part)))
            at += getattr(step, part)
    for part, colour in PARTS.items():
        _bars(axes, lane, pieces[part], colour, limit)


def _timeline_panel(axes, runs, colours):
    """The same stretch of time in every run, from the beginning of the same step."""
    first = len(next(iter(runs.values())).steps) // 2
    limit = 3.2 * max(timings.per_step("total") for timings in runs.values())
    lanes = []
    for title, timings in runs.items():
        origin = timings.steps[min(first, len(timings.steps) - 1)].start
        _simulation_lane(axes, len(lanes), timings, origin, limit)
        lanes.append(title + "\nsimulation")
        if timings.per_step("end") < 0.5 * timings.busy / max(1, len(timings.steps)):
            for name, colour in colours.items():
                pieces = [(task.start - origin, task.seconds) for task in timings.tasks if task.name == name]
                _bars(axes, len(lanes), pieces, colour, limit)
            lanes.append(title + "\nserver")
    axes.set_yticks(range(len(lanes)), lanes)
    axes.invert_yaxis()
    axes.set_xlim(0, limit)
    axes.set_xlabel(f"seconds from the beginning of step {first}")
    _style(axes)


def _cut_outliers(panels, runs):
    """Keeps a few steps that something else on the machine held up from squeezing all others; says what is cut."""
    limit = 3 * max(timings.per_step("total") for timings in runs)
    for axes, timings in zip(panels, runs, strict=True):
        beyond = [step.total for step in timings.steps if step.total > limit]
        if beyond:
            axes.set_ylim(top=limit)
            text = f"cut: {len(beyond)} step{'s' if len(beyond) > 1 else ''}, up to {max(beyond):.1f} s"
            axes.text(0.99, 0.97, text, transform=axes.transAxes, ha="right", va="top", fontsize=8)


def _visible_tasks(runs):
    """Names in the order in which servers run them, without those too short to be seen."""
    seconds = {}
    for timings in runs.values():
        for task in timings.tasks:
            seconds[task.name] = seconds.get(task.name, 0.0) + task.seconds
    total = sum(seconds.values())
    return [name for name, spent in seconds.items() if spent > 0.002 * total]


def timeline(runs, file):
    """`runs`: title -> Timings. Above, every step; below, a stretch of a few steps side by side."""
    colours = {name: TASK_COLOURS[n % len(TASK_COLOURS)] for n, name in enumerate(_visible_tasks(runs))}
    figure = plt.figure(figsize=(12, 7.2), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.15])
    panels = above.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    for axes, (title, timings) in zip(panels, runs.items(), strict=True):
        _steps_panel(axes, title, timings)
    panels[0].set_ylabel("seconds per step")
    _cut_outliers(panels, runs.values())
    handles = [Patch(color=colour, label=PART_NAMES[part]) for part, colour in PARTS.items()]
    above.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    _timeline_panel(below.subplots(), runs, colours)
    if colours:
        tasks = [Patch(color=colour, label=name) for name, colour in colours.items()]
        below.legend(handles=tasks, loc="outside lower center", ncols=len(tasks), frameon=False, title="on the server")
    _save(figure, file)


def read_table(path):
    """A table of Sidestream's as a structured array."""
    return np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True))


def histogram(table, file):
    """Draws the distribution over time: one column per iteration, with numbers of cells on a logarithmic scale."""
    iterations, times = np.unique(table["iteration"]), np.unique(table["time"])
    counts = table["count"].reshape(len(iterations), -1).T
    first = table[table["iteration"] == iterations[0]]
    edges = np.append(first["lower"], first["upper"][-1])
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    shown = np.ma.masked_less_equal(counts, 0)
    step = times[1] - times[0] if len(times) > 1 else 1.0
    columns = np.append(times, times[-1] + step)
    cells = axes.pcolormesh(columns, edges, shown, norm="log", cmap="viridis", rasterized=True)
    figure.colorbar(cells, ax=axes, label="cells per bin")
    axes.set(xlabel="time", ylabel="field", title="Histogram of the field, every step")
    _style(axes)
    _save(figure, file)


def statistics(table, file):
    """Extremes, mean and spread over time."""
    time = table["time"]
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    axes.fill_between(time, table["minimum"], table["maximum"], color="#56b4e9", alpha=0.25, lw=0, label="range")
    low, high = (table["mean"] + sign * table["standard_deviation"] for sign in (-1, 1))
    axes.fill_between(time, low, high, color="#0072b2", alpha=0.35, lw=0, label="mean ± standard deviation")
    axes.plot(time, table["mean"], color="#0072b2", lw=2, label="mean")
    axes.axhline(0, color="0.6", lw=0.6)
    axes.set(xlabel="time", ylabel="field", title="Statistics of the field, every step", xlim=(time[0], time[-1]))
    axes.legend(frameon=False, ncols=3, loc="upper right")
    _style(axes)
    _save(figure, file)
