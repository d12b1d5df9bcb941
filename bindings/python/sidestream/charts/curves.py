"""Charts of curves: histograms, distributions of the flux, spectra, and statistics over time."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .given import Given
from .how import How
from .page import MOST_ENTRIES, Axis, Page
from .scales import drawable, is_even, superscript, usable, widened
from .titles import Titles

# Most eyes can tell these colours apart, also in grey. (Paul Tol, "Colour Schemes", SRON/EPS/TN/09-002, 2021.)
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))  # for the curves after the sixth
Numbers = NDArray[np.float64]
Curve = tuple[str, Numbers, Numbers]  # its name (empty if it needs none), x and y


def _inverse(unit: str) -> str:
    """Writes the inverse of a unit, for densities."""
    return f"1/({unit})" if any(c in unit for c in "/ ·*") else f"1/{unit}" if unit else ""


def axis_of(name: str, unit: str, values: list[Numbers], logarithmic: bool, room: float) -> Axis:
    """Makes an axis that shows all values, with some room at both ends."""
    every = drawable(np.concatenate(values) if values else np.empty(0), logarithmic)
    every = every[np.isfinite(every)]
    low, high = usable(float(every.min()), float(every.max()), logarithmic) if len(every) else usable(1, 0, logarithmic)
    return Axis(name, unit, *widened(low, high, room, logarithmic), logarithmic)


def _lines(page: Page, curves: list[Curve], steps: bool, different: int) -> None:
    looks = itertools.cycle(itertools.islice(itertools.product(DASHES, COLOURS), different))
    for (name, at, y), (dashes, colour) in zip(curves, looks, strict=False):
        x, shown = drawable(at, page.across.logarithmic), drawable(y, page.up.logarithmic)
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.6 * page.thin}
        if not steps or _is_narrow(x, page.across):
            style |= {"marker": "o", "markersize": 2.6 * page.thin}
        if steps:
            x, shown = np.repeat(x, 2)[1:-1], np.repeat(shown, 2)
        (handle,) = page.axes.plot(x, shown, **style)
        if name:
            page.handles.append((handle, name))


def _is_narrow(x: Numbers, axis: Axis) -> bool:
    """True if the steps of a histogram would be too narrow to be seen."""
    x = x[np.isfinite(x)]
    if not len(x):
        return False
    if axis.logarithmic:
        return bool(np.ptp(np.log10(x)) < 1e-3 * (np.log10(axis.high) - np.log10(axis.low)))
    return bool(np.ptp(x) < 1e-3 * (axis.high - axis.low))


def _told(page: Page, curves: list[Curve], wanted: bool, across: bool, up: bool) -> None:
    """Adds remarks about what has no place on the axes. `wanted`: a logarithmic x axis was asked for."""
    if wanted and not across:
        page.remarks.append("no value of x is above 0, so its axis is not logarithmic")
    lost = sum(int(np.sum(np.isfinite(x) & ~np.isfinite(drawable(x, True)))) for _, x, _ in curves)
    if across and lost:
        page.remarks.append(f"{lost} values of x are not above 0 and were left out of a logarithmic axis")
    if not any(np.any(np.isfinite(drawable(y, up))) for _, _, y in curves):
        what = "finite and above 0, as a logarithmic axis needs it" if up else "finite"
        page.remarks.append(f"the chart is empty: the table has no value that is {what}")


def _finish(
    page: Page,
    how: How,
    curves: list[Curve],
    names: dict[str, str],
    steps: bool,
    log: tuple[bool, bool],
    different: int = MOST_ENTRIES,
) -> None:
    """Draws curves and chooses the axes. `different`: after so many curves, their looks are repeated."""
    across, up = how.logarithmic(*log)
    xs = [x for _, x, _ in curves]
    wanted, across = across, across and any(np.any(np.isfinite(drawable(x, True))) for x in xs)
    _told(page, curves, wanted and how.log is not None, across, up)
    page.across = axis_of(how.x_label or names["x"], names.get("x_unit", ""), xs, across, 0.02)
    page.up = axis_of(how.y_label or names["y"], names.get("y_unit", ""), [y for _, _, y in curves], up, 0.05)
    if not up and steps and all(np.all(~(y < 0)) for _, _, y in curves):
        page.up.low = 0.0
    _lines(page, curves, steps, different)


def draw_curves(page: Page, how: How, curves: list[Curve], names: dict[str, str], log: tuple[bool, bool]) -> None:
    """Draws curves with points. `names`: `x`, `x_unit`, `y` and `y_unit`; `log`: axes that are logarithmic unless `how`
    says otherwise."""
    _finish(page, how, curves, names, False, log)


def _steps(given: Given, rows: Any, column: str) -> tuple[Numbers, Numbers]:
    lower, upper = given.numbers("lower", rows), given.numbers("upper", rows)
    return np.append(lower, upper[-1:]), given.numbers(column, rows)


def draw_histogram(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws counts, sums of weights or densities by interval. Returns a description for the caption."""
    column = next(name for name in ("density", "weight", "count") if given.has(name))
    column = how.quantity_of(given, column, ("count", "weight", "density"))
    title, unit = titles.title(), titles.unit()
    name, of = {
        "count": ("number of points", ""),
        "weight": (f"sum of {titles.title('weight', 'weights')}", titles.unit("weight")),
        "density": ("density", _inverse(unit)),
    }[column]
    if titles.options.get("normalise") == "gimlet":
        of = ""
    edges, values = _steps(given, slice(None), column)
    names = {"x": title, "x_unit": unit, "y": name, "y_unit": of}
    _finish(page, how, [("", edges, values)], names, True, (not is_even(edges), True))
    return f"{how.label or title}: distribution"


def draw_flux(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws the distribution of the flux along lines of sight, one curve for each axis."""
    axes = list(dict.fromkeys(given.columns["axis"]))
    curves = [(f"along {axis}", *_steps(given, given.columns["axis"] == axis, "density")) for axis in axes]
    _finish(page, how, curves, {"x": "transmitted flux F", "y": "probability density of F"}, True, (False, True))
    return f"{how.label or 'flux'}: distribution"


def _dimensions(given: Given) -> int:
    """Finds the number of dimensions by the dimensionless form: k³ P / 2π², k² P / 2π or k P / π. 0: unknown."""
    k, power, without = (given.numbers(name) for name in ("k", "power", "dimensionless"))
    sound = np.flatnonzero((k > 0) & np.isfinite(power) & (power != 0) & np.isfinite(without))
    for count, factor in ((3, 2 * np.pi**2), (2, 2 * np.pi), (1, np.pi)):
        if len(sound) and np.allclose(k[sound] ** count * power[sound] / factor, without[sound], rtol=1e-6, atol=0):
            return count
    return 0


def _power_unit(given: Given, titles: Titles) -> str:
    dimensions = _dimensions(given)
    length = f"mesh units{superscript(dimensions)}" if dimensions > 1 else "mesh units" if dimensions else ""
    unit = titles.unit()
    if titles.options.get("of") != "difference" or not unit:
        return length
    square = f"({unit})²" if len(unit) > 2 else f"{unit}²"
    return f"{square} {length}".strip()


def draw_spectrum(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws the power by bin of wave numbers, with a curve for each variable and each axis."""
    column = how.quantity_of(given, "power", ("power", "dimensionless"))
    axes = list(dict.fromkeys(given.columns["axis"])) if given.has("axis") else [""]
    curves: list[Curve] = []
    for axis in axes:
        rows = given.columns["axis"] == axis if axis else slice(None)
        k = given.numbers("k", rows)
        pair = given.has("second") and column == "power"
        along = f"along {axis}" if axis else ""
        first = f"{titles.title(default='first')} {along}".strip() if pair else along
        curves.append((first, k, given.numbers(column, rows)))
        if pair:
            second = f"{titles.title('with', 'second')} {along}".strip()
            curves.append((second, k, given.numbers("second", rows)))
    names = {"x": "wave number k", "x_unit": "1/mesh unit", "y": "power P(k)", "y_unit": _power_unit(given, titles)}
    if column == "dimensionless":
        names |= {"y": "dimensionless power", "y_unit": ""}
    _finish(page, how, curves, names, False, (True, True))
    return f"{how.label or titles.title(default='field')}: power spectrum"


def draw_statistics(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws mean, minimum and maximum of each component over time."""
    time = given.numbers("time")
    curves: list[Curve] = []
    components = np.unique(given.columns["component"])
    is_together = 3 * len(components) > MOST_ENTRIES
    for component in components:
        rows = given.columns["component"] == component
        for name in ("maximum", "mean", "minimum"):
            said = name if len(components) == 1 else f"{name} of component {component}"
            if is_together:
                said = f"{name} of each component" if component == components[0] else ""
            curves.append((said, time[rows], given.numbers(name, rows)))
    names = {"x": "time", "y": titles.title(), "y_unit": titles.unit()}
    _finish(page, how, curves, names, False, (False, False), 3 if is_together else MOST_ENTRIES)
    return f"{how.label or titles.title()}: statistics over time"
