"""The closing report of the demo."""

from pathlib import Path

import numpy as np
from PIL import Image


def _milliseconds(seconds):
    return f"{1e3 * seconds:.1f}" if seconds < 0.1 else f"{1e3 * seconds:.0f}"


def headline(runs):
    """Returns a sentence about the time lost in a step, for each run but the first, which has no analyses."""
    lines = []
    for title, timings in list(runs.items())[1:]:
        inside, share = _milliseconds(timings.per_step("inside")), 100 * timings.per_step("share")
        lines.append(f"  {title:<20} {inside:>6} ms of each step inside Sidestream, {share:.1f} % of it")
    return lines


def loss_table(runs):
    """Lines of a table: `runs` is title -> Timings; the first is the run that others are compared with. What each step
    loses comes first; the difference of whole runs, in which a busy machine shows too, last."""
    header = [
        "",
        "in Sidestream",
        "share",
        "publish",
        "wait",
        "end",
        "compute",
        "servers work",
        "all steps",
        "longer by",
    ]
    reference = next(iter(runs.values())).loop
    rows = []
    for number, (title, timings) in enumerate(runs.items()):
        parts = [_milliseconds(timings.per_step(part)) for part in ("publish", "wait", "end", "compute")]
        inside = [_milliseconds(timings.per_step("inside")), f"{100 * timings.per_step('share'):.1f} %"]
        lost = timings.loop - reference
        longer = f"{lost:+.2f} s ({100 * lost / reference:+.1f} %)" if number else "-"
        rows.append([title, *inside, *parts, f"{timings.busy:.2f} s", f"{timings.loop:.2f} s", longer])
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]

    def line(row):
        first = row[0].ljust(widths[0])
        return "  " + "  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])

    return [line(header), "  " + "-" * (sum(widths) + 2 * len(widths) - 2), *map(line, rows)]


def disturbance(runs):
    """A sentence if something else took the cores while the demo ran, so that its times say little; otherwise empty."""
    medians = [timings.per_step("compute") for timings in runs.values()]
    longest = max(step.compute for timings in runs.values() for step in timings.steps)
    if max(medians) < 1.25 * min(medians) and longest < 3 * min(medians):
        return ""
    return (
        f"The same computing took between {min(medians):.2f} and {longest:.2f} s a step: this machine was busy with "
        "something else, or has fewer than two cores to give. Run the demo again when it is not."
    )


def difference(one, other):
    """Names of results that are not the same in two directories: tables byte by byte, pictures pixel by pixel."""
    one, other = Path(one), Path(other)
    different = []
    for pattern in ("*.csv", "frames/*.png"):
        for file in sorted(one.glob(pattern)):
            if file.name in ("times.csv", "timings.csv", "iterations.csv"):
                continue
            name = file.relative_to(one)
            twin = other / name
            if not twin.exists() or not _same(file, twin):
                different.append(str(name))
    return different


def _same(file, twin):
    if file.suffix != ".png":
        return file.read_bytes() == twin.read_bytes()
    with Image.open(file) as first, Image.open(twin) as second:
        return first.size == second.size and np.array_equal(np.asarray(first), np.asarray(second))
