"""Runs the blast and reads what it leaves."""

import os
import subprocess
from pathlib import Path

import numpy as np

PLAIN = os.environ["BLAST_PLAIN"]
COUPLED = os.environ.get("BLAST", "")
# As simulations/blast/dump.hpp says.
LEAF = np.dtype([("level", "<i4"), ("at", "<i4", 3), ("density", "<f8"), ("momentum", "<f8", 3), ("energy", "<f8")])
GAMMA = 1.4


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
    """The leaves at the end as bytes."""
    file = Path(directory) / "leaves.raw"
    succeed(ranks, *arguments, "--quiet", "--dump", file, **options)
    return file.read_bytes()


class Leaves:
    """What a dump has, with what follows from it."""

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
