"""Runs the advection and reads what it leaves."""

import os
import subprocess
from pathlib import Path

import numpy as np

PLAIN = os.environ["ADVECTION_PLAIN"]
COUPLED = os.environ.get("ADVECTION", "")
# As simulations/advection/dump.hpp says.
CELL = np.dtype([("level", "<i4"), ("at", "<i4", 3), ("patch", "<i8"), ("density", "<f8")])


def run(ranks, *arguments, program=PLAIN, timeout=100):
    """The finished process, whatever its status, with its output as text."""
    launch = [os.environ["MPIEXEC"], "-n", str(ranks), *os.environ.get("MPIEXEC_FLAGS", "").split()]
    line = [*launch, program, *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=timeout, check=False)


def succeed(ranks, *arguments, **options):
    done = run(ranks, *arguments, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def dump(directory, ranks, *arguments, **options):
    """The cells at the end as bytes."""
    file = Path(directory) / "cells.raw"
    succeed(ranks, *arguments, "--quiet", "--dump", file, **options)
    return file.read_bytes()


class Cells:
    """What a dump has, with what follows from it: `counted` says which cells no finer ones cover."""

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
        """A number for each place of a level."""
        width = self.width[self.level == level][0]
        return (at[:, 2] * width + at[:, 1]) * width + at[:, 0]

    def away(self, middle):
        """From a place, round the periodic edges."""
        away = self.middle - np.asarray(middle)[: self.dimensions]
        return away - np.round(away)

    def gaussian(self, middle):
        return np.exp(-(self.away(middle) ** 2).sum(axis=1) / (2 * 0.08**2))

    def error(self, exact):
        """The mean of |density - exact| over the whole domain."""
        return (self.volume * abs(self.density - exact))[self.counted].sum()
