"""Charts of halos: their mass function, and their tracks over time."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Error
from .given import Given
from .how import How
from .page import Axis, Page
from .scales import usable
from .titles import Titles

_QUANTITIES = {
    "count": ("number of halos", ""),
    "above": ("number of halos above a mass", ""),
    "dn_dlog10m": ("dn / dlog₁₀M", "1/mesh unit³"),
}


def _mass_unit(titles: Titles) -> str:
    """Returns the unit of masses, which are sums of the field times the volumes of cells."""
    unit = titles.unit()
    return f"{unit} × mesh unit³" if unit else ""


def draw_mass_function(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws a bar for each interval of mass. Returns a description for the caption."""
    column = how.quantity_of(given, "count", tuple(_QUANTITIES))
    across, up = how.logarithmic(True, True)
    lower, upper = given.columns["lower"].astype(float), given.columns["upper"].astype(float)
    values = given.columns[column].astype(float)
    shown = values[values > 0]
    name, unit = _QUANTITIES[column]
    low, high = usable(float(lower.min()), float(upper.max()), across) if len(lower) else (1.0, 10.0)
    page.across = Axis(how.x_label or "halo mass M", _mass_unit(titles), low, high, across)
    most = float(shown.max()) if len(shown) else 1.0
    # The range begins lower, so that a bar of one halo is visible.
    least = float(shown.min()) / 2 if len(shown) else 0.5
    page.up = Axis(how.y_label or name, unit, least if up else 0.0, most * (1.3 if up else 1.05), up)
    bottom = least if up else 0.0
    drawn = np.maximum(values - bottom, 0)
    page.axes.bar(lower, drawn, upper - lower, bottom, align="edge", color="#4477aa", edgecolor="white",
                  linewidth=0.6 * page.thin)  # fmt: skip
    return f"{how.label or titles.title(default='halos')}: halos by mass"


@dataclass
class _Life:
    """A track: the times and masses of its halo, and its end."""

    times: list[float] = field(default_factory=list)
    masses: list[float] = field(default_factory=list)
    end: float = 0.0
    other: int = -1
    ended: bool = False

    @property
    def most(self) -> float:
        return max(self.masses, default=0.0)


_BEGINS = ("first", "birth", "split")


def lives_of(given: Given) -> dict[int, _Life]:
    """Reads all tracks of the last run from the rows of all iterations: a resumed run numbers its tracks from 0
    again."""
    lives: dict[int, _Life] = {}
    names = ("time", "track", "halo", "mass", "other_track", "event")
    rows = zip(*(given.columns[name].tolist() for name in names), strict=True)
    for time, of_time in itertools.groupby(rows, lambda row: row[0]):
        now = list(of_time)
        if any(event in _BEGINS and int(track) in lives for _, track, _, _, _, event in now):
            lives = {}
        for _, track, halo, mass, other, event in now:
            life = lives.setdefault(int(track), _Life())
            life.end = float(time)
            if int(halo) < 0:
                life.ended, life.other = True, int(other)
                continue
            if event == "split":
                life.other = -1
            life.times.append(float(time))
            life.masses.append(float(mass))
    return {track: life for track, life in lives.items() if life.times}


def lanes_of(lives: dict[int, _Life], most: int) -> list[int]:
    """Orders the heaviest tracks from the bottom up, each below those that merged into it."""
    heaviest = sorted(lives, key=lambda track: (-lives[track].most, track))[:most]
    children = {track: [t for t in heaviest if t != track and lives[t].other == track] for track in heaviest}
    lanes: list[int] = []

    def add(track: int) -> None:
        stack = [track]
        while stack:
            lane = stack.pop()
            if lane not in lanes:
                lanes.append(lane)
                stack += reversed(children[lane])

    for track in heaviest:
        if lives[track].other not in children:
            add(track)
    for track in heaviest:  # tracks that merge into each other
        add(track)
    return lanes


def _dot(page: Page, part: float, lanes: int) -> float:
    """Returns the area of a halo's dot in square points. `part`: its mass as a fraction of the largest one."""
    room = min(2.0 * page.nominal, 0.6 * page.height / max(lanes, 1)) * 0.72
    return float((3.0 + max(room - 3.0, 0.0) * np.cbrt(max(part, 0.0))) ** 2)


def draw_history(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws a lane for each of the heaviest tracks. Dots grow with the mass; a line leads to the track that it merged
    into."""
    if how.log not in (None, "none"):
        raise Error(f"{given.named}: halos over time have no logarithmic axis; leave out log")
    lives = lives_of(given)
    tracks = lanes_of(lives, how.tracks)
    lane = {track: n + 0.5 for n, track in enumerate(tracks)}
    most = max((lives[track].most for track in tracks), default=0.0)
    times = [t for track in tracks for t in (*lives[track].times, lives[track].end)]
    low, high = usable(min(times), max(times), False) if times else (0.0, 1.0)
    room = 0.04 * (high - low)
    page.across = Axis(how.x_label or "time", "", low - room, high + room)
    texts = {lane[track]: str(track) for track in tracks}
    page.up = Axis(how.y_label or "track of a halo", "", 0.0, max(1.0, float(len(tracks))), ticks=texts)
    axes = page.axes
    for track in tracks:
        life = lives[track]
        axes.plot(life.times, [lane[track]] * len(life.times), color="#78808c", linewidth=1.4 * page.thin, zorder=2)
        if life.ended and life.other in lane:
            ends = [life.times[-1], life.end], [lane[track], lane[life.other]]
            axes.plot(*ends, color="#cc6677", linewidth=1.4 * page.thin, zorder=2)
    where = [
        (t, lane[track], m) for track in tracks for t, m in zip(lives[track].times, lives[track].masses, strict=True)
    ]
    if where:
        x, y, masses = zip(*where, strict=True)
        sizes = [_dot(page, m / most if most > 0 else 0.0, len(tracks)) for m in masses]
        axes.scatter(x, y, sizes, color="#4477aa", linewidths=0, zorder=3)
        _legend(page, most, len(tracks), _mass_unit(titles))
    return f"{how.label or titles.title(default='halos')}: halos over time"


def _legend(page: Page, most: float, lanes: int, unit: str) -> None:
    from matplotlib.lines import Line2D

    for part in (1.0, 1 / 64):
        mass = f"mass {part * most:.3g}{f' {unit}' if unit else ''}"
        size = np.sqrt(_dot(page, part, lanes))
        dot: Any = Line2D([], [], linestyle="none", marker="o", markersize=size, color="#4477aa", markeredgewidth=0)
        page.handles.append((dot, mass))
    page.handles.append((Line2D([], [], color="#cc6677", linewidth=1.4 * page.thin), "merges into"))
