"""Charts of tables of `sidestream simulate-scale`: curves of one quantity over ranks, servers or intervals."""

import numpy as np

from .curves import Curve, draw_curves
from .given import Given
from .how import How
from .page import Page
from .titles import Titles

COLUMNS = ("curve", "over", "at", "quantity", "unit", "value")


def draw_scale(page: Page, given: Given, how: How, titles: Titles) -> str:
    """Draws the curves. Returns a description for the caption."""
    name = given.columns["curve"]
    at, value = given.numbers("at"), given.numbers("value")
    curves: list[Curve] = [(str(one), at[name == one], value[name == one]) for one in dict.fromkeys(name.tolist())]
    said = {column: str(given.columns[column][0]) if len(name) else "" for column in ("over", "quantity", "unit")}
    positive = at[at > 0]
    is_wide = bool(len(positive)) and float(positive.max() / positive.min()) >= 8
    names = {"x": said["over"], "y": said["quantity"], "y_unit": said["unit"]}
    draw_curves(page, how, curves, names, log=(is_wide, said["unit"] != "%" and bool(np.any(value > 0))))
    return f"{how.label or (given.path.stem if given.path else 'model')}: {said['quantity']}"
