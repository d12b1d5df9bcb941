"""Runs the oscillators and reads their results."""

import functools
import os
from pathlib import Path

import mini_app
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "simulations" / "oscillators" / "inputs"
PLAIN = os.environ["OSCILLATORS_PLAIN"]
COUPLED = os.environ["OSCILLATORS"]


command = functools.partial(mini_app.command, program=PLAIN)
run = functools.partial(mini_app.run, program=PLAIN, timeout=60)


def dump(directory, ranks, *arguments, program=PLAIN, shape, dtype="float64"):
    """Values of all steps as an array [step, k, j, i] from a run that must succeed. `shape` has the points along i,
    j, k."""
    file = Path(directory) / "values.raw"
    done = run(ranks, *arguments, "--dump", file, program=program)
    assert done.returncode == 0, done.stdout + done.stderr
    return np.fromfile(file, dtype).reshape(-1, *reversed(shape))
