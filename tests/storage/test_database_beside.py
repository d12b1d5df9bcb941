"""Readers during a run that writes and removes contexts. The only error is that a context was removed; bytes are
never wrong."""

import os
import subprocess
import time

import database_reader
import h5py
import numpy as np
import pytest
from pairs import few
from test_database_kills import AT_ONCE, SHAPE, TOOL, Killed, check_values, children, end, gone, values_of

ROUNDS = int(os.environ.get("SIDESTREAM_ROUNDS", "12"))
BLOCKS = 4  # blocks of two clients


def tool(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=100, check=False)


def removed(data, slot):
    return slot not in database_reader.slots(data)[0]


def read_with_numpy(data):
    contexts, broken = database_reader.slots(data)
    assert not broken
    slot, entry = list(contexts.items())[-1]
    try:
        check_values(data, entry, BLOCKS)
    except (database_reader.Damaged, OSError):
        assert removed(data, slot)
        return 0
    return 1


def opened_with_h5py(file):
    with h5py.File(file) as context:
        return int(context.attrs["cycle"]), context["variables/field"][...]


def read_with_h5py(data):
    """HDF5 gives fill values for a missing file, so that contexts that were removed meanwhile do not count."""
    slot = list(database_reader.slots(data)[0])[-1]
    file, until, tries = data / f"context-{slot:06}.h5", time.monotonic() + 10, 0
    while not file.exists() and not removed(data, slot):  # it is made once the context is committed
        assert time.monotonic() < until
    while True:
        try:
            cycle, values = opened_with_h5py(file)
            break
        except (OSError, KeyError):
            if removed(data, slot):
                return 0
            # HDF5 takes a segment's length from the file system before it reads the length in the segment. A writer
            # that appends may change it in between (docs/database-format.md). That does not happen many times in
            # sequence.
            tries += 1
            if tries > 20:
                raise
    if removed(data, slot):
        return 0
    expected = np.concatenate([values_of(cycle, block) for block in range(BLOCKS)], axis=2)
    np.testing.assert_array_equal(values, expected.T)
    return 1


@pytest.mark.parametrize("options", few(["keep: 2", "max_file_size: 64 KiB", "keep: 1, codec: gzip, hdf5: false"]))
def test_readers_beside_a_writer(tmp_path, options):
    writer = Killed(tmp_path, "inline", 2, f"fsync: false, {options}", None)
    shown = "hdf5" not in options
    assert SHAPE[0] * SHAPE[1] * SHAPE[2] == len(values_of(0, 0).ravel())
    read = {"numpy": 0, "h5py": 0, "verified": 0}
    with writer.start() as run:
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until and "1 0" not in (
                writer.witness.read_text() if writer.witness.exists() else ""
            ):
                time.sleep(0.01)
            # Without removals there are more and more contexts to verify.
            for _ in range(ROUNDS if "keep" in options else min(ROUNDS, 12)):
                assert run.poll() is None
                for _ in range(5):
                    read["numpy"] += read_with_numpy(writer.data)
                    read["h5py"] += read_with_h5py(writer.data) if shown else 1
                done = tool("verify", writer.data)
                assert done.returncode == 0, done.stdout + done.stderr
                read["verified"] += done.stdout.count(": whole")
                for command in ("ls", "info"):
                    done = tool(command, writer.data)
                    assert done.returncode == 0, done.stdout + done.stderr
                    assert "passed over" not in done.stdout
        finally:
            ranks = children(run.pid)
            run.kill()
            for rank in ranks:
                end(rank)
            run.wait(timeout=60)
            run.stderr.close()
            gone(ranks)
    print(read)
    assert all(read.values()), read
    newest = list(database_reader.slots(writer.data)[0].values())[-1]
    assert newest["cycle"] - AT_ONCE > ROUNDS  # the writer was not held up
