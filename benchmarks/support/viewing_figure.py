"""Figures of benchmarks/visualisation, in the manner of figures 13 to 16 of Dorier et al. (TOPC 3, 2016)."""

import matplotlib.pyplot as plt
from style import BLUE, GREEN, GREY, RED, bare, save

COLOURS = {"isosurfaces": BLUE, "ray casting": RED}
LOOKS = {
    "no visualisation": (GREY, "-"),
    "connected, asks for nothing": (GREEN, "-"),
    "isosurfaces, left alone": (BLUE, "-"),
    "heavy use": (RED, "-"),
}
TITLES = {"inline": "inline: all ranks simulate and draw", "dedicated": "a dedicated core draws"}


def pictures(files, file):
    figure, panels = plt.subplots(1, len(files), figsize=(4.5 * len(files), 3.6), layout="constrained", squeeze=False)
    figure.get_layout_engine().set(h_pad=0.1)  # room for the tops of letters
    for axes, (letter, (title, path)) in zip(panels[0], zip("ab", files.items(), strict=False), strict=True):
        axes.imshow(plt.imread(path))
        axes.set_axis_off()
        axes.set_title(f"({letter}) {title}", pad=8)
    save(figure, file)


def scaling(rows, predicted, file):
    """`rows`: measured cases; `predicted`: (cores, seconds) by (layer, placement) on a large machine."""
    figure, (first, second) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
    for (layer, placement), line in _lines(rows).items():
        style = "o-" if placement == "inline" else "s--"
        first.plot(*zip(*line, strict=True), style, color=COLOURS[layer], label=f"{layer}, {placement}")
    for (layer, placement), line in predicted.items():
        style = "-" if placement == "inline" else "--"
        second.plot(*zip(*line, strict=True), style, color=COLOURS[layer], label=f"{layer}, {placement}")
    first.set(xlabel="ranks", ylabel="processor time of a picture [s]", title="measured")
    second.set(xscale="log", yscale="log", xlabel="cores", ylabel="time of a picture [s]")
    second.set_title("model: 3840 x 3840 x 400 points")
    first.set_xticks(sorted({row.ranks for row in rows}))
    first.set_ylim(0, None)
    for axes in (first, second):
        bare(axes)
        axes.legend(frameon=False, fontsize=8)
    save(figure, file)


def _lines(rows):
    lines = {}
    for row in rows:
        lines.setdefault((row.layer, row.placement), []).append((row.ranks, row.processor))
    return lines


def _told(run):
    return f"{1e3 * run.mean:.0f} ± {1e3 * run.deviation:.0f} ms, max/median {run.spread:.1f}"


def traces(runs, file):
    """`runs`: by (placement, scenario)."""
    placements = list(dict.fromkeys(placement for placement, _ in runs))
    figure, panels = plt.subplots(1, len(placements), figsize=(11, 4.6), sharey=True, layout="constrained")
    for axes, placement in zip(panels, placements, strict=True):
        for (of, scenario), run in runs.items():
            if of == placement:
                colour, dashes = LOOKS[scenario]
                axes.plot(range(1, len(run.iterations) + 1), run.iterations, dashes, color=colour, lw=1.2,
                          label=f"{scenario}: {_told(run)}")  # fmt: skip
        axes.set(xlabel="iteration", title=TITLES[placement], yscale="log")
        bare(axes)
        axes.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.08))
    panels[0].set_ylabel("time of an iteration [s]")
    save(figure, file)


def auto(runs, every, file):
    """`runs`: by (placement, with pictures or not)."""
    figure, panels = plt.subplots(2, 2, figsize=(9, 5.6), sharex=True, sharey=True, layout="constrained")
    for (placement, drawn), run in runs.items():
        axes = panels[list(TITLES).index(placement)][int(drawn)]
        how = f"a picture every {every[placement]} iterations" if drawn else "without pictures"
        axes.bar(range(1, len(run.iterations) + 1), run.iterations, width=1.0, color=RED if drawn else GREY)
        axes.axhline(run.mean, color="k", lw=0.8, ls="--")
        axes.set_title(f"{placement}, {how}\n{_told(run)}", fontsize=9)
        bare(axes)
    for axes in panels[1]:
        axes.set_xlabel("iteration")
    for axes in panels[:, 0]:
        axes.set_ylabel("time [s]")
    save(figure, file)
