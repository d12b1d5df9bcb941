"""The style of the benchmarks' figures."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Okabe and Ito: people with colour blindness can tell them apart.
GREY, BLUE, RED, GREEN, ORANGE, SKY, PINK = "#9aa5b1", "#0072b2", "#d55e00", "#009e73", "#e69f00", "#56b4e9", "#cc79a7"

plt.rcParams.update({"font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left"})


def bare(*panels):
    """Without what is not data."""
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(length=3)


def save(figure, file):
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)
    plt.close(figure)
