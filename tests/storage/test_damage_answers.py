"""Damaged and forged databases: C++ and Python find the same, each with a sentence and without hanging."""

import os
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import forged
import pytest
from programs import built, needs_module

# The reader is pure Python, and needs no build.
sys.path.insert(0, str(Path(__file__).parents[2] / "bindings" / "python"))

import sidestream
from sidestream.reader.journal import read_journal
from sidestream.reader.stored import Context

ANSWERS, TOOL = built("DATABASE_ANSWERS"), built("SIDESTREAM_TOOL")
GOLDEN, INPUTS = Path(__file__).parent / "golden", Path(__file__).parent / "damaged"
ALL = os.environ.get("SIDESTREAM_TEST_ALL") == "1"


@pytest.fixture(scope="module")
def cpp():
    """Returns the answer of C++ about a directory."""
    with subprocess.Popen([ANSWERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(directory):
            process.stdin.write(f"{directory}\n")
            process.stdin.flush()
            return process.stdout.readline().rstrip()

        yield ask
        process.stdin.close()
        assert process.wait(timeout=10) == 0


def of_python(directory):
    """Returns the answer of Python, in the same form as that of C++."""
    whole, damaged = [], []
    try:
        journal = read_journal(directory)
    except sidestream.Error as problem:
        return f"refused: {problem}"
    for slot in journal.slots:
        try:
            Context(directory, slot).verify()
            whole.append(slot.number)
        except sidestream.Error:
            damaged.append(slot.number)
    return f"whole {whole} damaged {damaged} passed over {len(journal.remarks)}"


def alike(one, other):
    """True if both answers are the same; refusals may use different sentences."""
    return one == other or (one.startswith("refused") and other.startswith("refused"))


@pytest.fixture
def copied(tmp_path):
    def copy(name):
        shutil.copytree(GOLDEN / name, tmp_path / "data", dirs_exist_ok=True)
        return tmp_path / "data"

    return copy


def states(path, step):
    """Yields copies of the file with one byte changed, or cut off, every `step` bytes and at each slot."""
    content = path.read_bytes()
    for at in range(0, len(content), step):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        yield f"byte {at}", bytes(changed)
    for at in sorted({*range(0, len(content), 7 * step), *range(0, min(len(content), 4096), 256)}):
        yield f"cut at {at}", content[:at]
    path.write_bytes(content)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("name", "contexts", "segments"), [("database", 11, 509), ("database-trees/packed", 197, 2503)]
)
def test_each_damage_has_one_answer(copied, cpp, name, contexts, segments):
    if "trees" in name:
        needs_module("amr_codec")
    data = copied(name)
    assert of_python(data) == cpp(data)
    for path in sorted(data.iterdir()):
        if not path.name.startswith(("contexts", "segment-")):
            continue
        step = contexts if path.name == "contexts" else segments
        for what, content in states(path, -(-step // 11) if ALL else step):
            path.write_bytes(content)
            assert alike(of_python(data), cpp(data)), (path.name, what)


@pytest.mark.parametrize("name", ["database", "database-trees/packed"])
def test_each_forgery_has_one_answer(copied, cpp, name):
    """Checksums are right, so that readers look at the data behind them."""
    if "trees" in name:
        needs_module("amr_codec")
    data = copied(name)
    whole = {path: path.read_bytes() for path in data.iterdir()}
    chance = random.Random(29)
    for number in range(2000 if ALL else 60 if name == "database" else 12):
        what = forged.forge(data, chance)
        expected = cpp(data)
        assert alike(of_python(data), expected), (number, what, expected)
        for path, content in whole.items():
            path.write_bytes(content)
    assert of_python(data) == cpp(data)


def test_packed_flags_of_a_tree_that_are_said_not_to_be_packed(copied, cpp):
    data = copied("database-trees/packed")
    context = forged.Opened(data, 1)
    struct.pack_into("<I", context.segment, context.tables()[0] + 980, 0)
    context.seal()
    assert of_python(data) == cpp(data) == "whole [2] damaged [1] passed over 0"


@pytest.mark.parametrize(
    ("name", "sentence"), [("recursion", "an unknown role of 'split', 'x'"), ("prune-hang", "missing")]
)
def test_forgeries_that_had_no_end(tmp_path, cpp, name, sentence):
    shutil.copytree(INPUTS / name, tmp_path / "data")
    data = tmp_path / "data"
    assert of_python(data) == cpp(data) == "whole [1] damaged [2] passed over 0"
    for command in (["verify", data], ["prune", data, "--keep", "1"], ["prune", data], ["info", data]):
        done = subprocess.run([TOOL, *command], capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode in (0, 1), (command, done)
        if command[0] == "verify":
            assert done.returncode == 1 and sentence in done.stdout


def test_a_pipe_is_no_segment(copied, cpp):
    """Nobody waits for the other end of a pipe."""
    data = copied("database")
    segment = next(data.glob("segment-*"))
    segment.unlink()
    os.mkfifo(segment)
    assert of_python(data) == cpp(data) == "whole [] damaged [1, 2] passed over 0"
