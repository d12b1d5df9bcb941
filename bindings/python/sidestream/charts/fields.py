"""Charts of two variables: the 2-D histogram, with colours for counts, weights or densities."""

import numpy as np

from ..errors import Error
from .given import Given
from .how import How
from .page import Axis, Bar, Page
from .scales import is_even, usable
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


def draw_histogram2d(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws a 2-D histogram in colours. Returns a description for the caption."""
    from matplotlib.colors import LogNorm, Normalize

    x, y = (given.columns[f"{name}_edges"].astype(float) for name in "xy")
    column = how.quantity_of(given, "weight" if given.has("weight") else "count", ("count", "weight", "density"))
    values = given.columns[column].astype(float)
    if values.shape != (len(y) - 1, len(x) - 1):
        raise Error(f"{given.named}: '{column}' has the shape {values.shape}, expected that of one iteration")
    values = np.where(values > 0, values, np.nan)
    sides = [_side(name, titles, given) for name in "xy"]
    units = (sides[0][1], sides[1][1])
    logs = how.logarithmic(not is_even(x), not is_even(y))
    page.across, page.up = (
        Axis(said or name, unit, float(edges[0]), float(edges[-1]), log and bool(np.all(edges > 0)))
        for said, (name, unit), edges, log in zip((how.x_label, how.y_label), sides, (x, y), logs, strict=True)
    )
    weight = str(given.attributes.get("weight", titles.title("weight", "weight")))
    name, unit = {
        "count": ("number of points", ""),
        "weight": (f"sum of {weight}", titles.unit("weight")),
        "density": ("density", _density_unit(units)),
    }[column]
    logarithmic = how.colour_scale == "logarithmic"
    shown = values[np.isfinite(values)]
    low, high = how.range or (
        usable(float(shown.min()), float(shown.max()), logarithmic) if len(shown) else (1.0, 10.0)
    )
    norm = LogNorm(low, high) if logarithmic else Normalize(low, high)
    colours = {"grey": "gray"}.get(how.colours, how.colours)
    page.axes.set_facecolor("#d0d0d0")  # the colour of fields without a value
    mesh = page.axes.pcolormesh(x, y, values, norm=norm, cmap=colours, rasterized=True)
    page.bar = Bar(mesh, Axis(name, pretty(unit), low, high, logarithmic))
    return f"{how.label or f'{sides[1][0]} over {sides[0][0]}'}: {name}"
