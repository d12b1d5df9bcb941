"""A page with a pair of axes, and the placement of its texts: none is cut, and none overlaps another."""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from ..errors import Error
from .fonts import families_of, printable
from .scales import Ticks, linear_ticks, logarithmic_ticks, plain, power_of_ten

DOTS = 100.0  # pixels per inch; a pixel is 0.72 points
MOST_ENTRIES = 24  # of a legend: as many as curves have looks


@dataclass
class Axis:
    """An axis. `ticks`: texts by position, which replace numbers."""

    name: str = ""
    unit: str = ""
    low: float = 0.0
    high: float = 1.0
    logarithmic: bool = False
    ticks: dict[float, str] | None = None

    def numbers(self, most: int) -> Ticks:
        """Returns at most `most` ticks."""
        if self.ticks is not None:
            every = max(1, -(-len(self.ticks) // max(most, 1)))
            at = list(self.ticks)[::every]
            return Ticks(at, [self.ticks[v] for v in at], [])
        return (logarithmic_ticks if self.logarithmic else linear_ticks)(self.low, self.high, most)

    def label(self, ticks: Ticks) -> str:
        """Returns the axis' name, followed in brackets by the factor and the unit of its numbers."""
        power = power_of_ten(ticks.exponent) if ticks.exponent else ""
        inside = " ".join(text for text in (power, self.unit) if text)
        sign = "+" if ticks.offset < 0 else "−"
        offset = f" {sign} {plain(abs(ticks.offset))}" if ticks.offset else ""
        return f"{self.name}{offset}{f' [{inside}]' if inside else ''}"


@dataclass
class Bar:
    """A colour bar: the drawn object whose colours it explains, and its axis."""

    mappable: Any
    axis: Axis


@dataclass(frozen=True)
class Style:
    """The amount and the size of text on a page. `text`: size in pixels."""

    text: float
    ticks: float = 1.0  # factor of the number of ticks that there is room for
    legend: bool = True
    caption: bool = True
    labels: bool = True
    numbers: bool = True


@dataclass
class Page:
    """A chart, on whose axes the data is drawn first. `fit` then adds all texts."""

    width: int
    height: int
    across: Axis = field(default_factory=Axis)
    up: Axis = field(default_factory=Axis)
    caption: str = ""
    bar: Bar | None = None
    handles: list[tuple[Any, str]] = field(default_factory=list)  # entries of the legend
    remarks: list[str] = field(default_factory=list)  # sentences about texts for which there was no room

    def __post_init__(self) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(self.width / DOTS, self.height / DOTS), dpi=DOTS)
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0.2, 0.2, 0.7, 0.6))
        self.nominal = max(9.0, min(0.75 * self.width, self.height) / 38)
        self._texts: list[Any] = []
        self._families: list[str] = []
        self._legend: Any = None
        self._bar_axes: Any = None

    @property
    def thin(self) -> float:
        """Width of lines, in points."""
        return 0.72 * max(1.0, self.nominal / 9)

    def fit(self) -> None:
        """Applies the first style, from the fullest to the sparsest, with which everything fits."""
        self._choose_fonts()
        self._prepare()
        for style in self._styles():
            self._apply(style)
            if not self._problems():
                self._remark(style)
                return
        raise Error(f"plot: {self.width} x {self.height} pixels are too few for a chart; ask for more")

    def _choose_fonts(self) -> None:
        """Finds fonts for all texts but numbers. Removes what no font has: control characters."""
        self.caption = printable(self.caption)
        self.handles = [(handle, printable(name)) for handle, name in self.handles]
        axes = [self.across, self.up, *([self.bar.axis] if self.bar is not None else [])]
        for axis in axes:
            axis.name, axis.unit = printable(axis.name), printable(axis.unit)
        names = [text for axis in axes for text in (axis.name, axis.unit)]
        self._families, lacking = families_of([self.caption, *names, *(name for _, name in self.handles)])
        if lacking:
            self.remarks.append(f"no installed font has the characters {' '.join(lacking)}; install one that has them")

    def _styles(self) -> list[Style]:
        sizes = sorted({self.nominal, max(7.0, 0.8 * self.nominal), max(6.0, 0.65 * self.nominal)}, reverse=True)
        legend = len(self.handles) <= MOST_ENTRIES
        all_said = [Style(size, ticks, legend) for size in sizes for ticks in (1.0, 0.7, 0.45)]
        small = sizes[-1]
        less = [Style(small, ticks, legend=False) for ticks in (0.7, 0.4)]
        less += [Style(small, ticks, legend=False, caption=False) for ticks in (0.7, 0.4)]
        less += [Style(small, ticks, legend=False, caption=False, labels=False) for ticks in (0.7, 0.3)]
        return [*all_said, *less, Style(small, 0.0, False, False, False, False)]

    def _remark(self, style: Style) -> None:
        crowded = len(self.handles) > MOST_ENTRIES
        if crowded:
            self.remarks.append(f"the legend: {len(self.handles)} curves are too many to be told apart; left out")
        left = {
            "the legend": self.handles and not style.legend and not crowded,
            "the caption": self.caption and not style.caption,
            "labels of axes": not style.labels,
            "numbers at axes": not style.numbers,
        }
        self.remarks += [
            f"{what}: no room on {self.width} x {self.height} pixels; left out"
            for what, is_left in left.items()
            if is_left
        ]

    def _prepare(self) -> None:
        axes = self.axes
        for axis, scale, limits in (
            (self.across, axes.set_xscale, axes.set_xlim),
            (self.up, axes.set_yscale, axes.set_ylim),
        ):
            scale("log" if axis.logarithmic else "linear")
            limits(axis.low, axis.high)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(self.bar is not None)
        for spine in axes.spines.values():
            spine.set_linewidth(self.thin)
        if self.bar is not None:
            self._bar_axes = axes.inset_axes((1.03, 0.0, 0.045, 1.0))
            self.figure.colorbar(self.bar.mappable, cax=self._bar_axes)
            self._bar_axes.minorticks_off()

    def _apply(self, style: Style) -> None:
        for text in self._texts:
            text.remove()
        self._texts = []
        if self._legend is not None:
            self._legend.remove()
            self._legend = None
        renderer = self.figure.canvas.get_renderer()
        margin = max(2.0, 0.6 * style.text)
        top = self.height - margin
        if style.caption and self.caption:
            top -= self._write_caption(style, top, margin, renderer) + 0.5 * style.text
        if style.legend and self.handles:
            top -= self._write_legend(style, top, margin, renderer) + 0.4 * style.text
        region = (margin, margin, self.width - margin, max(top, margin + 4))
        self.axes.set_position((0.2, 0.2, 0.7, 0.6))  # resets what another style has set
        for _ in range(3):
            self._write_axes(style, renderer)
            self._place(region, renderer)

    def _write_caption(self, style: Style, top: float, margin: float, renderer: Any) -> float:
        """Returns the caption's height."""
        text = self.figure.text(
            margin / self.width,
            top / self.height,
            "",
            fontsize=0.72 * style.text,
            va="top",
            ha="left",
            family=self._families,
            parse_math=False,
        )
        self._texts.append(text)
        return _wrap(text, self.caption, self.width - 2 * margin, renderer, along=0, anywhere=True)

    def _write_legend(self, style: Style, top: float, margin: float, renderer: Any) -> float:
        """Writes the legend in as many columns as fit. Returns its height."""
        most = self.width - 2 * margin
        size = 0.72 * style.text
        largest = max((handle.get_markersize() for handle, _ in self.handles), default=0.0) / size
        # Dashes are only seen beside a marker if the line is long enough.
        dashed = any(handle.get_linestyle() not in ("-", "None") for handle, _ in self.handles)
        length, height = max(3.0 if dashed else 1.6, largest), max(0.7, largest)
        names, widths = self._legend_names(style, length, most, renderer)
        for columns in range(_columns(widths, 1.2 * style.text, most), 0, -1):
            # Matplotlib leaves out entries whose names begin with "_", so it gets these names later.
            self._legend = self.figure.legend(
                [handle for handle, _ in self.handles], ["."] * len(names),
                loc="upper left", bbox_to_anchor=(margin / self.width, top / self.height),
                ncols=columns, frameon=False, borderaxespad=0, borderpad=0,
                prop={"family": self._families, "size": size},
                handlelength=length, handleheight=height, columnspacing=1.2, labelspacing=0.3,
            )  # fmt: skip
            for text, name in zip(self._legend.get_texts(), names, strict=True):
                text.set(text=name, parse_math=False)
            box = self._legend.get_window_extent(renderer)
            if box.width <= most or columns == 1:
                return float(box.height)
            self._legend.remove()
        return 0.0

    def _legend_names(self, style: Style, length: float, most: float, renderer: Any) -> tuple[list[str], list[float]]:
        """Returns the names of curves, with line breaks where they are long, and the widths of their entries.
        `length`: of the lines or dots next to them, in units of the text's size."""
        text = self.figure.text(0, 0, "", fontsize=0.72 * style.text, family=self._families, parse_math=False)
        names, widths = [], []
        beside = (length + 0.8) * style.text  # the line or dot, and the gap after it
        for _, name in self.handles:
            _wrap(text, name, most - beside - 2, renderer, along=0, anywhere=True)
            names.append(text.get_text())
            widths.append(text.get_window_extent(renderer).width + beside)
        text.remove()
        return names, widths

    def _write_axes(self, style: Style, renderer: Any) -> None:
        from matplotlib.ticker import NullFormatter

        box = self.axes.get_window_extent(renderer)
        axes = self.axes
        most = (
            max(2, int(style.ticks * min(9, box.width / (5 * style.text)))),
            max(2, int(style.ticks * min(8, box.height / (2.4 * style.text)))),
        )
        kinds = [(self.across, axes.xaxis, most[0], box.width, 0), (self.up, axes.yaxis, most[1], box.height, 1)]
        if self.bar is not None:
            kinds.append((self.bar.axis, self._bar_axes.yaxis, most[1], box.height, 1))
        for of, axis, count, length, along in kinds:
            if of.ticks is not None and along == 1:
                count = max(1, int(style.ticks * box.height / (1.3 * style.text)))
            ticks = of.numbers(count)
            axis.set_ticks(ticks.at, ticks.texts if style.numbers else [""] * len(ticks.at))
            axis.set_ticks(ticks.minor, minor=True)
            axis.set_minor_formatter(NullFormatter())
            axis.set_tick_params(
                which="both",
                labelsize=0.72 * style.text,
                width=self.thin,
                length=0.3 * style.text,
                pad=0.2 * style.text,
            )
            axis.set_tick_params(which="minor", length=0.15 * style.text)
            label = axis.label
            label.set(fontsize=0.72 * style.text, family=self._families, parse_math=False)
            axis.labelpad = 0.25 * style.text
            label.set_text("")
            if style.labels:
                _wrap(label, of.label(ticks), length, renderer, along, anywhere=True)
        for axis in (axes.xaxis, axes.yaxis):
            if self.bar is None:
                axis.grid(True, which="major", color="#e2e4e8", linewidth=0.8 * self.thin)

    def _place(self, region: tuple[float, float, float, float], renderer: Any) -> None:
        """Makes the axes as large as the region allows, including the texts next to them."""
        box, whole = self.axes.get_window_extent(renderer), self.axes.get_tightbbox(renderer)
        left, below = region[0] + box.x0 - whole.x0, region[1] + box.y0 - whole.y0
        right, above = region[2] - (whole.x1 - box.x1), region[3] - (whole.y1 - box.y1)
        width, height = max(right - left, 4.0), max(above - below, 4.0)
        self.axes.set_position((left / self.width, below / self.height, width / self.width, height / self.height))

    def _problems(self) -> bool:
        """True if a text leaves the page or overlaps another, or if little room is left for the data."""
        self.figure.draw_without_rendering()  # places the texts of the legend
        renderer = self.figure.canvas.get_renderer()
        box = self.axes.get_window_extent(renderer)
        if box.width < 0.3 * self.width or box.height < 0.3 * self.height:
            return True
        boxes = [text.get_window_extent(renderer) for text in texts_of(self.figure)]
        if any(b.x0 < 0 or b.y0 < 0 or b.x1 > self.width or b.y1 > self.height for b in boxes):
            return True
        return any(_overlap(a, b) for n, a in enumerate(boxes) for b in boxes[:n])


def _columns(widths: list[float], gap: float, most: float) -> int:
    """Returns the largest number of columns of a legend that are no wider than `most`. Entries fill columns one by
    one."""
    for columns in range(len(widths), 1, -1):
        length, more = divmod(len(widths), columns)
        total, begin = -gap, 0
        for column in range(columns):
            end = begin + length + (column < more)
            total += max(widths[begin:end]) + gap
            begin = end
        if total <= most + 1:
            return columns
    return 1


def _overlap(a: Any, b: Any) -> bool:
    return min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0)


def texts_of(figure: Any) -> list[Any]:
    """Returns all visible texts."""
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def _wrap(text: Any, words: str, most: float, renderer: Any, along: int, anywhere: bool = False) -> float:
    """Breaks a text between words into lines of at most `most` pixels; `anywhere` also breaks words that are longer.
    Returns the height of all lines."""

    def size(of: str) -> float:
        text.set_text(of)
        box = text.get_window_extent(renderer)
        return box.height if along else box.width

    lines = [""]
    for space, word in re.findall(r"(\s*)(\S+)", words):
        if lines[-1] and size(lines[-1] + space + word) > most:
            lines.append("")
        while anywhere and not lines[-1] and size(word) > most and len(word) > 1:  # longer than a line
            cut = max(1, bisect_left(range(1, len(word)), True, key=lambda n: size(word[:n]) > most))
            lines[-1:] = [word[:cut], ""]
            word = word[cut:]
        lines[-1] += (space if lines[-1] else "") + word
    text.set_text("\n".join(lines))
    box = text.get_window_extent(renderer)
    return box.width if along else box.height
