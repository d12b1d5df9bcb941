"""Charts of the times of a run, from its record `timings.csv`: cumulative distributions over ranks and iterations.

Figures 7 and 10 of Dorier et al., "Damaris: Addressing Performance Variability in Data Management for Post-Petascale
Simulations" (2016), show write times in this form.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Error
from .curves import COLOURS, DASHES, Numbers, axis_of
from .given import Given
from .how import How
from .page import Axis, Page
from .scales import drawable, plain
from .titles import Titles

OF_CLIENTS = ("compute", "publish", "wait", "end")
COLUMNS = ("rank", "role", "iteration", "start", *OF_CLIENTS, "task", "seconds")
WAITING = ("idle", "agree")  # rows of servers that have nothing to do, or wait for other servers
QUANTITIES = (*OF_CLIENTS, "held", "work", "spare", "tasks")
# More points than pixels would only make files large.
MOST_POINTS = 4096


def held(given: Given) -> Numbers:
    """Returns the seconds that Sidestream held up each client in each iteration: `publish`, `wait` and `end`."""
    rows = given.columns["role"] == "client"
    return sum((given.numbers(name, rows) for name in ("publish", "wait", "end")), np.zeros(int(rows.sum())))


def _sessions(rank: Numbers, iteration: Numbers, start: Numbers) -> Numbers:
    """Numbers the sessions of each rank. A resumed run adds its rows to the table, and counts iterations and seconds
    from 0 again. The rows of a server are in the order of time."""
    by_rank = np.argsort(rank, kind="stable")
    same = np.diff(rank[by_rank]) == 0
    again = same & ((np.diff(iteration[by_rank]) < 0) | (np.diff(start[by_rank]) < 0))
    session = np.zeros(len(rank))
    session[by_rank[1:]] = np.cumsum(again)
    return session


def work(given: Given) -> tuple[Numbers, Numbers]:
    """Returns the seconds that each server worked on tasks of each iteration, and those that it had to spare: the rest
    of the time until it began to wait for the next iteration, or for the end. Ranks that are clients as well have no
    spare time, since they compute meanwhile."""
    roles = given.columns["role"]
    rows = roles == "server"
    rank, iteration, start, seconds = (given.numbers(name, rows) for name in ("rank", "iteration", "start", "seconds"))
    keys = np.stack([rank, _sessions(rank, iteration, start), iteration], 1)
    keys, of = np.unique(keys, axis=0, return_inverse=True)
    of = of.reshape(-1)  # NumPy 2.0 returns another shape
    task = given.columns["task"][rows]
    total = np.bincount(of, weights=np.where(np.isin(task, WAITING), 0.0, seconds), minlength=len(keys))
    first = np.full(len(keys), np.inf)
    np.minimum.at(first, of, start)
    clients = np.unique(given.numbers("rank", roles == "client"))
    follows = np.all(keys[1:, :2] == keys[:-1, :2], axis=1)
    is_last = np.append(~follows, True)[: len(keys)]
    is_end = is_last & (np.bincount(of, weights=task != "idle", minlength=len(keys)) == 0)
    spare = np.maximum(np.diff(first) - total[:-1], 0.0)  # not below 0, but for rounding
    return total[~is_end], spare[follows & ~np.isin(keys[1:, 0], clients)]


def _tasks(given: Given) -> list[tuple[str, Numbers]]:
    tasks = np.where(given.columns["role"] == "server", given.columns["task"], "")
    names = [name for name in dict.fromkeys(tasks.tolist()) if name and name not in WAITING]
    return [(name, given.numbers("seconds", tasks == name)) for name in names]


def _curves(given: Given, quantity: str | None) -> list[tuple[str, Numbers]]:
    """Returns the names of curves and the times whose distributions they show."""
    if quantity == "tasks":
        return _tasks(given)
    clients = given.columns["role"] == "client"
    if quantity in ("publish", "wait", "end"):
        return [(quantity, given.numbers(quantity, clients))]
    busy, spare = work(given)
    every = {
        "compute": ("computing between iterations", given.numbers("compute", clients)),
        "held": ("held up by Sidestream", held(given)),
        "work": ("work of a server", busy),
        "spare": ("spare time of a server", spare),
    }
    return list(every.values()) if quantity is None else [every[quantity]]


def distribution(times: Numbers) -> tuple[Numbers, Numbers]:
    """Returns sorted times, and for each the share of times that are not longer."""
    times = np.sort(times)
    share = np.arange(1, len(times) + 1) / max(len(times), 1)
    if len(times) > MOST_POINTS:
        kept = np.unique(np.linspace(0, len(times) - 1, MOST_POINTS).astype(np.int64))
        return times[kept], share[kept]
    return times, share


def _named(name: str, times: Numbers) -> str:
    return f"{name}: median {plain(float(np.median(times)), 3)} s, longest {plain(float(times.max()), 3)} s"


@dataclass(frozen=True)
class Curve:
    """A distribution that is drawn. `run`: the name of its run, empty if there is only one."""

    run: str
    name: str
    times: Numbers

    @property
    def entry(self) -> str:
        """The text in the legend."""
        return _named(f"{self.run}, {self.name}" if self.run else self.name, self.times)


def _looks(curves: list[Curve]) -> list[tuple[Any, str]]:
    """Returns dashes and colour of each curve. Of several runs with several curves each, the colour tells the curve
    and the dashes tell the run."""
    names, runs = (list(dict.fromkeys(getattr(curve, key) for curve in curves)) for key in ("name", "run"))
    if 1 < len(names) <= len(COLOURS) and len(runs) <= len(DASHES):
        return [(DASHES[runs.index(curve.run)], COLOURS[names.index(curve.name)]) for curve in curves]
    every = [(dashes, colour) for dashes in DASHES for colour in COLOURS]
    return [every[n % len(every)] for n in range(len(curves))]


def _draw(page: Page, curves: list[Curve]) -> None:
    for curve, (dashes, colour) in zip(curves, _looks(curves), strict=True):
        at, share = distribution(curve.times)
        x = np.maximum(drawable(at, False), page.across.low)  # zeros lie at the left end of a logarithmic axis
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.6 * page.thin}
        x, y = [page.across.low, *x, page.across.high], [page.up.low, *share, 1.0]
        (handle,) = page.axes.plot(x, y, drawstyle="steps-post", **style)
        page.handles.append((handle, curve.entry))


def _found(page: Page, run: str, given: Given, quantity: str | None) -> list[Curve]:
    """Returns the curves of a run. Remarks if it has none."""
    if quantity is not None and quantity not in QUANTITIES:
        known = ", ".join(QUANTITIES)
        raise Error(f"{given.named}: there is no quantity '{quantity}' to draw, but {known}")
    found = [Curve(run, name, times[np.isfinite(times)]) for name, times in _curves(given, quantity)]
    curves = [curve for curve in found if len(curve.times)]
    if not curves:
        what = f"there is no curve of {run}: its" if run else "the chart is empty: the"
        page.remarks.append(f"{what} table has no such times")
    return curves


def draw_runs(page: Page, runs: list[tuple[str, Given]], how: How) -> str:
    """Draws cumulative distributions of times of clients and servers of runs, which have names if they are several.
    Returns a description for the caption."""
    curves = [curve for name, given in runs for curve in _found(page, name, given, how.quantity)]
    across, up = how.logarithmic(True, False)
    across = across and any(np.any(curve.times > 0) for curve in curves)
    page.across = axis_of(how.x_label or "time", "s", [curve.times for curve in curves], across, 0.02)
    name = how.y_label or "cumulative distribution"
    shares = [distribution(curve.times)[1] for curve in curves]
    page.up = axis_of(name, "", shares, True, 0.05) if up else Axis(name, "", 0.0, 1.05)
    _draw(page, curves)
    of = "times of a run" if len(runs) == 1 else f"times of {len(runs)} runs"
    return f"{how.label or of}: cumulative distribution"


def draw_times(page: Page, given: Given, how: How, _: Titles) -> str:
    """Draws the distributions of one run."""
    return draw_runs(page, [("", given)], how)


def names_of_runs(paths: list[Path], given: tuple[str, ...]) -> list[str]:
    """Returns names for the runs whose tables are at `paths`: the `given` ones, else what the paths differ in, or
    numbers if they do not. Throws Error if the number of given names differs."""
    if given and len(given) != len(paths):
        raise Error(f"plot: found {len(given)} names for {len(paths)} tables; give one for each, or none")
    if given:
        return list(given)
    parts = [path.resolve().with_suffix("").parts for path in paths]
    shortest = min(map(len, parts))
    first = next((n for n in range(shortest) if len({of[n] for of in parts}) > 1), shortest)
    same = next((n for n in range(shortest - first) if len({of[-1 - n] for of in parts}) > 1), shortest - first)
    names = ["/".join(of[first : len(of) - same]) for of in parts]
    return names if all(names) and len(set(names)) == len(names) else [f"run {n}" for n in range(1, len(parts) + 1)]
