"""A client in Python or Fortran leaves its loop within an iteration. Nobody waits for ever, and accounts agree."""

import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

HERE = Path(__file__).parent
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
TOOL = os.environ["SIDESTREAM_TOOL"]
PROGRAMS = {"Python": [sys.executable, str(HERE / "leaving.py")]}
if "SIDESTREAM_FORTRAN_LEAVING" in os.environ:
    PROGRAMS["Fortran"] = [os.environ["SIDESTREAM_FORTRAN_LEAVING"]]

TEXT = """\
output: {directory: results}
meshes: {grid: {size: [$n]}}
variables: {t: {mesh: grid}}
analyses: [statistics: {variable: t, file: t.csv}]
"""
# By placement, with three clients: the ranks of the simulation, and the servers that are started beside it.
PLACEMENTS = {
    "inline": (3, None),
    "{mode: cores, buffer: 32 MiB}": (4, None),
    "{mode: nodes, buffer: 32 MiB, servers: 2}": (5, None),
    "{mode: sidecar, buffer: 32 MiB, session: NAME}": (3, "serve"),
    "{mode: job, buffer: 32 MiB, stream: {directory: streams, engine: files}}": (4, "endpoint"),
}


@pytest.mark.keep(1)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_client_leaves_in_the_middle(program, placement, tmp_path):
    ranks, servers = PLACEMENTS[placement]
    name = f"leaving-{uuid.uuid4().hex[:12]}"
    (tmp_path / "run.yaml").write_text(f"placement: {placement.replace('NAME', name)}\n{TEXT}")
    command = [MPIRUN, "-n", str(ranks), *PROGRAMS[program], "run.yaml"]
    beside = servers and subprocess.Popen(
        [MPIRUN, "-n", "1", TOOL, servers, "--wait", "60", "run.yaml"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        said = beside.communicate(timeout=60)[0] if beside else ""
    finally:
        if beside:
            beside.kill()
    assert done.returncode == 0, done.stdout + done.stderr + said
    assert not beside or beside.returncode == 0, done.stdout + done.stderr + said
    accounts = sorted(re.findall(r"client (\d): (\d) (\d) (\d)", done.stdout))
    # An iteration that not all clients ended was not delivered.
    assert accounts == [("0", "3", "1", "2"), ("1", "3", "1", "2"), ("2", "1", "1", "0")], (
        done.stdout + done.stderr + said
    )
    table = (tmp_path / "results" / "t.csv").read_text().splitlines()
    assert len([line for line in table if line and not line.startswith("#")]) == 2, table
