"""Committed contexts have every bit, for a reader that follows the specification, for h5py, and for other runs."""

import contextlib
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import database_reader
import h5py
import numpy as np
import pytest
from ended import gone
from pairs import few

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"
OSCILLATORS, TOOL = os.environ["OSCILLATORS"], os.environ["SIDESTREAM_TOOL"]
KILLS = int(os.environ.get("SIDESTREAM_KILLS", "6" if os.environ.get("SIDESTREAM_TEST_ALL") == "1" else "2"))
GRID = (14, 11, 9)

CONFIGURATION = """
placement: {placement}
output: {{directory: {directory}, existing: {existing}, timings: false{files}}}
meshes:
  grid: {{type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables:
  field: {{mesh: grid, type: {type}, centering: {centering}, label: Field, unit: K}}
outputs:
  - database: {{directory: data, {options}}}
"""


def mpirun(ranks, *arguments):
    launch = [os.environ["MPIEXEC"], "-n", str(ranks), *os.environ.get("MPIEXEC_FLAGS", "").split()]
    return [*launch, OSCILLATORS, str(SOURCES), *map(str, arguments)]


def configure(
    folder,
    options="kind: checkpoint",
    placement="inline",
    existing="replace",
    dtype="float64",
    centering="cell",
    files="",
):
    file = folder / "run.yaml"
    file.write_text(
        CONFIGURATION.format(
            placement=placement,
            directory=folder / "out",
            options=options,
            existing=existing,
            type=dtype,
            centering=centering,
            files=files,
        )
    )
    return file


def simulate(folder, ranks, *arguments, grid=GRID, dtype="float64", centering="cell", steps=3, status=0, **configured):
    """The values of all steps [step, i, j, k] of a run that writes a database into folder / out / data."""
    file = configure(folder, dtype=dtype, centering=centering, **configured)
    line = mpirun(ranks, "--grid", *grid, "--steps", steps, "--type", dtype, "--centering", centering)
    line += ["--sidestream", str(file), "--dump", str(folder / "dump"), *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    extra = centering == "node"
    shape = [n + extra for n in reversed(grid)]
    return np.fromfile(folder / "dump", dtype).reshape(-1, *shape).transpose(0, 3, 2, 1), done


def tool(*arguments, status=0):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def check_whole(directory, expected, cycles=None):
    """Every context has the values of its cycle, for both the reader by the specification and the library's."""
    found = list(database_reader.contexts(directory).values())
    assert [c.entry["cycle"] for c in found] == list(cycles if cycles is not None else range(len(expected)))
    for context in found:
        np.testing.assert_array_equal(context.whole("field"), expected[context.entry["cycle"]])
    assert f"{len(found)} of {len(found)} contexts are whole" in tool("verify", directory)


PLACES = [
    ("inline", 3, ["--blocks", 7, "--ghosts", 1, "--ghost-values", "nan"]),
    ("{mode: cores, buffer: 32 MiB, per_node: 2}", 5, ["--blocks", 6]),
    ("inline", 1, ["--blocks", 1]),
    ("inline", 5, ["--blocks", 3]),
    ("{mode: cores, buffer: 32 MiB}", 3, ["--blocks", 5, "--in-place"]),
    ("{mode: nodes, buffer: 32 MiB, servers: 2}", 5, ["--blocks", 9]),
]


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks", "blocks"), few(PLACES, keep=2))
def test_same_values_from_every_placement(tmp_path, placement, ranks, blocks):
    for options in ("kind: checkpoint", "kind: post, contributors_per_file: 1, max_file_size: 64 KiB, fsync: false"):
        expected, _ = simulate(tmp_path, ranks, *blocks, placement=placement, options=options)
        check_whole(tmp_path / "out" / "data", expected)
        shutil.rmtree(tmp_path / "out")


@pytest.mark.keep(1)
@pytest.mark.parametrize(("dtype", "centering"), [("float32", "cell"), ("float64", "node")])
def test_types_and_nodes(tmp_path, dtype, centering):
    expected, _ = simulate(tmp_path, 3, "--blocks", 7, dtype=dtype, centering=centering)
    data = tmp_path / "out" / "data"
    check_whole(data, expected)
    about = next(iter(database_reader.contexts(data).values())).about
    assert about["variables"][0]["unit"] == "K"
    assert about["meshes"][0]["spacing"] == [1 / 14, 1 / 11, 1 / 9]


def test_pieces_of_several_chunks(tmp_path):
    grid = (70, 61, 53)  # 1.8 MB in a piece; lines cross the border of chunks
    expected, _ = simulate(tmp_path, 2, "--blocks", 1, grid=grid, steps=1, options="codec: [byte-shuffle, gzip]")
    check_whole(tmp_path / "out" / "data", expected)
    context = next(iter(database_reader.contexts(tmp_path / "out" / "data").values()))
    assert len(context.tables[0][2]) == 2
    opened = open_in_python(tmp_path / "out" / "data", into="numpy", iteration=0)["field"]
    np.testing.assert_array_equal(opened[...], expected[0].T)
    for k in (0, 30, 52):  # in the first chunk, on the border, in the second
        np.testing.assert_array_equal(opened[k, 3:-3:2, ::-1], expected[0].T[k, 3:-3:2, ::-1])


def open_in_python(*arguments, **options):
    sys.path.insert(0, str(ROOT / "bindings" / "python"))
    import sidestream

    return sidestream.open(*arguments, **options)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    "codec", ["zstd", "gzip", "byte-shuffle", "bit-shuffle", "byte-shuffle, zstd", "bit-shuffle, gzip"]
)
def test_codecs_without_loss(tmp_path, codec):
    known = tool("reference")
    if "zstd" in codec and "`zstd`" not in known:
        pytest.skip("NOT TESTED: this build has no zstd")
    expected, _ = simulate(tmp_path, 2, "--blocks", 3, options=f"codec: [{codec}]", steps=2)
    check_whole(tmp_path / "out" / "data", expected)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("codec", "bound"),
    [("half", 2.0**-11), ("quantise-1", 1 / 509), ("quantise-2 gzip", 1 / 131069), ("quantise-4", 1e-9)],
)
def test_codecs_with_loss_keep_their_bound(tmp_path, codec, bound):
    expected, _ = simulate(tmp_path, 2, "--blocks", 3, options=f"kind: post, codecs: {{field: {codec}}}", steps=2)
    for context in database_reader.contexts(tmp_path / "out" / "data").values():
        values = expected[context.entry["cycle"]]
        size = np.ptp(values) if "quantise" in codec else np.abs(values) + 2.0**-14
        wrong = np.abs(context.whole("field") - values)
        assert np.all(wrong <= bound * size + 1e-15)
        assert np.any(wrong > 0)
    tool("verify", tmp_path / "out" / "data")


@pytest.mark.keep(2)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("kind: checkpoint, codecs: {field: half}", "in a checkpoint"),
        ("kind: post, codec: half", "for one by its name"),
        ("kind: post, codec: [gzip, byte-shuffle]", "must be the last one"),
        ("kind: post, codec: zip", "is not in this build"),
        ("codecs: {fielt: gzip}", "did you mean 'field'"),
        ("directory: 'data-{cycle}'", "expected a name without fields"),
    ],
)
def test_wrong_options_are_refused(tmp_path, options, sentence):
    text = configure(tmp_path, options="OPTIONS").read_text()
    text = text.replace(
        "directory: data, OPTIONS", options if "directory" in options else f"directory: data, {options}"
    )
    (tmp_path / "run.yaml").write_text(text)
    line = [TOOL, "check", str(tmp_path / "run.yaml")]
    for name, value in (("nx", 4), ("ny", 4), ("nz", 4), ("hx", 1), ("hy", 1), ("hz", 1)):
        line += ["--set", f"{name}={value}"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stdout
    assert sentence in done.stderr


@pytest.mark.keep(1)
@pytest.mark.parametrize("centering", ["cell", "node"])
def test_h5py_reads_in_place_wherever_the_directory_is(tmp_path, monkeypatch, centering):
    expected, _ = simulate(
        tmp_path, 3, "--blocks", 7, options="max_file_size: 64 KiB, contributors_per_file: 2", centering=centering
    )
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / "moved"
    (tmp_path / "out" / "data").rename(moved)
    monkeypatch.chdir("/")
    files = sorted(moved.glob("context-*.h5"))
    assert len(files) == len(expected)
    for file, values in zip(files, expected, strict=True):
        with h5py.File(file) as shown:
            array = shown["variables/field"]
            np.testing.assert_array_equal(array[...], values.T)
            assert array.attrs["missing"] == 0
            assert array.attrs["unit"] == "K"
    with h5py.File(next(moved.glob("segment-*.h5"))) as segment:
        assert set(segment) >= {"float64", "uint8"}


@pytest.mark.keep(1)
@pytest.mark.parametrize(("writers", "readers"), few([(2, 3), (5, 2), (1, 8), (3, 1), (8, 5), (3, 3)], keep=2))
def test_restart_on_other_numbers_of_ranks(tmp_path, writers, readers):
    simulate(tmp_path, writers, "--blocks", writers + 2, "--dt", 0.13, options="keep: 2")
    data = tmp_path / "out" / "data"
    assert [c["cycle"] for c in database_reader.slots(data)[0].values()] == [1, 2]
    line = mpirun(readers, "--grid", *GRID, "--steps", 5, "--restart", data, "--ghosts", 1, "--dt", 0.13)
    done = subprocess.run(line, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "restarted after step 2" in done.stdout


def restart(data, status=0, ranks=2):
    line = mpirun(ranks, "--grid", *GRID, "--steps", 4, "--restart", data)
    done = subprocess.run(line, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def flip(path, at, bit=0):
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


def test_a_damaged_checkpoint_is_passed_over(tmp_path):
    simulate(tmp_path, 2)
    data = tmp_path / "out" / "data"
    newest = list(database_reader.contexts(data).values())[-1]
    piece = newest.tables[0][1][0]
    segment = data / f"segment-{newest.entry['run']:04}-{newest.groups[0]['group']:06}-{piece['number']:04}.h5"
    flip(segment, int(piece["offset"]) + 77, 3)
    done = restart(data)
    assert "restarted after step 1" in done.stdout
    assert "the checkpoint of cycle 2" in done.stderr
    assert "passed over" in done.stderr
    assert "2 of 3 contexts are whole" in tool("verify", data, status=1)
    segment.unlink()
    done = restart(data, status=1)
    assert "no checkpoint in" in done.stderr
    assert "is no database" in restart(tmp_path, status=1).stderr


@pytest.mark.parametrize(("writers", "readers"), few([(2, 5), (1, 8), (8, 1), (5, 3), (3, 2)]))
def test_all_ranks_pass_over_what_one_finds_damaged(tmp_path, writers, readers):
    """The last byte of the last block, which only one rank reads."""
    simulate(tmp_path, writers, "--blocks", writers + 3)
    data = tmp_path / "out" / "data"
    newest = list(database_reader.contexts(data).values())[-1]
    group, pieces = max(
        ((g, t[1]) for g, t in zip(newest.groups, newest.tables, strict=True)), key=lambda of: of[0]["group"]
    )
    piece = max(pieces, key=lambda row: (row["number"], row["offset"]))
    segment = data / f"segment-{newest.entry['run']:04}-{group['group']:06}-{piece['number']:04}.h5"
    flip(segment, int(piece["offset"]) + int(piece["bytes"]) - 1, 7)
    done = restart(data, ranks=readers)
    assert "restarted after step 1" in done.stdout
    assert done.stderr.count("passed over") == 1


def test_a_later_run_adds_and_keeps(tmp_path):
    expected, _ = simulate(tmp_path, 2)
    data = tmp_path / "out" / "data"
    before = {p.name: p.read_bytes() for p in data.iterdir() if p.name.startswith("segment")}
    simulate(tmp_path, 3, existing="replace", options="keep: 1")
    contexts = list(database_reader.slots(data)[0].values())
    assert [(c["run"], c["cycle"]) for c in contexts] == [(1, 0), (1, 1), (1, 2), (2, 2)]
    for name, content in before.items():
        assert (data / name).read_bytes() == content
    check_whole(data, expected, cycles=[0, 1, 2, 2])
    assert "would delete" not in tool("prune", data, "--dry-run")
    assert "3 contexts removed" in tool("prune", data, "--keep", 1)
    check_whole(data, expected, cycles=[2])
    assert sorted(p.name[:12] for p in data.glob("segment-*")) == ["segment-0002"]


def test_databases_of_version_1_can_be_read():
    golden = Path(__file__).parent / "golden"
    expected = np.fromfile(golden / "database-values.raw").reshape(3, 2, 3, 4).transpose(0, 3, 2, 1)
    for name, kind, cycles in (("database", "checkpoint", [0, 2]), ("database-raw", "post", [0, 1, 2])):
        check_whole(golden / name, expected, cycles)
        assert tool("ls", golden / name).count(kind) == len(cycles)
    line = mpirun(3, "--grid", 4, 3, 2, "--dt", 0.25, "--steps", 3, "--restart", golden / "database")
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    # Another mathematical library may give another last bit than the one that made the values.
    assert "restarted after step 2" in done.stdout or "is not what this program computes" in done.stderr


def test_what_codecs_wrote_in_version_1_can_be_read():
    golden = Path(__file__).parent / "golden"
    expected = np.fromfile(golden / "database-codecs-values.raw").reshape(-1, 4, 8, 16).transpose(0, 3, 2, 1)
    contexts = list(database_reader.contexts(golden / "database-codecs").values())
    assert len(contexts) == len(expected)
    for context, values in zip(contexts, expected, strict=True):
        np.testing.assert_array_equal(context.whole("field"), values)


def test_ls_and_info(tmp_path):
    simulate(tmp_path, 2, options="kind: post, codec: gzip")
    data = tmp_path / "out" / "data"
    lines = tool("ls", data).splitlines()
    assert len(lines) == 4
    assert lines[2].split()[:6] == ["2", "1", "0.01", "1", "1", "post"]
    text = tool("info", data, "--cycle", 1)
    assert "variable field: float64 on grid, 2 pieces" in text
    assert "(gzip)" in text
    assert (
        "no context of cycle 7"
        in subprocess.run(
            [TOOL, "info", data, "--cycle", "7"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    )


@pytest.mark.test_all
def test_cut_off_and_flipped_bytes_are_noticed(tmp_path):
    """Whatever byte is changed or cut off, contexts that are reported as whole have their values, and the others are
    named."""
    chance = random.Random(11)
    expected, _ = simulate(tmp_path, 2, options="hdf5: false", grid=(6, 5, 4))
    source, data = tmp_path / "out" / "data", tmp_path / "copy"
    files = [p for p in source.iterdir() if p.stat().st_size]
    for number in range(60):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(source, data)
        path = data / chance.choice(files).name
        # The first pages of a segment are skipped, because nobody reads them.
        first = 8192 if path.name.startswith("segment") else 0
        at = chance.randrange(first, path.stat().st_size)
        if number % 3:
            flip(path, at, chance.randrange(8))
        else:
            os.truncate(path, at)
        done = subprocess.run([TOOL, "verify", data], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (0, 1), done.stderr
        whole = 0
        for entry in database_reader.slots(data)[0].values():
            try:
                values = database_reader.Context(data, entry).whole("field")
            except database_reader.Damaged:
                continue
            whole += 1
            np.testing.assert_array_equal(values, expected[entry["cycle"]])
        assert f"{whole} of " in done.stdout, (path.name, at)
        if whole < len(expected) and path.stat().st_size % 256:
            assert done.returncode == 1 or path.name == "contexts", (path.name, at, done.stdout)


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


def resealed(segment, journal, change):
    """Changes the first context's record or table, and corrects all checksums that lead there."""
    entry = next(iter(database_reader.slots(journal.parent)[0].values()))
    data, at, size = bytearray(segment.read_bytes()), entry["offset"], entry["size"]
    length = struct.unpack_from("<Q", data, at + 8)[0]
    group = at + 24 + -(-length // 8) * 8
    where, blocks, pieces, chunks = struct.unpack_from("<4Q", data, group + 24)
    first, rest = blocks * 144, pieces * 40 + chunks * 16
    change(
        data, {"json": (at + 24, length), "group": (group, 56), "blocks": (where, first), "rest": (where + first, rest)}
    )
    for start, amount, to in ((where, first, group + 56), (where + first, rest, group + 64)):
        struct.pack_into("<Q", data, to, database_reader.checksum(data[start : start + amount]))
    slots = bytearray(journal.read_bytes())
    struct.pack_into("<Q", slots, 256 + 112, database_reader.checksum(data[at : at + size]))
    struct.pack_into("<Q", slots, 256 + 248, database_reader.checksum(slots[256 : 256 + 248]))
    segment.write_bytes(data)
    journal.write_bytes(slots)


def nonsense(number, chance):
    """Changes one number of a part, or one bit."""

    def change(content, parts):
        at, size = parts[("json", "group", "blocks", "rest")[number % 4]]
        place = at + chance.randrange(size)
        if number % 3 and number % 4:
            place -= (place - at) % 8
            struct.pack_into("<Q", content, place, chance.choice([2**64 - 1, 2**63, 2**62, 2**31, 1 << 20]))
        else:
            content[place] ^= 1 << chance.randrange(8)

    return change


@pytest.mark.test_all
def test_nonsense_with_right_checksums_is_an_error(tmp_path):
    """Numbers that make no sense, with right checksums, neither crash the reader nor take all memory."""
    chance = random.Random(3)
    simulate(tmp_path, 1, "--blocks", 2, options="codec: [bit-shuffle, gzip]", grid=(6, 5, 4), steps=1)
    source, data = tmp_path / "out" / "data", tmp_path / "copy"
    refused = 0
    for number in range(80):
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(source, data)
        resealed(next(data.glob("segment-*")), data / "contexts", nonsense(number, chance))
        done = subprocess.run(
            ["sh", "-c", f"ulimit -v 2000000; exec {TOOL} verify {data}"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), (number, done.returncode, done.stderr)
        assert "memory" not in done.stderr, (number, done.stderr)
        refused += done.returncode
    assert refused > 30


@pytest.mark.test_all
def test_python_reads_contexts_over_time(tmp_path):
    sys.path.insert(0, str(ROOT / "bindings" / "python"))
    import sidestream

    expected, _ = simulate(tmp_path, 2, "--blocks", 5, "--dt", 0.25)
    data = tmp_path / "out" / "data"
    opened = sidestream.open(data)
    assert opened["field"].dims == ("time", "z", "y", "x")
    np.testing.assert_array_equal(opened["field"].values, expected.transpose(0, 3, 2, 1))
    np.testing.assert_array_equal(opened["time"], [0, 0.25, 0.5])
    np.testing.assert_array_equal(sidestream.open(tmp_path / "out")["data"]["field"][1], expected[1].T)
    for file in data.glob("context-*"):
        file.unlink()
    np.testing.assert_array_equal(sidestream.open(data, iteration=2)["field"], expected[2].T)


@pytest.mark.test_all
def test_killed_runs_lose_no_committed_context(tmp_path):
    chance = random.Random(5)
    expected, _ = simulate(tmp_path, 1, "--blocks", 3, steps=200, options="keep: 1, hdf5: false", grid=(6, 5, 4))
    shutil.rmtree(tmp_path / "out")
    data = tmp_path / "out" / "data"
    file = configure(tmp_path, options="hdf5: false")
    seen = {}
    for _ in range(KILLS):
        line = mpirun(3, "--grid", 6, 5, 4, "--steps", 200, "--blocks", 3, "--sidestream", file)
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            slots = len(seen)
            until = time.monotonic() + 30
            while time.monotonic() < until and run.poll() is None:
                if (data / "contexts").exists() and (data / "contexts").stat().st_size > 256 * (slots + 2):
                    break
                time.sleep(0.005)
            time.sleep(chance.random() * 0.1)
            ranks = children(run.pid)
            for rank in ranks:
                with contextlib.suppress(ProcessLookupError):  # mpirun kills the others once it sees one die
                    os.kill(rank, signal.SIGKILL)
            run.kill()
        gone(ranks)
        contexts, _ = database_reader.slots(data)
        for slot, entry in seen.items():
            assert contexts[slot] == entry
        for entry in contexts.values():
            np.testing.assert_array_equal(database_reader.Context(data, entry).whole("field"), expected[entry["cycle"]])
        seen = contexts
    assert len({entry["run"] for entry in seen.values()}) > 1
    tool("ls", data)
    left = {p.name for p in data.glob("segment-*")}
    tool("prune", data)
    assert {p.name for p in data.glob("segment-*")} <= left
    assert set(database_reader.slots(data)[0]) == set(seen)


@pytest.mark.test_all
def test_a_full_disk_costs_what_does_not_fit(tmp_path):
    disk = tmp_path / "out" / "data"
    disk.mkdir(parents=True)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("NOT TESTED: full disks, since tmpfs cannot be mounted here")
    try:
        expected, done = simulate(tmp_path, 2, steps=30, grid=(8, 8, 8), options="hdf5: false, fsync: false")
        assert "with a failed analysis" in done.stdout
        assert "No space left on device" in done.stderr
        contexts = database_reader.contexts(disk)
        assert 5 < len(contexts) < 30
        for context in contexts.values():
            np.testing.assert_array_equal(context.whole("field"), expected[context.entry["cycle"]])
    finally:
        subprocess.run(["umount", disk], check=True)
