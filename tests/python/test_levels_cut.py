"""Patches that begin in the middle of a coarse cell. Analyses of their mesh do not run, and tell why; outputs and
analyses of other meshes do. If another patch completes the cell, all of them run and count each place once."""

import csv
import os
import subprocess
import sys

import pytest

MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
PROGRAM = """\
import sys
import numpy as np
import sidestream
from mpi4py import MPI

text, complete = open(sys.argv[1]).read(), int(sys.argv[2])
with sidestream.open_session(MPI.COMM_WORLD, text=text) as s:
    if s.is_server:
        s.serve()
        sys.exit()
    blocks = [(0, (0, 0, 0), (4, 4, 4)), (1, (2, 2, 2), (5, 6, 6))]
    if complete:
        blocks.append((1, (5, 2, 2), (6, 6, 6)))
    own = {n: b for n, b in enumerate(blocks) if n % s.comm.size == s.comm.rank}
    for n, (level, lo, hi) in own.items():
        s.set_block("grid", n, lo, hi, level=level)
    if s.comm.rank == 0:
        s.set_block("other", 0, (0, 0, 0), (2, 2, 2))
    s.start()
    for step in range(2):
        for n, (level, lo, hi) in own.items():
            s.publish("t", n, np.full([b - a for a, b in zip(lo, hi)][::-1], 1.0 + level))
        if s.comm.rank == 0:
            s.publish("u", 0, np.ones((2, 2, 2)))
        s.end_iteration(step, 0.5 * step)
"""
RUN = """\
placement: {PLACEMENT}
output: {directory: 'DIRECTORY'}
meshes:
  grid: {type: uniform, size: [4, 4, 4], refinement: ['2']}
  other: {type: uniform, size: [2, 2, 2]}
variables: {t: {mesh: grid}, u: {mesh: other}}
analyses:
  - statistics: {variable: t, file: t.csv}
  - slice: {variable: t, axis: z, position: 1.6, file: 'slice-{index}.vtp'}
  - statistics: {variable: u, file: u.csv}
outputs:
  - database: {directory: data, fsync: false}
"""


def run(folder, placement, ranks, complete):
    (folder / "run.yaml").write_text(
        RUN.replace("{PLACEMENT}", placement).replace("DIRECTORY", str(folder / "results"))
    )
    (folder / "program.py").write_text(PROGRAM)
    command = [MPIRUN, "-n", str(ranks), sys.executable, folder / "program.py", folder / "run.yaml", str(int(complete))]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
    return folder / "results", done


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


PLACEMENTS = [("inline", 1), ("inline", 3), ("{mode: cores, buffer: 32 MiB}", 3), ("{mode: nodes, servers: 2}", 5)]


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks"), PLACEMENTS)
def test_cut(placement, ranks, tmp_path):
    results, done = run(tmp_path, placement, ranks, complete=False)
    assert done.returncode == 0, done.stderr
    said = "analyses of the mesh 'grid' do not run: block 1 of level 1 covers a part of cell (2, 1, 1) of block 0 of "
    assert said in done.stderr and "let blocks begin and end at faces of coarser cells" in done.stderr
    assert len(rows(results / "u.csv")) == 2
    assert not (results / "t.csv").exists() and not list(results.glob("slice-*"))
    import sidestream

    assert sidestream.open(results / "data", iteration=1)["t"].shape == (4, 4, 4)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks"), PLACEMENTS)
def test_completed(placement, ranks, tmp_path):
    results, done = run(tmp_path, placement, ranks, complete=True)
    assert done.returncode == 0 and "do not run" not in done.stderr, done.stderr
    counted = rows(results / "t.csv")
    assert [(int(r["count"]), float(r["sum"])) for r in counted] == [(56 + 64, 56 + 128)] * 2
    assert len(list(results.glob("slice-*"))) == 2
