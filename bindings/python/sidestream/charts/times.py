"""Charts of the times of a run, from its record `timings.csv`: how often something takes so long or less.

They are cumulative distribution functions over ranks and iterations, as figures 7 and 10 of Dorier et al., "Damaris:
Addressing performance variability in data management for post-petascale simulations" (2016), have them of write times.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Error
from .curves import COLOURS, DASHES, axis_of
from .given import Given
from .how import How
from .page import Axis, Page
from .scales import drawable, plain
from .titles import Titles

Numbers = NDArray[np.float64]
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


def work(given: Given) -> tuple[Numbers, Numbers]:
    """Returns the seconds that each server worked on tasks of each iteration, and those that it had to spare: the rest
    of the time until it began to wait for the next iteration. That of the last iteration is unknown. Ranks that are
    clients as well have none to spare, since they compute meanwhile."""
    roles = given.columns["role"]
    rows = roles == "server"
    rank, seconds, start = (given.numbers(name, rows) for name in ("rank", "seconds", "start"))
    keys, of = np.unique(np.stack([rank, given.numbers("iteration", rows)], 1), axis=0, return_inverse=True)
    of = of.reshape(-1)
    busy = np.where(np.isin(given.columns["task"][rows], WAITING), 0.0, seconds)
    total = np.bincount(of, weights=busy, minlength=len(keys))
    first = np.full(len(keys), np.inf)
    np.minimum.at(first, of, start)
    clients = np.unique(given.numbers("rank", roles == "client"))
    follows = (keys[1:, 0] == keys[:-1, 0]) & ~np.isin(keys[1:, 0], clients)
    return total, np.maximum(first[1:] - first[:-1] - total[:-1], 0.0)[follows]


def _curves(given: Given, quantity: str | None) -> list[tuple[str, Numbers]]:
    """Returns the names of curves and the times whose distributions they show."""
    roles = given.columns["role"]
    clients = roles == "client"
    if quantity is None:
        busy, spare = work(given)
        return [
            ("computing between iterations", given.numbers("compute", clients)),
            ("held up by Sidestream", held(given)),
            ("work of a server", busy),
            ("spare time of a server", spare),
        ]
    if quantity in OF_CLIENTS:
        return [(quantity, given.numbers(quantity, clients))]
    if quantity == "tasks":
        tasks = np.where(roles == "server", given.columns["task"], "")
        return [
            (name, given.numbers("seconds", tasks == name))
            for name in dict.fromkeys(tasks.tolist())
            if name and name not in WAITING
        ]
    if quantity == "held":
        return [("held up by Sidestream", held(given))]
    busy, spare = work(given)
    return [("work of a server", busy)] if quantity == "work" else [("spare time of a server", spare)]


def distribution(times: Numbers) -> tuple[Numbers, Numbers]:
    """Returns sorted times, and for each the share of times that are not longer."""
    times = np.sort(times)
    share = np.arange(1, len(times) + 1) / max(len(times), 1)
    if len(times) > MOST_POINTS:
        kept = np.unique(np.linspace(0, len(times) - 1, MOST_POINTS).astype(np.int64))
        return times[kept], share[kept]
    return times, share


def _named(name: str, times: Numbers) -> str:
    return f"{name}: median {plain(float(np.median(times)), 3)} s, longest {plain(float(times[-1]), 3)} s"


def _axis(how: How, curves: Iterable[tuple[str, Numbers]], logarithmic: bool) -> Axis:
    return axis_of(how.x_label or "time", "s", [times for _, times in curves], logarithmic, 0.02)


def _draw(page: Page, curves: list[tuple[str, Numbers]]) -> None:
    looks = [(dashes, colour) for dashes in DASHES for colour in COLOURS]
    for n, (name, times) in enumerate(curves):
        at, share = distribution(times)
        x = np.maximum(drawable(at, False), page.across.low)  # zeros lie at the left end of a logarithmic axis
        dashes, colour = looks[n % len(looks)]
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.6 * page.thin}
        x, y = [page.across.low, *x, page.across.high], [0.0, *share, 1.0]
        (handle,) = page.axes.plot(x, y, drawstyle="steps-post", **style)
        page.handles.append((handle, _named(name, at)))


def draw_times(page: Page, given: Given, how: How, _: Titles) -> str:
    """Draws cumulative distributions of times of clients and servers. Returns a description for the caption."""
    if how.quantity is not None and how.quantity not in QUANTITIES:
        known = ", ".join(QUANTITIES)
        raise Error(f"{given.named}: there is no quantity '{how.quantity}' to draw, but {known}")
    found = [(name, times[np.isfinite(times)]) for name, times in _curves(given, how.quantity)]
    curves = [(name, times) for name, times in found if len(times)]
    across, up = how.logarithmic(True, False)
    across = across and any(np.any(times > 0) for _, times in curves)
    if not curves:
        page.remarks.append("the chart is empty: the table has no such times")
    page.across = _axis(how, curves, across)
    page.up = Axis(how.y_label or "share of ranks and iterations", "", 1e-3 if up else 0.0, 1.05, up)
    _draw(page, curves)
    iterations = len(np.unique(given.numbers("iteration")))
    return f"{how.label or 'times'} of {iterations} iterations: distribution"
