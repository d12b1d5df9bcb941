"""Halos in situ beside friends of friends, for examples/universe/mass_function: figures, table and picture."""

import csv
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pictures

BORDER = 300  # particles that a halo should have to be compared


@dataclass
class Universe:
    """Masses in solar masses/h, falling, of one run at its end."""

    particles: int  # along each axis
    box: float  # Mpc/h
    particle: float  # mass of one
    cells: np.ndarray  # masses of Sidestream's halos
    friends: np.ndarray  # of groups of at least ten particles
    redshift: float

    @classmethod
    def read(cls, folder, particles, box):
        halos = pictures.table(Path(folder) / "halos.csv")
        last = halos["iteration"] == halos["iteration"].max() if halos else slice(None)
        unit = pictures.CRITICAL * pictures.MATTER
        particle = unit * (box / particles) ** 3
        groups = pictures.table(Path(folder) / "friends.csv")
        members = groups["members"][groups["iteration"] == groups["iteration"].max()] if groups else np.zeros(0)
        return cls(
            particles,
            box,
            particle,
            _falling(halos["mass"][last] * unit if halos else np.zeros(0)),
            _falling(members * particle),
            1 / halos["time"][last][0] - 1 if halos else float("nan"),
        )


@dataclass
class Row:
    particles: int
    mass: float  # solar masses/h
    members: float  # particles in such a halo
    cells: int  # halos of at least that mass, in situ
    friends: int  # the same of friends of friends


def _falling(values):
    return np.sort(values)[::-1]


def above(masses, least):
    return int((masses >= least).sum())


def table(universes):
    """Rows of counts above masses that are equal steps apart."""
    top = max(masses[0] for u in universes for masses in (u.cells, u.friends) if len(masses))
    least = 10 * min(u.particle for u in universes)
    masses = [step for power in range(8, 16) for step in (1.0 * 10**power, 3.0 * 10**power) if least <= step <= top]
    return [
        Row(u.particles, mass, mass / u.particle, above(u.cells, mass), above(u.friends, mass))
        for u in universes
        for mass in masses
        if mass >= 10 * u.particle
    ]


def write_csv(rows, file):
    with Path(file).open("w", newline="") as out:
        writer = csv.DictWriter(out, list(asdict(rows[0])))
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def markdown(rows):
    lines = [
        "| particles | M, solar masses/h | of particles | in situ | friends of friends | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = f"{row.cells / row.friends:.2f}" if row.friends else ""
        members = f"{row.members:.0f}"
        lines.append(f"| {row.particles}³ | {row.mass:.0e} | {members} | {row.cells} | {row.friends} | {ratio} |")
    return "\n".join(lines) + "\n"


def sentence(universe):
    mass = BORDER * universe.particle
    found, other = above(universe.cells, mass), above(universe.friends, mass)
    ratio = f"{found / other:.2f}" if other else "none"
    return f"halos of at least {BORDER} particles: {found} in situ, {other} by friends of friends, ratio {ratio}"


def _ratio(numerator, denominator, masses):
    return np.array([above(numerator, m) / max(above(denominator, m), 1) for m in masses])


def draw(universes, options, file):
    plt = pictures.plt
    figure, (axes, below) = plt.subplots(
        2, 1, figsize=(7, 6.4), sharex=True, height_ratios=[2.2, 1], layout="constrained"
    )
    finest = universes[-1]
    for colour, u in zip(pictures.COLOURS, universes, strict=False):
        for masses, line, name in [(u.cells, "-", "in situ, cells"), (u.friends, "--", "friends of friends")]:
            label = f"{u.particles}³, {name}"
            steps = np.arange(1, len(masses) + 1) / u.box**3
            axes.step(masses, steps, where="post", ls=line, color=colour, label=label)
            shown = [m for m in np.geomspace(10 * u.particle, 1e16, 200) if above(finest.friends, m) >= 5]
            below.plot(shown, _ratio(masses, finest.friends, shown), ls=line, color=colour)
        axes.axvline(BORDER * u.particle, color=colour, lw=0.8, ls=":")
        below.axvline(BORDER * u.particle, color=colour, lw=0.8, ls=":")
    below.axhline(1, color="0.6", lw=0.8, zorder=0)
    axes.set(xscale="log", yscale="log", ylabel="halos heavier than M per (Mpc/h)³")
    axes.set_title(f"Halos of a box of {finest.box:g} Mpc/h at z = {finest.redshift:.2f}", loc="left")
    axes.legend(frameon=False, title=f"dotted: {BORDER} particles", fontsize=9)
    below.set(xlabel="M [solar masses/h]", ylim=(0, 1.5))
    below.set_ylabel(f"ratio to {finest.particles}³,\nfriends of friends")
    for panel in (axes, below):
        pictures.style(panel)
    pictures.save(figure, file)
