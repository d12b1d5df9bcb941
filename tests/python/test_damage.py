"""Each damaged or forged file gives a sentence, and never a hang. These tests need only the reader."""

import contextlib
import os
import random
import shutil
import sys
import warnings
from pathlib import Path

import forged
import numpy as np
import pytest

# The reader is pure Python, and needs no build.
sys.path.insert(0, str(Path(__file__).parents[2] / "bindings" / "python"))

import sidestream
from sidestream.reader.journal import Removed, read_journal
from sidestream.reader.stored import Context

STORAGE = Path(__file__).parents[1] / "storage"
GOLDEN, INPUTS = STORAGE / "golden", STORAGE / "damaged"
ALL = os.environ.get("SIDESTREAM_TEST_ALL") == "1"


@pytest.fixture
def copied(tmp_path):
    def copy(name):
        shutil.copytree(GOLDEN / name, tmp_path / "data", dirs_exist_ok=True)
        return tmp_path / "data"

    return copy


def wholes(directory):
    """Slots of contexts that have no wrong byte."""
    found = []
    for slot in read_journal(directory).slots:
        with contextlib.suppress(sidestream.Error):
            Context(directory, slot).verify()
            found.append(slot.number)
    return found


def read_everything(directory):
    """Opens and reads a database as users do. Returns None, or the sentence of the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number in {slot.iteration for slot in read_journal(directory).slots}:
                for array in sidestream.open(directory, into="numpy", iteration=number).values():
                    array[tuple(slice(0, 4) for _ in array.shape)]
            sidestream.open(directory, into="numpy")
    except sidestream.Error as problem:
        return str(problem)
    return None


@pytest.mark.parametrize("name", ["database", "database-trees/packed"])
def test_each_forgery_is_read_or_a_sentence(copied, name):
    """Checksums are right, so that readers look at the data behind them."""
    data = copied(name)
    whole = {path: path.read_bytes() for path in data.iterdir()}
    chance, refused = random.Random(23), 0
    for _ in range(2000 if ALL else 60 if name == "database" else 12):
        forged.forge(data, chance)
        wholes(data)
        refused += read_everything(data) is not None
        for path, content in whole.items():
            path.write_bytes(content)
    assert refused > 5
    assert wholes(data) == [1, 2]


@pytest.mark.parametrize("name", ["recursion", "prune-hang"])
def test_forgeries_that_had_no_end(tmp_path, name):
    assert wholes(INPUTS / name) == [1]
    if name == "recursion":
        for target in ("all.h5", "all.vtkhdf", "all.pvd"):
            with pytest.raises(sidestream.Error, match="an unknown role of 'split', 'x'"):
                sidestream.export(INPUTS / name, tmp_path / target)


def test_a_damaged_head_costs_nothing(copied):
    """A damaged head is not needed, as in C++. A newer version is refused."""
    data = copied("database")
    slots = (data / "contexts").read_bytes()
    (data / "contexts").write_bytes(slots[:3] + b"x" + slots[4:])
    with pytest.warns(UserWarning, match="the head is damaged; contexts are read all the same"):
        assert len(sidestream.open(data, into="numpy")["field"]) == 2
    (data / "contexts").write_bytes(b"")
    assert "the file is empty; it was cut off" in read_journal(data).remarks[0]
    (data / "contexts").write_bytes(forged.newer_head(slots))
    with pytest.raises(sidestream.Error, match="version 3 of the format, expected 1; use a newer Sidestream"):
        sidestream.open(data)


HUGE = [
    ('"cells": [[0, 0, 0], [', '"cells": [[0, 0, 0], [10000000000000', "points along an axis"),
    ('"dimensions": 3', '"dimensions": 9', "no or many dimensions"),
    ('"components": 1', '"components": 0', "wrong number of components"),
    ('"refinement": []', '"refinement": 5', "'refinement' that is not a list"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), HUGE)
def test_what_is_forged_is_a_sentence(copied, old, new, sentence):
    data = copied("database")
    forged.replace_text(data, old, new)
    with pytest.raises(sidestream.Error, match=sentence):
        sidestream.open(data, into="numpy")


def test_a_context_that_is_removed_while_it_is_opened(copied, monkeypatch):
    data = copied("database")
    slots = read_journal(data).slots
    first = Context(data, slots[0])
    forged.remove(data, slots[0].number)
    next(data.glob("segment-*")).rename(data / "elsewhere")
    with pytest.raises(sidestream.Error, match="was removed by a run that writes at the same time"):
        first.blocks(next(iter(first.meshes)))
    (data / "elsewhere").rename(data / "segment-0001-000000-0000.h5")
    # Opened over time, the other contexts are read.
    calls, real = [], Context.__init__

    def opened(self, place, slot):
        calls.append(slot.number)
        if len(calls) == 1:
            raise Removed("gone", sidestream.errors.Code.FILE)
        real(self, place, slot)

    monkeypatch.setattr(Context, "__init__", opened)
    assert np.asarray(next(iter(sidestream.open(data, into="numpy").values()))).shape[0] == 1


def test_a_pipe_is_no_segment(copied):
    """Nobody waits for the other end of a pipe."""
    data = copied("database")
    segment = next(data.glob("segment-*"))
    segment.unlink()
    os.mkfifo(segment)
    assert wholes(data) == []


def test_damaged_files_of_hdf5_and_tables(tmp_path):
    """Files that are cut off anywhere give a sentence. Files with a changed byte are read, or give a sentence."""
    content = (GOLDEN / "database" / "context-000001.h5").read_bytes()
    path = tmp_path / "fields.h5"
    for at in range(0, len(content) - 1, 501):
        path.write_bytes(content[:at])
        with pytest.raises(sidestream.Error, match=r"fields\.h5"):
            sidestream.open(path, into="numpy")
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        with contextlib.suppress(sidestream.Error):
            for array in sidestream.open(path, into="numpy").values():
                np.asarray(array)
    for name, text in (("a.csv", "a,b\n1,2\n3\n"), ("a.yaml", "a: [1"), ("a.series", "{"), ("a.vti", "<VTKFile>")):
        (tmp_path / name).write_text(text)
        with pytest.raises(sidestream.Error, match=r"a\.(csv|yaml|series|vti)"):
            sidestream.open(tmp_path / name, into="numpy")
