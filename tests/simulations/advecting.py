"""Runs the advection and reads its results."""

import functools
import os
from pathlib import Path

import mini_app
import numpy as np

PLAIN = os.environ["ADVECTION_PLAIN"]
COUPLED = os.environ.get("ADVECTION", "")
# The format of simulations/advection/dump.hpp.
CELL = np.dtype([("level", "<i4"), ("at", "<i4", 3), ("patch", "<i8"), ("density", "<f8")])


run, succeed = (functools.partial(call, program=PLAIN) for call in (mini_app.run, mini_app.succeed))


def dump(directory, ranks, *arguments, **options):
    """Runs the advection; returns the cells at the end as bytes."""
    file = Path(directory) / "cells.raw"
    succeed(ranks, *arguments, "--quiet", "--dump", file, **options)
    return file.read_bytes()


class Cells:
    """The contents of a dump, and quantities derived from it. `counted` is true for cells that no finer ones cover."""

    def __init__(self, raw, cells, dimensions=2, ratio=2):
        found = np.frombuffer(raw, CELL)
        self.level, self.at, self.patch = found["level"].astype(int), found["at"].astype(int), found["patch"]
        self.density = found["density"]
        self.dimensions, self.ratio = dimensions, np.array([ratio, ratio, ratio if dimensions == 3 else 1])
        self.width = cells * ratio**self.level  # cells of the level along an axis
        self.volume = (1.0 / self.width) ** dimensions
        self.middle = ((self.at + 0.5) / self.width[:, None])[:, :dimensions]
        self.counted = np.ones(len(found), bool)
        for level in range(self.level.max()):
            here = np.flatnonzero(self.level == level)
            finer = np.unique(self.at[self.level == level + 1] // self.ratio, axis=0)
            self.counted[here] = ~np.isin(self.numbers(self.at[here], level), self.numbers(finer, level))

    def numbers(self, at, level):
        """A number for each position on a level."""
        width = self.width[self.level == level][0]
        return (at[:, 2] * width + at[:, 1]) * width + at[:, 0]

    def away(self, middle):
        """Vectors from a position to the cells, through the periodic edges if that is nearer."""
        away = self.middle - np.asarray(middle)[: self.dimensions]
        return away - np.round(away)

    def gaussian(self, middle):
        return np.exp(-(self.away(middle) ** 2).sum(axis=1) / (2 * 0.08**2))

    def error(self, exact):
        """The mean of |density - exact| over the whole domain."""
        return (self.volume * abs(self.density - exact))[self.counted].sum()
