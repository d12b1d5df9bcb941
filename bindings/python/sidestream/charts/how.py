"""Options of a chart, as a user or a run gives them."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ..errors import Error

LOGS = ("none", "x", "y", "xy")


@dataclass(frozen=True)
class How:
    """The options of a chart. None or an empty text stands for a default that suits the table."""

    size: tuple[int, int] = (1024, 768)
    iteration: int | None = None
    log: str | None = None  # which axes are logarithmic: one of LOGS
    quantity: str | None = None  # the column that is drawn
    caption: str | None = None  # empty: none
    label: str = ""  # the first words of the default caption
    x_label: str = ""
    y_label: str = ""
    tracks: int = 24
    names: tuple[str, ...] = ()  # of several runs in one chart
    colours: str = "viridis"
    colour_scale: str = "linear"  # or "logarithmic"; for 2-D histograms
    range: tuple[float, float] | None = None  # of colours
    up: str | None = None  # scale of the y axis, "linear" or "logarithmic", if `log` is not given
    said: dict[str, dict[str, str]] = field(default_factory=dict)  # titles, units and options, passed by the run

    def __post_init__(self) -> None:
        if self.log is not None and self.log not in LOGS:
            raise Error(f"plot: log is '{self.log}', expected one of {', '.join(LOGS)}")
        if self.tracks < 1:
            raise Error(f"plot: {self.tracks} tracks, expected at least 1")
        if self.colour_scale not in ("linear", "logarithmic"):
            raise Error(f"plot: colour_scale is '{self.colour_scale}', expected linear or logarithmic")
        if self.range is not None:
            self._check_range(*self.range)
        if any(not 1 <= n <= 32768 for n in self.size):
            raise Error(f"plot: the size {self.size[0]} x {self.size[1]}, expected 1 to 32768 pixels each")

    def _check_range(self, low: float, high: float) -> None:
        above = self.colour_scale == "logarithmic"
        if low < high and isfinite(high - low) and (low > 0 or not above):
            return
        raise Error(
            f"plot: the range {low:g},{high:g}, expected two finite numbers, the lower one first"
            f"{', and above 0 for logarithmic colours' if above else ''}"
        )

    def logarithmic(self, across: bool, up: bool) -> tuple[bool, bool]:
        """Tells for each axis if it is logarithmic: as requested, otherwise by the given defaults."""
        if self.log is not None:
            return "x" in self.log, "y" in self.log
        return across, up if self.up is None else self.up == "logarithmic"

    def quantity_of(self, given: Any, default: str, known: tuple[str, ...]) -> str:
        """The column that is drawn. Throws Error if the table does not have it."""
        if self.quantity is None:
            return default
        there = [name for name in known if given.has(name)]
        if self.quantity not in there:
            raise Error(f"{given.named}: there is no quantity '{self.quantity}' to draw, but {', '.join(there)}")
        return self.quantity
