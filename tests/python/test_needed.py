"""Programs in Python and Fortran publish only what is needed: 3 clients, and all results are there."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pairs import few

HERE = Path(__file__).parent
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
PROGRAMS = {"Python": [sys.executable, str(HERE / "needed.py")]}
if "SIDESTREAM_FORTRAN_NEEDED" in os.environ:
    PROGRAMS["Fortran"] = [os.environ["SIDESTREAM_FORTRAN_NEEDED"]]

TEXT = """\
output: {directory: results}
meshes: {grid: {size: [3]}}
variables: {idle: {mesh: grid}, often: {mesh: grid}, rarely: {mesh: grid}}
analyses:
  - statistics: {variable: often, every: 3, file: often.csv}
  - statistics: {variable: rarely, every: 50 cycles, file: rarely.csv}
"""
# Iterations in which everything is needed: the first max_in_flight, and with dedicated nodes, which tell nothing, all.
PLACEMENTS = [("{mode: cores, buffer: 32 MiB}", 4, 8), ("inline", 3, 8), ("{mode: nodes, servers: 2}", 5, 20)]


@pytest.mark.parametrize(
    ("program", "placement", "ranks", "untold"),
    few(PROGRAMS, PLACEMENTS, kept=[(name, *at) for name, at in zip(PROGRAMS, reversed(PLACEMENTS), strict=False)]),
)
def test_needed(program, placement, ranks, untold, tmp_path):
    (tmp_path / "run.yaml").write_text(f"placement: {placement}\n{TEXT}")
    command = [MPIRUN, "-n", str(ranks), *PROGRAMS[program], "run.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = [
        [str(step), *("FT"[int(step < untold or due)] for due in (False, step % 3 == 0, step % 5 == 0))]
        for step in range(20)
    ]
    assert [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()] == expected
    assert iterations(tmp_path / "results" / "often.csv") == list(range(0, 20, 3))
    assert iterations(tmp_path / "results" / "rarely.csv") == list(range(0, 20, 5))


def iterations(path):
    with path.open(newline="") as file:
        return [int(row["iteration"]) for row in csv.DictReader(line for line in file if not line.startswith("#"))]
