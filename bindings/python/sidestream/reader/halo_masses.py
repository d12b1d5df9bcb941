"""The number of halos by mass, and its plot."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Error


def mass_function(
    masses: ArrayLike, volume: float, bins: int = 20, limits: tuple[float, float] | None = None
) -> NDArray[Any]:
    """Counts masses in intervals of equal width in log10, as `mass_function` of the analysis `halos` does. Columns:
    `lower`, `upper`, `count`, `above` (from the lower end on, up to `limits`), `dn_dlog10m` (per volume and width)."""
    mass = np.asarray(masses, float)
    mass = mass[np.isfinite(mass) & (mass > 0)]
    if limits is None:
        limits = (float(mass.min()), float(mass.max())) if len(mass) else (1.0, 10.0)
    low, high = np.log10(limits[0]), np.log10(limits[1])
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, bins + 1)
    logs = np.log10(mass)
    counts = np.histogram(logs, edges)[0]
    table = np.empty(bins, [("lower", "f8"), ("upper", "f8"), ("count", "i8"), ("above", "i8"), ("dn_dlog10m", "f8")])
    table["lower"], table["upper"], table["count"] = 10 ** edges[:-1], 10 ** edges[1:], counts
    table["above"] = np.cumsum(counts[::-1])[::-1] + np.count_nonzero(logs > edges[-1])
    table["dn_dlog10m"] = counts / (volume * np.diff(edges))
    return table


def plot_mass_function(tables: Any, target: str | os.PathLike[str] | None = None, unit: str = "") -> Any:
    """Draws mass functions over each other: one table, or several by their labels, with the columns of `mass_function`
    (the files of the analysis, or what the function of that name returns). Returns Matplotlib's axes; with `target` the
    picture is written there."""
    if find_spec("matplotlib") is None:
        raise Error("plot_mass_function: matplotlib is not installed; install it")
    from matplotlib.figure import Figure

    if not isinstance(tables, dict):
        tables = {"": tables}
    axes = Figure(figsize=(6.4, 4.8), layout="constrained").subplots()
    for label, table in tables.items():
        if isinstance(table, str | os.PathLike):
            from .tables import read_csv

            table = read_csv(Path(table))
        shown = table["count"] > 0
        middle = np.sqrt(table["lower"] * table["upper"])[shown]
        density = table["dn_dlog10m"][shown]
        error = density / np.sqrt(table["count"][shown])  # Poisson error of the count
        axes.errorbar(middle, density, np.minimum(error, 0.999 * density), fmt="o-", markersize=3, label=label or None)
    axes.set(xscale="log", yscale="log", xlabel=f"mass{f' [{unit}]' if unit else ''}", ylabel="dn / dlog10 M")
    axes.grid(alpha=0.3)
    if any(tables):
        axes.legend()
    if target is not None:
        axes.figure.savefig(target, dpi=150)
    return axes
