"""The figure of benchmarks/placements."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch
from placement_table import typical
from style import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, bare, save

COLOURS = [RED, BLUE, SKY, GREEN, PINK, ORANGE, "#6a3d9a", "#444444"]
GROUPS = {
    "CS": "CS: one simulating rank, servers on the other core",
    "CT": "CT: four ranks in all, two per core",
}


def _bars(axes, group, cases, runs, rows):
    """Run time of each case: what the slowest client computed, and what Sidestream added."""
    shown = [case for case in cases if case.group == group]
    labels = [case.name.replace(", ", ",\n") + "\n" + case.split for case in shown]
    computing = np.array([typical(runs[case.key]).computing for case in shown])
    whole = np.array([rows[case.key].run for case in shown])
    end = np.array([rows[case.key].end for case in shown])
    at = np.arange(len(shown))
    axes.bar(at, np.minimum(computing, whole), color=GREY, width=0.7)
    axes.bar(at, np.maximum(whole - computing, 0), bottom=computing, color=RED, width=0.7)
    axes.bar(at, end - whole, bottom=whole, color="none", edgecolor="0.45", hatch="///", width=0.7, linewidth=0.6)
    for x, case in enumerate(shown):
        axes.text(x, end[x], f"{rows[case.key].ratio:.2f}", ha="center", va="bottom", fontsize=9)
    base = next(rows[case.key].run for case in shown if case.placement == "off")
    axes.axhline(base, color="0.3", lw=0.8, ls="--", zorder=0)
    axes.set_xticks(at, labels, fontsize=8)
    axes.set_title(GROUPS[group])
    axes.set_ylabel("seconds")
    axes.set_ylim(0, 1.12 * max(end))
    bare(axes)


def _publishing(axes, cases, runs):
    """Cumulative distributions of what a step spent in Sidestream."""
    shown = [case for case in cases if case.group == "CS" and case.placement != "off"]
    for case, colour in zip(shown, COLOURS, strict=False):
        samples = np.sort([1e3 * seconds for record in runs[case.key] for seconds in record.published])
        share = np.arange(1, len(samples) + 1) / len(samples)
        axes.step(samples, share, where="post", color=colour, lw=1.8, label=f"{case.name} {case.split}")
    axes.set_xscale("log")
    axes.set(xlabel="milliseconds of a step in Sidestream", ylabel="share of steps", ylim=(0, 1.02))
    axes.set_title("CS: how long the simulation is held up")
    axes.legend(frameon=False, fontsize=8, loc="best")
    bare(axes)


def _spare(axes, cases, rows):
    """Draws the idle time of the servers."""
    shown = [case for case in cases if case.key in rows and rows[case.key].spare is not None]
    at = np.arange(len(shown))[::-1]
    values = [100 * rows[case.key].spare for case in shown]
    axes.barh(at, values, color=[BLUE if case.group == "CS" else ORANGE for case in shown], height=0.7)
    for y, value in zip(at, values, strict=True):
        axes.text(value + 1, y, f"{value:.0f}", va="center", fontsize=8)
    axes.set_yticks(at, [f"{case.name} {case.split}" for case in shown], fontsize=8)
    axes.set(xlabel="per cent of the run", xlim=(0, 100))
    axes.set_title("Spare time of servers")
    axes.legend(handles=[Patch(color=BLUE, label="CS"), Patch(color=ORANGE, label="CT")], frameon=False, fontsize=8)
    bare(axes)


def draw(cases, runs, rows, file):
    figure = plt.figure(figsize=(13, 9), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1])
    panels = above.subplots(1, 2)
    for group, axes in zip(GROUPS, panels, strict=True):
        _bars(axes, group, cases, runs, rows)
    handles = [
        Patch(color=GREY, label="compute"),
        Patch(color=RED, label="in Sidestream, or waiting for another rank"),
        Patch(facecolor="none", edgecolor="0.45", hatch="///", label="until the last analysis is done"),
    ]
    above.legend(
        handles=handles,
        loc="outside upper center",
        ncols=3,
        frameon=False,
        title="Run time; above each bar its ratio to a run without analyses on as many simulating ranks",
    )
    left, right = below.subplots(1, 2)
    _publishing(left, cases, runs)
    _spare(right, cases, rows)
    save(figure, file)
