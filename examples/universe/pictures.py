"""The pictures of the universe's demo."""

import csv
from pathlib import Path

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

CRITICAL = 2.775e11  # density, h^2 solar masses by Mpc^3
MATTER = 0.3  # what `universe` takes unless told
COLOURS = ["#0072b2", "#e69f00", "#d55e00"]


def table(file):
    """Columns of a table of Sidestream's: numbers where all are, else texts."""
    with Path(file).open() as lines:
        rows = list(csv.DictReader(lines))
    columns = {}
    for name in rows[0] if rows else []:
        values = [row[name] for row in rows]
        try:
            columns[name] = np.array([float(value) for value in values])
        except ValueError:
            columns[name] = np.array(values)
    return columns


def _redshift(scale_factor):
    return 1 / scale_factor - 1


def _title(columns, rows):
    return f"z = {_redshift(columns['time'][rows][0]):.2f}"


def _short(value, _):
    """1 of 1, 0.5 of 0.5, 2 x 10^12 of 2e12."""
    if 1e-3 < value < 1e4:
        return f"{value:g}"
    power = int(np.floor(np.log10(value) + 1e-9))
    first = f"{value / 10.0**power:.0f}"
    return rf"$10^{{{power}}}$" if first == "1" else rf"${first}\times 10^{{{power}}}$"


def style(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3)
    if axes.get_xscale() == "log":
        # A number at 1, 2 and 5 of each decade: more would lie upon each other.
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(_short))
        axes.xaxis.set_minor_formatter(NullFormatter())


def save(figure, file):
    figure.savefig(file, dpi=150)
    plt.close(figure)


def frames(results, box):
    """A picture of each look, in results/frames: gas along z, halos as circles. Gives files."""
    folder = Path(results) / "frames"
    folder.mkdir()
    halos = table(Path(results) / "halos.csv")
    files = []
    for number, file in enumerate(sorted(Path(results).glob("density-*.h5"))):
        with h5py.File(file) as data:
            density, time = data["baryon_density"][()], float(data.attrs["time"])
        files.append(folder / f"frame-{number:05}.png")
        _frame(density, time, halos, number, box, files[-1])
    return files


def _frame(density, time, halos, number, box, file):
    figure, axes = plt.subplots(figsize=(7.2, 6.2), layout="constrained")
    # A look shows the whole box: its means along z stay within a decade and a half.
    picture = axes.imshow(
        np.maximum(density, 1e-3),
        origin="lower",
        extent=(0, box, 0, box),
        cmap="inferno",
        norm=LogNorm(0.25, 8),
        interpolation="bilinear",
    )
    bar = figure.colorbar(picture, ax=axes, label="gas, mean along z / cosmic mean", shrink=0.85, extend="both")
    bar.set_ticks([0.25, 0.5, 1, 2, 4, 8], labels=["0.25", "0.5", "1", "2", "4", "8"])
    bar.minorticks_off()
    here = halos["iteration"] == number if halos else np.zeros(0, bool)
    if here.any():
        _rings(axes, halos, here, box, box / density.shape[0])
    count = int(here.sum())
    axes.set(xlabel="x [Mpc/h]", ylabel="y [Mpc/h]", xlim=(0, box), ylim=(0, box))
    axes.set_title(f"z = {_redshift(time):.2f}, {count} halo{'' if count == 1 else 's'}", loc="left")
    figure.savefig(file, dpi=110)
    plt.close(figure)


def _rings(axes, halos, here, box, cell):
    """A circle round each halo, of thrice its volume's radius; one over an edge of the box is there at both."""
    radius = 3 * np.cbrt(halos["cells"][here] * 3 / (4 * np.pi)) * cell
    x, y = halos["mass_x"][here], halos["mass_y"][here]
    across = [(dx, dy) for dx in (-box, 0, box) for dy in (-box, 0, box)]
    places = np.concatenate([np.column_stack([x + dx, y + dy]) for dx, dy in across])
    size = np.tile(2 * radius, len(across))
    rings = EllipseCollection(
        *(size, size, np.zeros(len(size))),
        units="xy",
        offsets=places,
        offset_transform=axes.transData,
        fc="none",
        ec="#7fe5e5",
        lw=0.7,
        alpha=0.9,
    )
    axes.add_collection(rings)


def _some(numbers, count=3):
    """First, middle and last."""
    numbers = sorted(numbers)
    if not numbers:
        return []
    return [numbers[n] for n in np.unique(np.linspace(0, len(numbers) - 1, count).astype(int))]


def mass_functions(results, file, box):
    """Draws the number of halos above a mass, at three times."""
    halos = table(Path(results) / "halos.csv")
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    numbers, counts = np.unique(halos["iteration"], return_counts=True) if halos else ([], [])
    for colour, number in zip(
        COLOURS, _some([n for n, c in zip(numbers, counts, strict=True) if c >= 5]), strict=False
    ):
        of = halos["iteration"] == number
        # Densities are in units of the mean, masses in that times (Mpc/h)^3.
        mass = np.sort(halos["mass"][of])[::-1] * CRITICAL * MATTER
        axes.step(mass, np.arange(1, len(mass) + 1) / box**3, where="post", color=colour, label=_title(halos, of))
    axes.set(xscale="log", yscale="log", xlabel="M [solar masses/h]", ylabel="halos heavier than M per (Mpc/h)³")
    axes.set_title(f"Halos by mass, a box of {box:g} Mpc/h", loc="left")
    if axes.lines:
        axes.legend(frameon=False)
    style(axes)
    save(figure, file)


def mergers(results, file, tracks=10):
    """Draws the growth of the heaviest halos: their main branches, and halos that merged into them."""
    history = table(Path(results) / "history.csv")
    figure, axes = plt.subplots(figsize=(7.5, 5), layout="constrained")
    if history:
        alive = history["halo"] >= 0
        mass, redshift = history["mass"] * CRITICAL * MATTER, _redshift(history["time"])
        last = alive & (history["iteration"] == history["iteration"].max())
        heaviest = history["track"][last][np.argsort(-mass[last])][:tracks]
        colours = plt.colormaps["tab10"](np.arange(len(heaviest)) % 10)
        for track, colour in zip(heaviest, colours, strict=True):
            own = alive & (history["track"] == track)
            axes.plot(redshift[own], mass[own], "-", color=colour, lw=1.6, zorder=3)
            axes.plot(redshift[own][-1:], mass[own][-1:], "o", color=colour, ms=5, zorder=4)
            ended = (history["event"] == "merged") & (history["other_track"] == track)
            for branch in history["track"][ended]:
                _branch(axes, history, alive, branch, own, mass, redshift, colour)
        axes.invert_xaxis()
    axes.set(yscale="log", xlabel="redshift", ylabel="M [solar masses/h]")
    axes.set_title(f"The {tracks} heaviest halos, and what merged into them", loc="left")
    style(axes)
    save(figure, file)


def _branch(axes, history, alive, branch, into, mass, redshift, colour):
    """A thin line for a halo that merged, on to what it became part of."""
    rows = np.flatnonzero(alive & (history["track"] == branch))
    after = np.flatnonzero(into & (history["iteration"] > history["iteration"][rows[-1]]))
    rows = np.append(rows, after[:1])
    axes.plot(redshift[rows], mass[rows], ":", color=colour, lw=1)
    axes.plot(redshift[rows[:1]], mass[rows[:1]], ".", color=colour, ms=3)


def spectra(results, file):
    found, linear = table(Path(results) / "spectrum.csv"), table(Path(results) / "linear.csv")
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for colour, number in zip(COLOURS, _some(np.unique(found["iteration"])), strict=False):
        of = found["iteration"] == number
        axes.plot(found["k"][of], found["power"][of], "-", color=colour, label=_title(found, of))
    axes.plot(linear["k"], linear["linear"], "--", color="0.4", label="linear theory at the end")
    axes.set(xscale="log", yscale="log", xlabel="k [h/Mpc]", ylabel="P(k) [(Mpc/h)³]")
    axes.set_title("Spectrum of matter", loc="left")
    axes.legend(frameon=False)
    style(axes)
    save(figure, file)


def fluxes(results, file):
    distribution = table(Path(results) / "flux-pdf.csv")
    lines = table(Path(results) / "flux-spectrum.csv")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    # Before redshift 5 next to no light gets through this gas.
    late = distribution["iteration"][distribution["time"] > 1 / 6]
    for colour, number in zip(COLOURS, _some(np.unique(late)), strict=False):
        of = (distribution["iteration"] == number) & (distribution["axis"] == "x")
        label = _title(distribution, of)
        middle = 0.5 * (distribution["lower"][of] + distribution["upper"][of])
        left.plot(middle, distribution["density"][of], "-", color=colour, label=label)
        of = (lines["iteration"] == number) & (lines["axis"] == "x")
        right.plot(lines["k"][of], lines["dimensionless"][of], "-", color=colour, label=label)
    left.set(xlabel="flux", ylabel="distribution", yscale="log")
    left.set_title("Transmitted flux along x", loc="left")
    right.set(xlabel="k [h/Mpc]", ylabel="k P(k) / π", xscale="log", yscale="log")
    right.set_title("Spectrum of the flux along lines of sight", loc="left")
    for axes in (left, right):
        axes.legend(frameon=False)
        style(axes)
    save(figure, file)
