"""Runs the blast and reads its results."""

import functools
import os
from pathlib import Path

import mini_app
import numpy as np

PLAIN = os.environ["BLAST_PLAIN"]
COUPLED = os.environ.get("BLAST", "")
# The format of simulations/blast/dump.hpp.
LEAF = np.dtype([("level", "<i4"), ("at", "<i4", 3), ("density", "<f8"), ("momentum", "<f8", 3), ("energy", "<f8")])
GAMMA = 1.4


run, succeed = (functools.partial(call, program=PLAIN) for call in (mini_app.run, mini_app.succeed))


def dump(directory, ranks, *arguments, **options):
    """Runs the blast; returns the leaves at the end as bytes."""
    file = Path(directory) / "leaves.raw"
    succeed(ranks, *arguments, "--quiet", "--dump", file, **options)
    return file.read_bytes()


class Leaves:
    """The contents of a dump, and quantities derived from it."""

    def __init__(self, raw):
        leaves = np.frombuffer(raw, LEAF)
        self.level, self.at = leaves["level"].astype(int), leaves["at"].astype(int)
        self.size = 0.5**self.level
        self.volume = self.size**3
        self.middle = (self.at + 0.5) * self.size[:, None]
        self.density, self.momentum, self.energy = leaves["density"], leaves["momentum"], leaves["energy"]
        self.velocity = self.momentum / self.density[:, None]
        kinetic = 0.5 * (self.momentum * self.velocity).sum(axis=1)
        self.pressure = (GAMMA - 1) * (self.energy - kinetic)
