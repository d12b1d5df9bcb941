"""Checks the first row of a table that the extremum plug-in wrote: check_extremum.py FILE VALUE I J K."""

import csv
import sys
from pathlib import Path


def main() -> int:
    path, *expected = sys.argv[1:]
    with Path(path).open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(line for line in file if not line.startswith("#")))
    found = [float(row[name]) for name in ("value", "i", "j", "k")]
    if found != [float(text) for text in expected]:
        print(f"{path}: value and index are {found}, expected {expected}")
        return 1
    # With unit spacing and origin 0, the centre of cell i is at i + 1/2.
    centre = [float(row[name]) for name in ("x", "y", "z")]
    if centre != [index + 0.5 for index in found[1:]]:
        print(f"{path}: position is {centre}, which is not the middle of cell {found[1:]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
