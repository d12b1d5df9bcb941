"""The heat equation in Fortran resumes from a checkpoint on other numbers of ranks, with the bits of a single run."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader

PROGRAM = os.environ["SIDESTREAM_HEAT"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 20  # steps of heat.f90
CONFIGURATION = """\
placement: {mode: PLACEMENT}
output: {directory: 'DIRECTORY', existing: resume}
meshes: {box: {type: uniform, size: [$n, $n, $n]}}
variables: {temperature: {mesh: box, unit: K}}
outputs:
  - database: {name: checkpoints, directory: restart, every: 8, keep: 2, fsync: false}
  - database: {name: all, directory: all, kind: post, fsync: false, hdf5: false}
"""


def run(folder, ranks, *arguments, placement="inline"):
    folder.mkdir(exist_ok=True)
    file = folder / "run.yaml"
    text = CONFIGURATION.replace("PLACEMENT", placement)
    file.write_text(text.replace("DIRECTORY", str(folder / "results")))
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(file), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return folder / "results", done


def temperatures(results):
    """Results by cycle and run."""
    contexts = database_reader.contexts(results / "all").values()
    return {(c.entry["cycle"], c.entry["run"]): c.whole("temperature") for c in contexts}


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """Runs 20 cycles; checkpoints of cycles 8 and 16 are kept."""
    results, done = run(tmp_path_factory.mktemp("straight"), 3)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "placement"),
    [(1, "inline"), (2, "inline"), (5, "inline"), (8, "inline"), (3, "cores, buffer: 32 MiB")],
)
def test_bitwise_on_other_ranks(straight, tmp_path, ranks, placement):
    results, done = run(tmp_path, ranks, straight / "restart", placement=placement)
    assert done.returncode == 0 and "heat:" not in done.stdout, done.stdout + done.stderr
    before, after = temperatures(straight), temperatures(results)
    assert [cycle for cycle, _ in after] == list(range(17, STEPS))
    for cycle, number in after:
        np.testing.assert_array_equal(after[cycle, number], before[cycle, 1])


@pytest.mark.test_all
def test_in_the_same_directory(tmp_path):
    """The second run adds contexts; those that the first has committed stay."""
    results, _ = run(tmp_path, 2)
    first = temperatures(results)
    results, done = run(tmp_path, 3, results / "restart")
    assert done.returncode == 0, done.stdout + done.stderr
    both = temperatures(results)
    assert set(both) == set(first) | {(cycle, 2) for cycle in range(17, STEPS)}
    for cycle, number in both:
        np.testing.assert_array_equal(both[cycle, number], first[cycle, 1])


def test_a_directory_without_checkpoints_is_said(tmp_path):
    _, done = run(tmp_path, 2, tmp_path)
    assert "heat: '" in done.stderr and "is no database" in done.stderr, done.stdout + done.stderr
    assert done.returncode != 0
