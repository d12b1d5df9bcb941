"""The pictures of the demo of simulations/bec."""

import csv
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

COLUMNS = 6
COLOURS = {"incompressible": "#0072b2", "compressible": "#d55e00", "quantum": "#009e73"}


def table(file):
    """Columns of a table of numbers."""
    with Path(file).open() as lines:
        rows = list(csv.DictReader(lines))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def reports(lines):
    """Columns of the lines that `bec --report` prints."""
    found = [line for line in lines if re.match(r"step \d+:", line)]
    words = [re.findall(r"([a-z]+):? +([-+.0-9E]+)", line) for line in found]
    return {name: np.array([float(dict(line)[name]) for line in words]) for name, _ in (words or [[]])[0]}


def stretch(folder, coarse, fine, file):
    """Draws figure 7 of the report on the BEC code: frames of output every `coarse` steps in black, of output every
    `fine` steps in dashed green."""
    steps = range(0, coarse + 1, fine)
    rows = len(steps) // COLUMNS + 1
    figure, all_axes = plt.subplots(rows, COLUMNS, figsize=(2 * COLUMNS, 2.15 * rows), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.04)
    for axes in all_axes.flat:
        axes.set_axis_off()
    for step, axes in zip(steps, all_axes.flat, strict=False):
        axes.imshow(plt.imread(folder / f"frame-{step:05}.png"))
        axes.set_title(f"step {step}", fontsize=10)
        axes.add_patch(_border(axes, step % coarse == 0))
    last = all_axes.flat[-1]
    looks = {"facecolor": "none", "linewidth": 2}
    handles = [
        Patch(edgecolor="black", label=f"every {coarse} steps", **looks),
        Patch(edgecolor="#1a9641", linestyle="--", label=f"every {fine} steps", **looks),
    ]
    last.legend(handles=handles, loc=(0.02, 0.45), frameon=False, fontsize=10, title="seen with output")
    _colours(last)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _colours(axes):
    """Explains the colours of the cores."""
    bar = axes.inset_axes((0.12, 0.2, 0.7, 0.06))
    bar.imshow(np.linspace(-1, 1, 256)[np.newaxis], cmap="twilight", aspect="auto", extent=(-1, 1, 0, 1))
    bar.set(yticks=[], xticks=[-1, 0, 1], xticklabels=["−π", "0", "π"])
    bar.tick_params(labelsize=8, length=2)
    bar.set_title("phase", fontsize=10)


def _border(axes, is_coarse):
    colour, line = ("black", "-") if is_coarse else ("#1a9641", "--")
    return Rectangle(
        (0, 0), 1, 1, transform=axes.transAxes, fill=False, edgecolor=colour, linestyle=line, linewidth=2, clip_on=False
    )


def energies(found, file):
    """Draws energies by step."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, label, colour in [
        ("total", "total", "black"),
        ("interaction", "interaction", "#cc79a7"),
        ("gradient", "kinetic and quantum", "#0072b2"),
    ]:
        axes.plot(found["step"], found[name], color=colour, label=label)
    axes.set(xlabel="step", ylabel="energy", ylim=(0, None))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def parts(folder, which=-1):
    """Energies by shell of wave numbers, at look number `which`: k, and an array for each part.

    The power of a shell, times its modes, is what its waves contribute to the sum of squares over all cells. Central
    differences see the wave number k as sin k; the divergence and the curl see the same, so their ratio is exact."""

    def shells(name):
        found = table(Path(folder) / f"{name}.csv")
        of = found["iteration"] == np.unique(found["iteration"])[which]
        return {column: found[column][of] for column in ("k", "k_weighted")}, found["modes"][of] * found["power"][of]

    k, root = shells("quantum")
    kinetic = sum(shells(f"flow-{axis}")[1] for axis in "xyz")
    along = shells("divergence")[1]
    across = sum(shells(f"rotation-{axis}")[1] for axis in "xyz")
    return k["k"], {
        "incompressible": kinetic * across / (along + across),
        "compressible": kinetic * along / (along + across),
        "quantum": k["k_weighted"] ** 2 * root,
    }


def spectra(folder, file):
    """Draws the spectra of the energies at the start and at the end."""
    figure, both = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
    for axes, which, title in zip(both, (0, -1), ("at the start", "at the end"), strict=True):
        k, energy = parts(folder, which)
        for name, values in energy.items():
            axes.plot(k, values, color=COLOURS[name], label=name)
        _slope(axes, k, energy["incompressible"])
        axes.set(xscale="log", yscale="log", xlabel="wave number [1/cell]", title=title)
        # A number at 1, 2 and 5 of each decade: more would lie upon each other.
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.spines[["top", "right"]].set_visible(False)
    both[0].set_ylabel("energy in a shell")
    both[0].legend(frameon=False)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def _slope(axes, k, values):
    """A line of k^-3, the spectrum of vortex cores, beside the curve at large wave numbers."""
    some = (k > 0.4) & (k < 1.6)
    if not some.any():
        return
    line = 3 * values[some][0] * (k[some] / k[some][0]) ** -3.0
    axes.plot(k[some], line, "--", color="0.4", linewidth=1)
    axes.annotate("$k^{-3}$", (k[some][0], line[0]), xytext=(6, 4), textcoords="offset points", color="0.3")
