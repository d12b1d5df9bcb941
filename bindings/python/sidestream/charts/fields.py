"""Charts of two variables: the 2-D histogram, with colours for counts, weights or densities."""

from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Error
from .given import Given
from .how import How
from .page import Axis, Bar, Page
from .scales import drawable, is_even, usable
from .titles import Titles, pretty


def _side(name: str, titles: Titles, given: Given) -> tuple[str, str]:
    """Returns the title and the unit of an axis' variable."""
    own = titles.options.get(name)
    of_axis = Titles(own if isinstance(own, dict) else {"variable": own}, titles.variables)
    return of_axis.title(default=str(given.attributes.get(name, name))), of_axis.unit()


def _density_unit(units: tuple[str, str]) -> str:
    inside = " · ".join(f"({unit})" if "/" in unit else unit for unit in units if unit)
    if not inside:
        return ""
    return f"1/({inside})" if " " in inside or "(" in inside else f"1/{inside}"


def _of_edges(page: Page, axis: Axis, edges: NDArray[np.float64], logarithmic: bool) -> Axis:
    """Makes the axis reach from the first to the last edge."""
    known = drawable(edges, False)
    axis.logarithmic = logarithmic and bool(np.all(known > 0))
    if logarithmic and not axis.logarithmic:
        page.remarks.append(f"not all edges of {axis.name} are above 0, so its axis is not logarithmic")
    ends = (float(known[0]), float(known[-1])) if len(known) and np.all(np.isfinite(known)) else (1.0, 0.0)
    axis.low, axis.high = usable(*ends, axis.logarithmic)
    return axis


def _colour_map(name: str) -> str:
    """Returns Matplotlib's name of a colour map. Throws Error if it has none of that name."""
    from matplotlib import colormaps

    found = {"grey": "gray"}.get(name, name)
    if found in colormaps:
        return found
    near = get_close_matches(found, list(colormaps), 1)
    raise Error(f"plot: Matplotlib has no colour map '{name}'{f'; did you mean {near[0]}' if near else ''}")


def draw_histogram2d(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws a 2-D histogram in colours. Returns a description for the caption."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    x, y = (given.numbers(f"{name}_edges") for name in "xy")
    column = how.quantity_of(given, "weight" if given.has("weight") else "count", ("count", "weight", "density"))
    values = given.numbers(column)
    if values.shape != (len(y) - 1, len(x) - 1):
        raise Error(f"{given.named}: '{column}' has the shape {values.shape}, expected that of one iteration")
    logarithmic = how.colour_scale == "logarithmic"
    values = np.where(values > 0, drawable(values, logarithmic), np.nan)
    if not np.any(np.isfinite(values)):
        page.remarks.append(f"the chart is empty: no value of '{column}' is above 0")
    sides = [_side(name, titles, given) for name in "xy"]
    units = (sides[0][1], sides[1][1])
    logs = how.logarithmic(not is_even(x), not is_even(y))
    page.across, page.up = (
        _of_edges(page, Axis(said or name, unit), edges, log)
        for said, (name, unit), edges, log in zip((how.x_label, how.y_label), sides, (x, y), logs, strict=True)
    )
    weight = str(given.attributes.get("weight", titles.title("weight", "weight")))
    name, unit = {
        "count": ("number of points", ""),
        "weight": (f"sum of {weight}", titles.unit("weight")),
        "density": ("density", _density_unit(units)),
    }[column]
    shown = values[np.isfinite(values)]
    low, high = how.range or (
        usable(float(shown.min()), float(shown.max()), logarithmic) if len(shown) else (1.0, 10.0)
    )
    norm = LogNorm(low, high) if logarithmic else Normalize(low, high)
    colours = _colour_map(how.colours)
    page.axes.set_facecolor("#d0d0d0")  # the colour of fields without a value
    if np.all(np.isfinite(x)) and np.all(np.isfinite(y)):
        mesh: Any = page.axes.pcolormesh(x, y, values, norm=norm, cmap=colours, rasterized=True)
    else:
        mesh = ScalarMappable(norm, colours)
    page.bar = Bar(mesh, Axis(name, pretty(unit), low, high, logarithmic))
    return f"{how.label or f'{sides[1][0]} over {sides[0][0]}'}: {name}"
