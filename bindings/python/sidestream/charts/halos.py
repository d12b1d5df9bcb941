"""Charts of halos: their mass function, and their tracks over time."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import Error
from .given import Given
from .how import How
from .page import Axis, Page
from .scales import drawable, plain, usable
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
    lower, upper = (drawable(given.numbers(name), False) for name in ("lower", "upper"))
    values = drawable(given.numbers(column), False)
    shown = values[values > 0]
    if not len(shown):
        page.remarks.append("the chart is empty: the table has no halo")
    name, unit = _QUANTITIES[column]
    ends = np.concatenate([lower, upper])
    ends = ends[np.isfinite(ends)]
    if across and np.any(ends <= 0):
        across = False
        page.remarks.append("not all masses are above 0, so their axis is not logarithmic")
    low, high = usable(float(ends.min()), float(ends.max()), across) if len(ends) else (1.0, 10.0)
    page.across = Axis(how.x_label or "halo mass M", _mass_unit(titles), low, high, across)
    most = float(shown.max()) if len(shown) else 1.0
    # The range begins lower, so that a bar of one halo is visible.
    least = float(shown.min()) / 2 if len(shown) else 0.5
    page.up = Axis(how.y_label or name, unit, least if up else 0.0, most * (1.3 if up else 1.05), up)
    bottom = least if up else 0.0
    drawn = np.maximum(values - bottom, 0)
    page.axes.bar(lower, drawn, upper - lower, bottom, align="edge", color="#4477aa", **_edge(page, lower, upper))
    return f"{how.label or titles.title(default='halos')}: halos by mass"


def _edge(page: Page, lower: Any, upper: Any) -> dict[str, Any]:
    """Returns the look of the edges of bars: white between wide bars, none between narrow ones. Bars without a width
    become lines."""
    if np.all(lower == upper):
        return {"edgecolor": "#4477aa", "linewidth": 1.6 * page.thin}
    width = 0.72 * 0.75 * page.width / len(lower)  # about, in points
    return {"edgecolor": "white", "linewidth": 0.6 * page.thin if width > 6 * page.thin else 0.0}


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
        return max((mass for mass in self.masses if np.isfinite(mass)), default=0.0)


_BEGINS = ("first", "birth", "split")


def lives_of(given: Given) -> dict[int, _Life]:
    """Reads all tracks of the last run from the rows of all iterations: a resumed run numbers its tracks from 0
    again."""
    lives: dict[int, _Life] = {}
    names = ("time", "track", "halo", "mass", "other_track")
    columns = [drawable(given.numbers(name), False).tolist() for name in names]
    rows = zip(*columns, given.columns["event"].tolist(), strict=True)
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
    known = part if part > 0 else 0.0  # NaN, too, gets the smallest dot
    return float((3.0 + max(room - 3.0, 0.0) * np.cbrt(known)) ** 2)


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
    times = [t for t in times if np.isfinite(t)]
    low, high = usable(min(times), max(times), False) if times else (0.0, 1.0)
    if not times:
        page.remarks.append("the chart is empty: the table has no halo")
    room = 0.04 * (high - low)
    page.across = Axis(how.x_label or "time", "", low - room, high + room)
    texts = {lane[track]: str(track) for track in tracks}
    page.up = Axis(how.y_label or "track of a halo", "", 0.0, max(1.0, float(len(tracks))), ticks=texts)
    axes = page.axes
    merged = None
    for track in tracks:
        life = lives[track]
        axes.plot(life.times, [lane[track]] * len(life.times), color="#78808c", linewidth=1.4 * page.thin, zorder=2)
        if life.ended and life.other in lane:
            ends = [life.times[-1], life.end], [lane[track], lane[life.other]]
            (merged,) = axes.plot(*ends, color="#cc6677", linewidth=1.4 * page.thin, zorder=2)
    where = [
        (t, lane[track], m) for track in tracks for t, m in zip(lives[track].times, lives[track].masses, strict=True)
    ]
    if where:
        x, y, masses = zip(*where, strict=True)
        sizes = [_dot(page, m / most if most > 0 else 0.0, len(tracks)) for m in masses]
        axes.scatter(x, y, sizes, color="#4477aa", linewidths=0, zorder=3)
        _legend(page, most, len(tracks), _mass_unit(titles))
    if merged is not None:
        page.handles.append((merged, "merges into"))
    return f"{how.label or titles.title(default='halos')}: halos over time"


def _legend(page: Page, most: float, lanes: int, unit: str) -> None:
    from matplotlib.lines import Line2D

    for part in (1.0, 1 / 64) if most > 0 else ():
        mass = f"mass {plain(part * most, 3)}{f' {unit}' if unit else ''}"
        size = np.sqrt(_dot(page, part, lanes))
        dot: Any = Line2D([], [], linestyle="none", marker="o", markersize=size, color="#4477aa", markeredgewidth=0)
        page.handles.append((dot, mass))
