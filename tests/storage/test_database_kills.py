"""Runs that are killed at random moments: contexts that a witness was told are committed have every bit.

Readers notice bytes that are cut off or flipped afterwards, and the next run goes on in the same directory.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import database_reader
import numpy as np
import pytest
from ended import gone
from pairs import few

WRITER, TOOL = os.environ["WRITE_CONTEXTS"], os.environ["SIDESTREAM_TOOL"]
KILLS = int(os.environ.get("SIDESTREAM_KILLS", "4"))
SEED = int(os.environ.get("SIDESTREAM_SEED", "17"))
SHAPE = (5, 3, 2)  # shape of a block
AT_ONCE = 1 << 20  # cycles of a run, more than it can reach

CONFIGURATION = """
placement: {placement}
output: {{directory: {directory}, existing: replace, timings: false}}
meshes:
  grid: {{type: uniform, size: [5, 3, $nz]}}
variables:
  field: {{mesh: grid, type: float64, centering: cell}}
outputs:
  - database: {{directory: data, {options}}}
"""

CASES = [
    (
        "{mode: cores, buffer: 32 MiB, per_node: 1}",
        3,
        "hdf5: false, fsync: false, keep: 2, codec: [byte-shuffle, gzip]",
    ),
    ("inline", 1, "hdf5: false, fsync: false"),
    ("inline", 3, "hdf5: false, fsync: true, contributors_per_file: 1"),
    ("inline", 2, "hdf5: true, fsync: false, keep: 2"),
    ("{mode: cores, buffer: 32 MiB, per_node: 2}", 4, "hdf5: false, fsync: true, contributors_per_file: 1"),
    (
        "{mode: nodes, buffer: 32 MiB, servers: 2}",
        4,
        "hdf5: false, fsync: false, max_file_size: 64 KiB, contributors_per_file: 2",
    ),
]


class Killed:
    """Runs of one configuration in one directory, one after the other."""

    def __init__(self, folder, placement, ranks, options, chance):
        self.folder, self.ranks, self.chance = folder, ranks, chance
        self.data, self.configuration = folder / "out" / "data", folder / "run.yaml"
        self.keep = 2 if "keep" in options else None
        self.committed = {}  # by run: the number of contexts that the witness counted
        self.runs = 0
        self.configuration.write_text(
            CONFIGURATION.format(placement=placement, directory=folder / "out", options=options)
        )

    def start(self, count=AT_ONCE):
        self.runs += 1
        self.witness = self.folder / f"witness-{self.runs}"
        launch = [os.environ["MPIEXEC"], "-n", str(self.ranks), *os.environ.get("MPIEXEC_FLAGS", "").split()]
        line = [*launch, WRITER, self.configuration, self.runs * AT_ONCE, count, self.witness]
        return subprocess.Popen([*map(str, line)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def note(self):
        """Reads what the run that has ended had been told."""
        lines = self.witness.read_text().splitlines() if self.witness.exists() else []
        told = [[int(n) for n in line.split()] for line in lines if len(line.split()) == 2]
        assert all(failed == 0 for _, failed in told), lines[-3:]
        self.committed[self.runs] = max((n for n, _ in told), default=0)

    def check_committed(self, there):
        """Checks contexts; `there` has their cycles."""
        for run, count in self.committed.items():
            mine = {cycle - run * AT_ONCE for cycle in there if cycle // AT_ONCE == run}
            if self.keep is None:
                assert not set(range(count)) - mine, (run, count, sorted(mine)[-3:])
            else:  # newer contexts, which the witness does not know yet, may have replaced the ones it knows
                assert len(mine) >= min(count, self.keep), (run, count, mine)
                assert count == 0 or max(mine) >= count - 1, (run, count, mine)
                assert len(mine) <= self.keep + 1, (run, count, mine)

    def kill(self):
        with self.start() as run:
            until, least = time.monotonic() + 30, self.chance.choice((0, 1, 1, 1))
            while time.monotonic() < until and run.poll() is None and size_of(self.witness) < least:
                time.sleep(0.002)
            time.sleep(self.chance.random() ** 2 * 0.15)
            ranks = children(run.pid)
            # Kills all ranks at once, or one of them, after which the launcher ends the others.
            for rank in ranks if self.chance.random() < 0.5 else self.chance.sample(ranks, min(1, len(ranks))):
                end(rank)
            if self.chance.random() < 0.5:
                run.kill()
                for rank in ranks:
                    end(rank)
            run.wait(timeout=60)
            run.stderr.close()
        gone(ranks)
        self.note()

    def go_on(self):
        with self.start(count=3) as run:
            errors = run.communicate(timeout=60)[1].decode()
        assert run.returncode == 0, errors
        self.committed[self.runs] = 3


def size_of(path):
    """Size of a file, or -1 if it does not exist."""
    return path.stat().st_size if path.exists() else -1


def children(parent):
    """The processes that mpirun started: its ranks."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def values_of(cycle, block):
    size = int(np.prod(SHAPE))
    return (cycle * 1000.0 + block * size + np.arange(size)).reshape(SHAPE[::-1]).T


def check_values(directory, entry, blocks):
    """Reads all contexts. Throws database_reader.Damaged if they are damaged; any other mistake is an error."""
    context = database_reader.Context(directory, entry)
    pieces = context.pieces("field")
    assert sorted(int(block["lo"][2]) for block, _ in pieces) == list(range(0, SHAPE[2] * blocks, SHAPE[2]))
    for block, piece in pieces:
        np.testing.assert_array_equal(piece[..., 0], values_of(entry["cycle"], int(block["lo"][2]) // SHAPE[2]))


def verify(directory):
    done = subprocess.run([TOOL, "verify", directory], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done


def check(killed, blocks):
    """Checks that all contexts that were told exist, and that all existing ones are whole. Returns the output of
    verify."""
    contexts, broken = database_reader.slots(killed.data) if (killed.data / "contexts").exists() else ({}, [])
    there = {entry["cycle"] for entry in contexts.values()}
    killed.check_committed(there)
    if not contexts and not broken:
        return
    last = list(contexts.values())[-5:]
    sample = killed.chance.sample(list(contexts.values()), min(10, len(contexts)))
    for entry in last + sample:
        check_values(killed.data, entry, blocks)
    done = verify(killed.data)
    assert f"{len(contexts)} of {len(contexts)} contexts are whole" in done.stdout, done.stdout[-2000:]
    assert done.stdout.count("passed over") == len(broken)


def damage(killed, blocks):
    """Flips or cuts off a byte in a copy. Returns true if that was noticed."""
    copy = killed.folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(killed.data, copy)
    files = [
        p for p in copy.iterdir() if p.name == "contexts" or (p.name.startswith("segment") and p.stat().st_size > 8192)
    ]
    path = killed.chance.choice(files)
    at = killed.chance.randrange(8192 if path.name.startswith("segment") else 0, path.stat().st_size)
    if killed.chance.random() < 0.5:
        os.truncate(path, at)
    else:
        content = bytearray(path.read_bytes())
        content[at] ^= 1 << killed.chance.randrange(8)
        path.write_bytes(content)
    before = verify(killed.data).returncode
    whole, contexts = 0, database_reader.slots(copy)[0]
    for entry in contexts.values():
        try:
            check_values(copy, entry, blocks)
            whole += 1
        except (database_reader.Damaged, OSError):
            continue
    done = verify(copy)
    assert f"{whole} of {len(contexts)} contexts are whole" in done.stdout, (path.name, at)
    lost = whole < len(database_reader.slots(killed.data)[0])
    cut_between_slots = path.name == "contexts" and path.stat().st_size % 256 == 0
    assert not lost or before or done.returncode == 1 or cut_between_slots, (path.name, at)
    return lost


@pytest.mark.parametrize(("placement", "ranks", "options"), few(CASES))
def test_nothing_that_was_committed_is_lost(tmp_path, placement, ranks, options):
    chance = random.Random(f"{SEED} {placement} {ranks} {options}")
    servers = {"nodes": 2, "cores": 1}.get(placement.split(",")[0].split()[-1], 0) + ("per_node: 2" in placement)
    blocks = 2 * (ranks - servers)
    killed = Killed(tmp_path, placement, ranks, options, chance)
    told = noticed = 0
    for number in range(KILLS):
        killed.kill()
        check(killed, blocks)
        told = max(told, *killed.committed.values())
        if (killed.data / "contexts").exists() and number % 4 == 3:
            noticed += sum(damage(killed, blocks) for _ in range(4))
        if number % 8 == 7 or number == KILLS - 1:
            killed.go_on()
            check(killed, blocks)
            shutil.rmtree(tmp_path / "out")
            killed.committed.clear()
    print(f"{KILLS} kills, at most {told} contexts of a run, {noticed} damages noticed")
    assert told > 0
