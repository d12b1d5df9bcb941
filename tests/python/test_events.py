"""Events that programs in Python and Fortran raise, as an analysis in Python sees them."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pairs import few

HERE = Path(__file__).parent
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
PROGRAMS = {"Python": [sys.executable, str(HERE / "raising.py")]}
if "SIDESTREAM_FORTRAN_RAISING" in os.environ:
    PROGRAMS["Fortran"] = [os.environ["SIDESTREAM_FORTRAN_RAISING"]]

TEXT = """\
output: {directory: results}
meshes: {grid: {size: [3]}}
variables: {t: {mesh: grid}}
events: [lost, count, phase]
analyses: [python: {variables: t, script: seen.py, call: Seen, file: seen.csv}]
"""


PLACEMENTS = [("{mode: cores, buffer: 32 MiB}", 4), ("inline", 3), ("{mode: nodes, servers: 2}", 5)]


@pytest.mark.parametrize(
    ("program", "placement", "ranks"),
    few(PROGRAMS, PLACEMENTS, kept=[(name, *at) for name, at in zip(PROGRAMS, reversed(PLACEMENTS), strict=False)]),
)
def test_events(program, placement, ranks, tmp_path):
    shutil.copy(HERE / "scripts" / "seen.py", tmp_path)
    (tmp_path / "run.yaml").write_text(f"placement: {placement}\n{TEXT}")
    command = [MPIRUN, "-n", str(ranks), *PROGRAMS[program], "run.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with (tmp_path / "results" / "seen.csv").open(newline="") as file:
        rows = [
            [float(row[c]) for c in ("iteration", "event", "client", "raised", "real", "first", "second")]
            for row in csv.DictReader(line for line in file if not line.startswith("#"))
        ]
    lost = [[0, 0, client, 0, 1, client, client + 0.5] for client in range(3)]
    assert [row for row in rows if row[1] != 2] == [*lost, [1, 1, 0, 1, 0, 7, 8], [3, 0, 0, 3, 1, 0, 0]]
    # The barrier is reached when the last client comes to it.
    assert [row[:3] for row in rows if row[1] == 2] == [[2, 2, -1]]
