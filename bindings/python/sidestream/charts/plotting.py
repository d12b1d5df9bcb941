"""Draws the chart of a table: `sidestream.plot`, `python -m sidestream plot` and `sidestream plot`."""

import argparse
import logging
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Code, Error
from .fonts import FIRST
from .given import Given, read_given
from .how import LOGS, How
from .kinds import is_over_time, kind_of
from .page import Page
from .scales import plain
from .times import COLUMNS, draw_runs, names_of_runs
from .titles import titles_of, told

ENDINGS = (".png", ".pdf", ".svg")
BESIDE_A_RUN = "--beside-a-run"
# Journals want fonts of type 42 in PDF files, and points per inch for the fields of 2-D histograms.
OWN_STYLE = {"font.family": FIRST, "pdf.fonttype": 42, "svg.hashsalt": "sidestream"}
DOTS_IN_VECTORS = 300
GLYPH_MISSING = "Glyph .* missing from font"


def _default_caption(given: Given, what: str) -> str:
    moment = given.moment()
    parts = [what]
    if "time" in moment:
        parts.append(f"time {plain(float(moment['time']), 5)}")
    if "cycle" in moment:
        parts.append(f"cycle {int(moment['cycle'])}")
    return "    ".join(parts)


def _style(ending: str) -> dict[str, Any]:
    """Returns settings of Matplotlib for a kind of picture. Programs that show PDF and SVG place letters between
    pixels, so the widths of texts are measured in the same way there."""
    return OWN_STYLE if ending in ("", ".png") else {**OWN_STYLE, "text.hinting": "no_hinting"}


def _drawn(table: Any, how: How, ending: str) -> Page:
    """Draws for a file with this ending; empty if there is none. `table` may be a list of tables of runs."""
    if find_spec("matplotlib") is None:
        raise Error(
            "plot: matplotlib is not installed, which draws charts; install it (`pip install 'sidestream[plot]'`)"
        )
    tables = list(table) if isinstance(table, list | tuple) else [table]
    if len(tables) == 1:
        return _drawn_one(tables[0], how, ending)
    runs = _runs(tables, how)
    return _fitted(how, ending, ", ".join(map(str, tables)), lambda page: draw_runs(page, runs, how))


def _runs(tables: list[Any], how: How) -> list[tuple[str, Given]]:
    """Reads the tables of several runs, and names these. Throws Error if they are other tables."""
    if not tables or not all(isinstance(table, str | os.PathLike) for table in tables):
        raise Error("plot: several tables are drawn in one chart only if they are files, the timings.csv of runs")
    runs = []
    for table, name in zip(tables, names_of_runs([Path(table) for table in tables], how.names), strict=True):
        given = read_given(table, how.iteration, is_over_time)
        if not given.has(*COLUMNS):
            raise Error(f"{table}: it does not have the times of a run; only tables that have share a chart", Code.FILE)
        runs.append((name, given.until(how.iteration)))
    return runs


def _drawn_one(table: Any, how: How, ending: str) -> Page:
    whole = read_given(table, how.iteration, is_over_time)
    kind = kind_of(whole)
    given = whole.until(how.iteration) if kind.over_time else whole.of_iteration(how.iteration)
    titles = told(how.said) if how.said else titles_of(given.path)

    def draw(page: Page) -> str:
        return _default_caption(given, kind.draw(page, given, how, titles))

    return _fitted(how, ending, given.named, draw)


def _fitted(how: How, ending: str, named: str, draw: Callable[[Page], str]) -> Page:
    """Makes a page on which `draw` draws, and adds all texts. `draw` returns the default caption."""
    from matplotlib import style

    with (
        style.context(["default", _style(ending)], after_reset=True),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.filterwarnings("ignore", message=GLYPH_MISSING)  # the page remarks on them
        try:
            page = Page(*how.size)
            caption = draw(page)
            page.caption = caption if how.caption is None else how.caption
            page.fit()
        except (ValueError, OverflowError) as problem:
            raise Error(f"{named}: its values cannot be drawn ({problem})", Code.FILE) from problem
    return page


def _save(page: Page, target: Path, provenance: str) -> None:
    """Writes the file so that it appears whole; replaces an earlier one."""
    endings = {
        ".png": {"Software": None, **({"Description": provenance} if provenance else {})},
        ".pdf": {"CreationDate": None, **({"Subject": provenance} if provenance else {})},
        ".svg": {"Date": None, **({"Description": provenance} if provenance else {})},
    }
    if target.suffix not in endings:
        raise Error(f"plot: found '{target.name}', expected a name that ends in one of {', '.join(ENDINGS)}")
    try:
        _write(page, target, endings[target.suffix])
    except OSError as problem:
        raise Error(f"{target}: cannot be written: {problem.strerror or problem}", Code.FILE) from problem


def _write(page: Page, target: Path, metadata: dict[str, str | None]) -> None:
    from matplotlib import style

    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}-", suffix=target.suffix, dir=target.parent)
    os.close(handle)
    dots = page.figure.dpi if target.suffix == ".png" else DOTS_IN_VECTORS
    try:
        # Settings of the user, such as savefig.bbox, would change sizes.
        with (
            style.context(["default", _style(target.suffix)], after_reset=True),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.filterwarnings("ignore", message=GLYPH_MISSING)
            page.figure.savefig(temporary, dpi=dots, metadata=metadata)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(target)
    finally:
        Path(temporary).unlink(missing_ok=True)


def plot(table: Any, target: str | os.PathLike[str] | None = None, *, provenance: str = "", **options: Any) -> Any:
    """Draws the chart of a table. The table is a file (.csv, .pieces, .series, .h5, .parquet) or a result of
    sidestream.open, and comes from `histogram`, `histogram2d`, `power_spectrum`, `particle_spectrum`, `lyman_alpha`,
    `statistics`, or the mass function or history of `halos`, or is the record `timings.csv` of a run, or a table of
    `sidestream advise` or `simulate-scale`. Returns Matplotlib's figure; `target` (.png, .pdf, .svg) names a file to
    write it to. If the table has several iterations, the chart shows the last one, or the one that `iteration` names;
    charts over time show all up to it. A list of several runs' `timings.csv` gives one chart of all.

    Options: size=(width, height) in pixels, 100 per inch; log="none", "x", "y" or "xy", the logarithmic axes; quantity,
    the column to draw (of `timings.csv` compute, publish, wait, end, held, work, spare or tasks); names, a tuple with
    the names of several runs; caption, empty for none; x_label and y_label; label, the first words of the default
    caption; tracks, the number that a history shows; colours, colour_scale and range of a 2-D histogram. Names and
    units come from the record of the run; reading it needs the package PyYAML."""
    page = _drawn(table, How(**options), "" if target is None else Path(target).suffix)
    if target is not None:
        _save(page, Path(target), provenance)
    return page.figure


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sidestream plot", description="Draws the chart of a table with Matplotlib.")
    parser.add_argument(
        "table",
        nargs="+",
        help="a table of an analysis: .csv, .pieces, .series, .h5, or .parquet; or several timings.csv",
    )
    parser.add_argument("-o", "--output", help="the picture, .png, .pdf or .svg; by default the table's name with .png")
    parser.add_argument(
        "--names", help="names of several runs, separated by commas; by default what their paths differ in"
    )
    parser.add_argument("--size", default="1024x768", help="width and height in pixels: 1024x768")
    parser.add_argument("--log", choices=LOGS, help="logarithmic axes; the default suits the table")
    parser.add_argument(
        "--iteration", type=int, help="the iteration to draw if the table has several; by default the last one"
    )
    parser.add_argument(
        "--quantity",
        help="the column to draw: power or dimensionless; count, weight, density; held, work, spare, tasks ...",
    )
    parser.add_argument("--caption", help="the text above; empty for none")
    parser.add_argument("--label", default="", help="the first words of the default caption")
    parser.add_argument("--x-label", default="", help="replaces the name of the x axis")
    parser.add_argument("--y-label", default="", help="replaces the name of the y axis")
    parser.add_argument("--tracks", type=int, default=24, help="number of tracks of halos to draw, the heaviest first")
    parser.add_argument("--colours", default="viridis", help="the colour map of a 2-D histogram")
    parser.add_argument("--colour-scale", choices=("linear", "logarithmic"), default="linear")
    parser.add_argument("--range", help="LOW,HIGH: values at both ends of the colour map")
    # Options for a running session: it has not written its record yet, so it passes titles and units itself.
    parser.add_argument("--provenance", default="", help=argparse.SUPPRESS)
    parser.add_argument("--up", choices=("linear", "logarithmic"), help=argparse.SUPPRESS)
    for name in ("--title", "--unit", "--option"):
        parser.add_argument(name, action="append", default=[], metavar="NAME:TEXT", help=argparse.SUPPRESS)
    return parser


def _size(text: str) -> tuple[int, int]:
    parts = text.lower().replace(",", "x").split("x")
    if len(parts) != 2 or not all(re.fullmatch(r"\s*[0-9]{1,9}\s*", part) for part in parts):
        raise Error(f"plot: the size '{text}', expected width and height in pixels, as in 1024x768", Code.USAGE)
    return int(parts[0]), int(parts[1])


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise Error(f"plot: the range '{text}', expected two numbers, as in 0.5,20", Code.USAGE) from None
    return low, high


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. Returns 0: done; 1: an error, which is printed; 2: wrong arguments."""
    arguments = sys.argv[2:] if arguments is None else arguments
    # The user's settings of Matplotlib do not apply, and its remarks about them would only confuse.
    os.environ.update(MPLBACKEND="agg", MATPLOTLIBRC=os.devnull)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    return _beside_a_run(arguments[1:]) if arguments[:1] == [BESIDE_A_RUN] else _one(arguments)


def _target(tables: list[str], output: str | None) -> Path:
    if output:
        return Path(output)
    if len(tables) > 1:
        raise Error(f"plot: found {len(tables)} tables and no name for their chart; name it by -o", Code.USAGE)
    if not Path(tables[0]).name:
        raise Error(f"plot: '{tables[0]}' is no table; name the file that an analysis wrote", Code.USAGE)
    return Path(tables[0]).with_suffix(".png")


def _one(arguments: list[str]) -> int:
    given = vars(_parser().parse_args(arguments))
    tables, output, provenance = given.pop("table"), given.pop("output"), given.pop("provenance")
    said = {name: dict(text.split(":", 1) for text in given.pop(name)) for name in ("title", "unit", "option")}
    given["said"] = {name: found for name, found in said.items() if found}
    try:
        target = _target(tables, output)
        given["names"] = tuple(given["names"].split(",")) if given["names"] else ()
        given["size"] = _size(given["size"])
        given["range"] = _range(given["range"]) if given["range"] else None
        page = _drawn(tables, How(**given), target.suffix)
        _save(page, target, provenance)
    except Error as problem:
        print(f"sidestream: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        where = problem.filename or tables[0]
        print(f"sidestream: plot: {where}: {problem.strerror or problem}", file=sys.stderr)
        return 1
    except MemoryError:
        print(
            f"sidestream: plot: {tables[0]}: there is too little memory for its chart; ask for fewer pixels",
            file=sys.stderr,
        )
        return 1
    for remark in page.remarks:
        print(f"sidestream: {target}: {remark}", file=sys.stderr)
    return 0


def _beside_a_run(arguments: list[str]) -> int:
    """Draws several charts; `--next` separates their arguments. Prints a line with the outcome of each for the server
    that asked for them (src/storage/charts/drawing.cpp)."""
    os.nice(5)  # the simulation's processes go first
    charts: list[list[str]] = [[]]
    for word in arguments:
        if word == "--next":
            charts.append([])
        else:
            charts[-1].append(word)
    for chart in charts:
        try:
            is_drawn = _one(chart) == 0
        except Exception as problem:  # any failure: the other charts can still be drawn
            print(f"sidestream: plot: {type(problem).__name__}: {problem}", file=sys.stderr)
            is_drawn = False
        sys.stderr.flush()
        print("\x1fdrawn" if is_drawn else "\x1ffailed", flush=True)
    return 0
