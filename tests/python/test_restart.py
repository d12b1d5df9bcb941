"""A program in Python writes checkpoints, and reads them on other numbers of ranks, with several blocks on a rank or
none. One process reads without MPI."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import checkpoints
import numpy as np
import pytest
import sidestream
from optional_packages import needs
from pairs import few

PROGRAM = Path(__file__).with_name("checkpoints.py")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
NAMES = [*checkpoints.KINDS, "places", "ids"]


def run(ranks, *arguments, status=0):
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode != 0) == bool(status), done.stdout + done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A checkpoint of 3 ranks with 7 blocks."""
    results = tmp_path_factory.mktemp("written") / "results"
    run(3, "write", results, 7)
    return results


@pytest.mark.test_all
@pytest.mark.parametrize(("writers", "blocks"), few([(5, 2), (1, 3), (8, 8)]))
def test_written_by_other_numbers(tmp_path, writers, blocks):
    run(writers, "write", tmp_path / "results", blocks)
    checkpoints.read(tmp_path / "results" / "restart", 5)


@pytest.mark.parametrize(("readers", "blocks"), few([(5, 8), (1, 5), (2, 2), (8, 3)]))
def test_read_by_other_numbers(written, readers, blocks):
    run(readers, "read", written / "restart", blocks)


def test_read_from_a_path_that_is_not_utf_8(written, tmp_path):
    place = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(written / "restart", place)
    run(2, "read", place, 2)


@pytest.mark.parametrize(
    ("placement", "ranks"), few([("{mode: nodes, servers: 2}", 4), ("{mode: cores, buffer: 32 MiB}", 3)])
)
def test_from_other_placements(tmp_path, placement, ranks):
    run(ranks, "write", tmp_path / "results", 4, placement)
    checkpoints.read(tmp_path / "results" / "restart", 5)


# The following initialises MPI in this process, which cannot start mpirun after that.
def alone_and_together(directory):
    from mpi4py import MPI

    return sidestream.restart(directory), sidestream.restart(directory, MPI.COMM_SELF)


def test_one_process_finds_the_same(written):
    alone, together = alone_and_together(written / "restart")
    assert dict(alone.variables) == dict(together.variables)
    assert alone.meshes == together.meshes
    for mesh in alone.meshes:
        assert alone.blocks(mesh) == together.blocks(mesh)
    with sidestream.restart(written / "restart", cycle=10) as older:
        assert (older.iteration, older.time) == (1, 0.5)


def test_a_damaged_checkpoint_is_passed_over(written, tmp_path):
    needs("xxhash")
    directory = tmp_path / "damaged"
    shutil.copytree(written / "restart", directory)
    segment = directory / "segment-0001-000000-0000.h5"
    whole = sidestream.open(directory, into="numpy", iteration=2)
    wanted = whole["nodes"].context.pieces(whole["nodes"].variable)[0]
    content = bytearray(segment.read_bytes())
    content[int(wanted.row["offset"]) + 5] ^= 4
    segment.write_bytes(content)
    for found in alone_and_together(directory):
        assert found.cycle == 10
        assert len(found.remarks) == 1
        assert "cycle 20" in found.remarks[0] and "is passed over" in found.remarks[0]
        np.testing.assert_array_equal(
            found.read_box("longs", [0, 0], [5, 16]), checkpoints.values("longs", [0, 0], [5, 16], 1)
        )
    with pytest.raises(
        sidestream.Error, match=r"values of 'nodes' on block 0 of context 3 .* are not what was written"
    ):
        sidestream.open(directory, into="numpy", iteration=2)["nodes"][0]


def test_mistakes(written, tmp_path):
    for found in alone_and_together(written / "restart"):
        with pytest.raises(sidestream.Error, match="no variable 'node', but nodes"):
            found.read_box("node", [0], [1])
        with pytest.raises(sidestream.Error, match="no mesh 'boxes'"):
            found.blocks("boxes")
        with pytest.raises(sidestream.Error, match="lo has 2 entries and hi 1"):
            found.read_box("longs", [0, 0], [1])
        with pytest.raises(sidestream.Error, match="'places' is a list"):
            found.read_box("places", [0], [1])
        with pytest.raises(sidestream.Error, match="'longs' is no list"):
            found.read_list("longs")
        with pytest.raises(sidestream.Error, match="its blocks have 28"):
            found.read_list("places", 20, 9)
        with pytest.raises(sidestream.Error, match="no block 8"):
            found.read_block("places", 8)
        with pytest.raises(sidestream.Error, match=r"out is of float32 and has the shape \(5, 5\), expected int64"):
            found.read_box("longs", [0, 0], [5, 5], out=np.zeros((5, 5), "f4"))
        with pytest.raises(sidestream.Error, match=r"1 of the 6 points of 'longs' .* are in no block") as raised:
            found.read_box("longs", [0, 11], [1, 17])
        assert raised.value.code == sidestream.Code.FILE
        assert found.read_box("longs", [3, 2], [3, 5]).shape == (3, 0)
    from mpi4py import MPI

    for comm in (None, MPI.COMM_SELF):
        with pytest.raises(sidestream.Error, match="is no database"):
            sidestream.restart(tmp_path, comm)
        with pytest.raises(sidestream.Error, match="cycle 77"):
            sidestream.restart(written / "restart", comm, cycle=77)
    with pytest.raises(sidestream.Error, match="restart: comm is of int"):
        sidestream.restart(written / "restart", 5)


def test_without_mpi(written):
    """A restart without a communicator loads nothing of MPI."""
    code = (
        f"import sys, sidestream; sidestream.restart({str(written / 'restart')!r}).read_box('longs', [0, 0], [5, 16])\n"
    )
    code += "assert not [m for m in sys.modules if 'mpi4py' in m or m == 'sidestream._client'], sys.modules\n"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
