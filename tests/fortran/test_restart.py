"""Fortran programs write checkpoints and read them on other numbers of ranks. Some have no block or several."""

import os
import subprocess

import pytest

PROGRAM = os.environ["SIDESTREAM_FORTRAN_RESTART"]
READING = os.environ["SIDESTREAM_FORTRAN_READING"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")

CONFIGURATION = """\
placement: {PLACEMENT}
output: {directory: DIRECTORY}
meshes:
  cloud: {type: points, dimensions: 3, coordinates: places}
variables:
  places: {mesh: cloud, components: 3}
outputs:
  - database: {directory: restart, kind: checkpoint, fsync: false}
"""


def run(ranks, *arguments):
    command = [MPIRUN, "-n", str(ranks), PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def write(folder, ranks, blocks, placement="inline"):
    file = folder / "run.yaml"
    text = CONFIGURATION.replace("{PLACEMENT}", placement)
    file.write_text(text.replace("DIRECTORY", str(folder / "results")))
    run(ranks, "write", file, blocks)
    return folder / "results" / "restart"


@pytest.mark.keep(1)
@pytest.mark.parametrize(("writers", "readers", "blocks"), [(1, 3, 1), (3, 8, 7), (8, 1, 5), (5, 2, 8)])
def test_on_other_ranks(tmp_path, writers, readers, blocks):
    directory = write(tmp_path, writers, blocks)
    run(readers, "read", directory, blocks)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "ranks"), [("{mode: cores, buffer: 32 MiB}", 3), ("{mode: nodes, servers: 2}", 5)]
)
def test_from_other_placements(tmp_path, placement, ranks):
    run(2, "read", write(tmp_path, ranks, 4, placement), 4)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("ranks", "blocks"), [(3, 7), (1, 1)])
def test_by_the_calls_of_databases(tmp_path, ranks, blocks):
    """A program without MPI_Init reads it."""
    command = [READING, str(write(tmp_path, ranks, blocks)), str(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes(tmp_path):
    said = run(1, "mistakes", write(tmp_path, 2, 3), 3)
    assert "sidestream: the checkpoint has no mesh 'kept'" in said
