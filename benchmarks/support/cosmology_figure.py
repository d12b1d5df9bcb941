"""The figure of benchmarks/cosmology_placements, in the manner of figures 8 and 9 of the Nyx paper."""

import matplotlib.pyplot as plt
from style import BLUE, GREEN, GREY, RED, bare, save

COLOURS = {"CT": BLUE, "CS": RED}


def _panel(axes, rows, name, every):
    shown = [row for row in rows if (row.analyses, row.every) == (name, every)]
    whole = next(row for row in shown if row.group == "in situ" and row.clients == 4)
    axes.axhline(whole.end, color=GREEN, lw=1.6, label="in situ, 4 ranks")
    axes.axhline(whole.alone, color=GREY, lw=1.6, ls=":", label="without analyses, 4 ranks")
    for group, clients, label in [
        ("CT", None, "CT, 4 ranks in all"),
        ("CS", 2, "CS, 2 simulate"),
        ("CS", 1, "CS, 1 simulates"),
    ]:
        line = sorted(
            (row for row in shown if row.group == group and clients in (None, row.clients)), key=lambda row: row.servers
        )
        marker = "s" if clients == 1 else "o"
        servers = [row.servers for row in line]
        colour = COLOURS[group]
        axes.plot(servers, [row.end for row in line], marker + "-", color=colour, label=label)
        axes.plot(servers, [row.model for row in line], marker + "--", color=colour, mfc="none", lw=1)
    axes.plot([], [], "k--", mfc="none", lw=1, label="model")
    axes.set_title(f"{name}, every {'step' if every == 1 else f'{every} steps'}")
    axes.set(xlabel="ranks that serve", ylabel="seconds to the end of the last analysis", xticks=[1, 2, 3])
    axes.set_ylim(0, None)
    bare(axes)


def draw(rows, file):
    names = list(dict.fromkeys(row.analyses for row in rows))
    everies = list(dict.fromkeys(row.every for row in rows))
    figure, panels = plt.subplots(
        len(names), len(everies), figsize=(5.5 * len(everies), 4 * len(names)), layout="constrained", squeeze=False
    )
    for line, name in zip(panels, names, strict=True):
        for axes, every in zip(line, everies, strict=True):
            _panel(axes, rows, name, every)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    save(figure, file)
