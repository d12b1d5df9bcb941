"""Runs the oscillators and reads what they leave."""

import os
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
INPUTS = ROOT / "simulations" / "oscillators" / "inputs"
PLAIN = os.environ["OSCILLATORS_PLAIN"]
COUPLED = os.environ["OSCILLATORS"]


def command(ranks, *arguments, program=PLAIN):
    """The command line on so many ranks; 0 means without mpirun."""
    launch = [os.environ["MPIEXEC"], "-n", str(ranks), *os.environ.get("MPIEXEC_FLAGS", "").split()] if ranks else []
    return [*launch, program, *map(str, arguments)]


def run(ranks, *arguments, program=PLAIN, timeout=60, **options):
    """The finished process, whatever its status, with its output as text."""
    line = command(ranks, *arguments, program=program)
    return subprocess.run(line, capture_output=True, text=True, timeout=timeout, check=False, **options)


def dump(directory, ranks, *arguments, program=PLAIN, shape, dtype="float64"):
    """Values of all steps as an array [step, k, j, i] from a run that must succeed; `shape` is points along i, j, k."""
    file = Path(directory) / "values.raw"
    done = run(ranks, *arguments, "--dump", file, program=program)
    assert done.returncode == 0, done.stdout + done.stderr
    return np.fromfile(file, dtype).reshape(-1, *reversed(shape))
