"""Finds by its columns which analysis made a table."""

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import Code, Error
from .advice import COLUMNS as ADVICE
from .advice import draw_advice
from .curves import draw_flux, draw_histogram, draw_spectrum, draw_statistics
from .fields import draw_histogram2d
from .given import Given
from .halos import draw_history, draw_mass_function
from .how import How
from .page import Page
from .scale import COLUMNS as SCALE
from .scale import draw_scale
from .times import COLUMNS, draw_times
from .titles import Titles


@dataclass(frozen=True)
class Kind:
    """A kind of table. `over_time`: the chart shows all iterations instead of one."""

    name: str
    columns: tuple[str, ...]
    draw: Callable[[Page, Given, How, Titles], str]
    over_time: bool = False


# The first kind whose columns all exist is chosen. Kinds whose columns include those of others come first.
KINDS = (
    Kind("mass_function", ("lower", "upper", "count", "above", "dn_dlog10m"), draw_mass_function),
    Kind("histogram", ("lower", "upper", "count", "below", "above", "nan"), draw_histogram),
    Kind("distribution of the flux", ("axis", "lower", "upper", "count", "density"), draw_flux),
    Kind("power spectrum", ("k_lower", "k_upper", "k", "modes", "power", "dimensionless"), draw_spectrum),
    Kind("halo history", ("time", "track", "event", "halo", "mass", "other_track"), draw_history, True),
    Kind("histogram2d", ("x_edges", "y_edges", "count"), draw_histogram2d),
    Kind("advice", ADVICE, draw_advice, True),
    Kind("predicted curves", SCALE, draw_scale, True),
    Kind("times of a run", COLUMNS, draw_times, True),
    Kind("statistics", ("time", "component", "minimum", "maximum", "mean"), draw_statistics, True),
)


def is_over_time(columns: tuple[str, ...]) -> bool:
    """True if the chart of a table with these columns shows all iterations."""
    fitting = (kind for kind in KINDS if set(kind.columns) <= set(columns))
    return next((kind.over_time for kind in fitting), False)


def kind_of(given: Given) -> Kind:
    """Finds the kind of a table. Throws Error(FILE) if there is none."""
    for kind in KINDS:
        if given.has(*kind.columns):
            return kind
    columns = ", ".join(given.columns)
    raise Error(
        f"{given.named}: there is no chart of a table with the columns {columns}; those of "
        f"{', '.join(k.name for k in KINDS)} can be drawn",
        Code.FILE,
    )
