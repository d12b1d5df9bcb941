"""Charts of `sidestream advise --table`: the time of an iteration over the number of ranks that serve.

The crossing of the simulation's time and the servers' is the best split of Friesen et al., "In situ and in-transit
analysis of cosmological simulations" (2016), section 5.2 and figures 8 to 11.
"""

from typing import Any

import numpy as np

from .curves import COLOURS, DASHES, Numbers, axis_of
from .given import Given
from .how import How
from .page import Axis, Page
from .scales import drawable
from .titles import Titles

COLUMNS = ("placement", "options", "clients", "servers", "seconds", "doubt", "simulation", "analysis", "measured")
_GREY = "#666666"


def _line(page: Page, x: Numbers, y: Numbers, name: str, style: dict[str, Any]) -> None:
    order = np.argsort(x, kind="stable")
    (handle,) = page.axes.plot(x[order], y[order], linewidth=1.6 * page.thin, **style)
    page.handles.append((handle, name))


def _kinds(given: Given) -> list[tuple[str, Any]]:
    """Placements with and without groups, and their rows; of splits with several groupings the fastest one counts."""
    grouped = np.array(["groups:" in str(text) for text in given.columns["options"]])
    placements = given.columns["placement"]
    servers, seconds = given.numbers("servers"), given.numbers("seconds")
    kinds = []
    for placement in dict.fromkeys(placements.tolist()):
        for with_groups in (False, True):
            rows = np.flatnonzero((placements == placement) & (grouped == with_groups))
            best = {}
            for row in rows[np.argsort(-seconds[rows], kind="stable")]:
                best[servers[row]] = row
            if best:
                name = f"{placement}, groups" if with_groups else str(placement)
                kinds.append((name, np.array(sorted(best.values(), key=lambda row: servers[row]))))
    return kinds


def _top(seconds: Numbers, measured: Any) -> float:
    """The upper end of the axis. Splits that take many times as long as the best one would flatten all others."""
    usual = max(4.0 * float(np.nanmin(seconds, initial=np.inf)), float(np.nanmax(seconds[measured], initial=0.0)))
    top = 1.1 * min(usual, float(np.nanmax(seconds, initial=0.0)))
    return top if np.isfinite(top) and top > 0 else 1.0


def _draw_kinds(page: Page, given: Given, kinds: list[tuple[str, Any]]) -> None:
    servers, seconds, doubt = (given.numbers(name) for name in ("servers", "seconds", "doubt"))
    for n, (name, rows) in enumerate(kinds):
        colour, x, y = COLOURS[n % len(COLOURS)], servers[rows], drawable(seconds[rows], page.up.logarithmic)
        factor = 1 + doubt[rows]
        low = np.maximum(y / factor, page.up.low)
        page.axes.fill_between(x, low, y * factor, color=colour, alpha=0.12, linewidth=0)
        marker = "s" if len(rows) == 1 else "o"
        dashes = DASHES[n // len(COLOURS) % len(DASHES)]
        look = {"color": colour, "linestyle": dashes, "marker": marker, "markersize": 3.2 * page.thin}
        _line(page, x, y, name, look)


def _draw_measured(page: Page, given: Given) -> None:
    rows = given.numbers("measured") > 0
    if not rows.any():
        return
    (handle,) = page.axes.plot(
        given.numbers("servers")[rows],
        drawable(given.numbers("seconds")[rows], page.up.logarithmic),
        linestyle="none",
        marker="o",
        markersize=7 * page.thin,
        markerfacecolor="none",
        markeredgecolor="black",
    )
    page.handles.append((handle, "measured"))


def draw_advice(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws the predicted time of every split by placement, with its doubt, and both parts of the first placement that
    dedicates ranks. Returns a description for the caption."""
    servers, seconds = given.numbers("servers"), given.numbers("seconds")
    kinds = _kinds(given)
    across, up = how.logarithmic(False, False)
    page.across = axis_of(how.x_label or "ranks that serve", "", [servers], across, 0.04)
    label = how.y_label or "time of an iteration"
    if up:
        page.up = axis_of(label, "s", [seconds], True, 0.05)
    else:
        page.up = Axis(label, "s", 0.0, _top(seconds, given.numbers("measured") > 0))
    _draw_kinds(page, given, kinds)
    dedicated = next((rows for name, rows in kinds if name != "inline" and "groups" not in name), None)
    if dedicated is not None:
        for column, name, dashes in (("simulation", "simulation", DASHES[1]), ("analysis", "servers", DASHES[2])):
            y = drawable(given.numbers(column)[dedicated], up)
            _line(page, servers[dedicated], y, name, {"color": _GREY, "linestyle": dashes})
    _draw_measured(page, given)
    ranks = int(np.nanmax(given.numbers("clients"), initial=0.0))
    return f"{how.label or 'advice'}: time of an iteration on {ranks} ranks"
