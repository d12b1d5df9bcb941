"""The figure of benchmarks/effective_throughput, in the manner of figure 6 of the report on the BEC code (2013)."""

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from style import BLUE, GREEN, GREY, ORANGE, RED, bare, save

COLOURS = {"render": RED, "extract": BLUE, "extract, one file": GREEN}


def _plain(axis, steps=(1, 2, 5)):
    """Numbers without powers of ten on a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(LogLocator(subs=range(2, 10)))
    axis.set_minor_formatter(NullFormatter())


def _methods(axes, methods):
    """Thin lines for all ways to write, a thick one for the best of each number of ranks."""
    names = list(dict.fromkeys(name for found in methods.values() for name in found))
    for name in names:
        line = [(ranks, found[name] / 1e6) for ranks, found in methods.items() if name in found]
        axes.plot(*zip(*line, strict=True), color=GREY, lw=0.8, label="ways to write" if name == names[0] else None)
    best = [(ranks, max(found.values()) / 1e6) for ranks, found in methods.items()]
    axes.plot(*zip(*best, strict=True), "s-", color=ORANGE, lw=2, label="the fastest of them")


def _measured(axes, methods, runs, modelled):
    _methods(axes, methods)
    for task, found in runs.items():
        axes.plot([run.ranks for run in found], [24 * run.cells**3 / run.seconds / 1e6 for run in found], "o-",
                  color=COLOURS[task], label=task)  # fmt: skip
    for task, line in modelled.items():
        axes.plot(*zip(*line, strict=True), "--", color=COLOURS.get(task, ORANGE), lw=1)
    axes.plot([], [], "k--", lw=1, label="model")
    ranks = list(methods)
    axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="effective throughput [MB/s]", title="this machine")
    axes.set_xticks(ranks, [str(n) for n in ranks])
    axes.minorticks_off()


def _predicted(axes, predicted, bands):
    ranks = [row.ranks for row in predicted]
    for name, colour, label in (
        ("written", ORANGE, "fastest way to write"),
        ("extract", BLUE, "extract"),
        ("render", RED, "render"),
    ):
        axes.fill_between(ranks, *([value / 1e9 for value in line] for line in bands[name]), color=colour, alpha=0.15,
                          lw=0)  # fmt: skip
        axes.plot(ranks, [getattr(row, name) / 1e9 for row in predicted], "o-", color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="effective throughput [GB/s]")
    axes.set_title("model: the report's jobs\non one large machine")
    axes.set_xticks(ranks, [f"{row.ranks:,}".replace(",", " ") for row in predicted], rotation=60, fontsize=8)
    axes.minorticks_off()


def _small(axes, small):
    for (mode, total), line in small.items():
        axes.plot([count for count, _ in line], [total / seconds / 1e6 for _, seconds in line],
                  "o-" if mode == "fsync" else "o--", color=BLUE, mfc=BLUE if mode == "fsync" else "white",
                  label={"fsync": "until the disk has them", "cached": "into the system's memory"}[mode])  # fmt: skip
    total = next(iter(small))[1]
    axes.set(xscale="log", yscale="log", xlabel="files", ylabel="throughput [MB/s]")
    _plain(axes.xaxis, (1,))
    axes.set_title(f"{total / 1e6:.1f} MB in small files,\nthis machine")


def draw(methods, runs, modelled, predicted, bands, small, file):
    figure, (first, second, third) = plt.subplots(1, 3, figsize=(12.5, 4.6), layout="constrained")
    _measured(first, methods, runs, modelled)
    _predicted(second, predicted, bands)
    _small(third, small)
    for axes in (first, second, third):
        _plain(axes.yaxis, (1,) if axes is second else (1, 2, 5))
        bare(axes)
        axes.legend(frameon=False, fontsize=8)
    save(figure, file)
