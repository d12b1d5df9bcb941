"""Databases that xarray and NumPy open, compared with the published values, without HDF5 files and with every codec."""

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import checkpoints
import numpy as np
import pytest
import sidestream
from sidestream.codecs import checksums
from sidestream.codecs import decoding as codecs

PROGRAM = Path(__file__).with_name("checkpoints.py")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
BLOCKS = 7
# The error that these codecs may make.
BOUNDS = {"vectors": lambda v: np.abs(v) / 2048, "faces": lambda v: 30000 / 65535 / 2 + np.abs(v) * 1e-7}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    results = tmp_path_factory.mktemp("databases") / "results"
    command = [MPIRUN, "-n", "3", sys.executable, str(PROGRAM), "write", str(results), str(BLOCKS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


def whole(name, step, level=0):
    mesh = checkpoints.KINDS[name][0]
    lo, hi = [0] * len(checkpoints.CELLS[mesh]), list(checkpoints.CELLS[mesh])
    return checkpoints.values(name, *checkpoints.points_of(name, lo, hi), step, level)


def bound_of(database, name, expected):
    return BOUNDS[name](expected.astype("f8")) if database == "post" and name in BOUNDS else 0


@pytest.mark.keep(1)
@pytest.mark.parametrize("into", ["xarray", "numpy"])
@pytest.mark.parametrize("database", ["restart", "post"])
def test_all_contexts_over_time(results, database, into):
    found = sidestream.open(results / database, into=into)
    for name in checkpoints.KINDS:
        values = np.asarray(found[name])
        expected = np.stack([whole(name, step) for step in range(checkpoints.STEPS)])
        assert values.dtype == expected.dtype and found[name].dims[0] == "time"
        assert np.all(np.abs(values.astype("f8") - expected) <= bound_of(database, name, expected)), name
    places = np.concatenate([checkpoints.places(b) for b in range(BLOCKS)])
    expected = np.stack([places + step for step in range(checkpoints.STEPS)])
    spread = (1000 * BLOCKS) / 4294967295 if database == "post" else 0
    assert np.all(np.abs(np.asarray(found["places"]) - expected) <= spread)
    assert found.attrs["kind"] == {"restart": "checkpoint", "post": "post"}[database]
    if into == "xarray":
        np.testing.assert_array_equal(found["time"], [0, 0.5, 1])
        np.testing.assert_array_equal(found["cycle"], [0, 10, 20])
        np.testing.assert_array_equal(found["box_x"], np.arange(5) * 0.5 + 0.25)
        np.testing.assert_array_equal(found["walls_x_node"], [0, 1, 3, 4, 8, 9])
        assert found["nodes"].attrs["units"] == "K" and found["nodes"].attrs["long_name"] == "temperature"
        np.testing.assert_array_equal(found["cloud_point_block"], np.repeat(np.arange(BLOCKS), np.arange(BLOCKS) + 1))


ANEW = """
import sys
import numpy as np
import sidestream
from mpi4py import MPI

first, last = int(sys.argv[2]), int(sys.argv[3])
with sidestream.open_session(MPI.COMM_SELF, text=sys.argv[1]) as session:
    session.set_block("line", 0, [0], [4])
    for cycle in range(first, last, 10):
        session.publish("t", 0, np.full(4, first + cycle / 100))
        session.end_iteration(cycle, cycle / 10)
"""


@pytest.mark.test_all
@pytest.mark.parametrize("into", ["xarray", "numpy"])
def test_what_a_later_run_has_written_anew(tmp_path, into):
    """Cycles 20 and 30 are those of the second run, which went back to them. Times increase."""
    text = f"output: {{directory: {tmp_path}, existing: replace}}\nmeshes: {{line: {{size: [4]}}}}\n"
    text += "variables: {t: {mesh: line}}\noutputs: [database: {directory: data, kind: post}]\n"
    for cycles in ((0, 40), (20, 60)):
        command = [sys.executable, "-c", ANEW, text, *map(str, cycles)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    found = sidestream.open(tmp_path / "data", into=into)
    np.testing.assert_array_equal(np.asarray(found["t"])[:, 0], [0, 0.1, 20.2, 20.3, 20.4, 20.5])
    assert found.attrs["rewritten"] == 2
    if into == "xarray":
        np.testing.assert_array_equal(found["cycle"], [0, 10, 20, 30, 40, 50])
        assert float(found["t"].sel(time=2.9, method="nearest")[0]) == 20.3
    assert float(np.asarray(sidestream.open(tmp_path / "data", cycle=20)["t"])[0]) == 20.2


def test_one_context(results):
    for chosen in ({"iteration": 1}, {"cycle": 10}):
        found = sidestream.open(results / "restart", **chosen)
        assert (found["time"], found["iteration"], found["cycle"]) == (0.5, 1, 10)
        np.testing.assert_array_equal(found["rows"], whole("rows", 1))
    with pytest.raises(sidestream.Error, match=r"no context of iteration 9; the last iterations are 0 \(cycle 0\)"):
        sidestream.open(results / "restart", iteration=9)
    with pytest.raises(sidestream.Error, match="choose a context of a database"):
        sidestream.open(results, iteration=1)


def test_finer_levels(results):
    found = sidestream.open(results / "restart", iteration=2)["nodes_level1"]
    assert found.dims == ("box_z_node_level1", "box_y_node_level1", "box_x_node_level1")
    lo, hi = [2, 2, 8], [7, 9, 21]
    inside = found[8:21, 2:9, 2:7]
    np.testing.assert_array_equal(inside, checkpoints.values("nodes", lo, hi, 2, 1))
    assert np.isnan(found).sum() == found.size - inside.size
    np.testing.assert_array_equal(found["box_x_node_level1"], np.arange(11) / 4)


INDICES = [
    (slice(None), 3, slice(1, 4), slice(None, None, -1)),
    (1, slice(2, 15, 4), slice(None), 2),
    (slice(0, 0), slice(5, 5)),
    (-1, -1, -1, -1),
    (slice(None, None, -2), slice(14, 2, -3), ..., slice(-2, None)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_parts(results, index):
    found = sidestream.open(results / "restart", into="numpy")
    for name in ("nodes", "rows"):
        expected = np.stack([whole(name, step) for step in range(checkpoints.STEPS)])
        own = (*index, slice(None)) if name == "rows" and Ellipsis not in index and len(index) == 4 else index
        np.testing.assert_array_equal(found[name][own], expected[own])


def test_a_part_reads_no_more_than_its_blocks(results, monkeypatch):
    found = sidestream.open(results / "restart", into="numpy", iteration=0)["nodes"]
    read, of = [], type(found.context)
    original = of.read
    monkeypatch.setattr(of, "read", lambda self, v, piece, *rest: read.append(piece) or original(self, v, piece, *rest))
    found[1, 0, 0]
    assert len(read) == 1
    assert len(found.chunks[0]) == BLOCKS, "Dask's chunks end where blocks do"


def test_arrays_go_to_other_processes(results):
    """Reading must also work in threads, in which Dask may run."""
    found = sidestream.open(results / "post", into="numpy", iteration=1)["longs"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found))[...], whole("longs", 1))


def test_without_xxhash(results, monkeypatch):
    checksums.can_verify.cache_clear()
    monkeypatch.setattr(checksums, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match="checksums of a database are not verified; install it"):
        found = sidestream.open(results / "post", iteration=0)
    assert found.attrs["checksums"] == "not verified"
    np.testing.assert_array_equal(found["longs"], whole("longs", 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sidestream.open(results / "post", iteration=0)
    monkeypatch.undo()
    checksums.can_verify.cache_clear()


def test_without_zstandard(results, monkeypatch):
    monkeypatch.setattr(codecs, "find_spec", lambda name: None)
    found = sidestream.open(results / "post", into="numpy", iteration=0)
    np.testing.assert_array_equal(found["longs"][...], whole("longs", 0))
    with pytest.raises(sidestream.Error, match="needs the package zstandard; install it"):
        found["nodes"][...]


def test_an_unknown_codec_is_named(results):
    with pytest.raises(sidestream.Error, match="the codec 'wavelet', which is not known here; use a newer Sidestream"):
        codecs.decoded(b"1234", ["wavelet"], np.dtype("<f4"), 4)
    with pytest.raises(sidestream.Error, match="cannot be decoded with gzip"):
        codecs.decoded(b"1234", ["gzip"], np.dtype("<f4"), 4)


def test_contexts_that_are_not_whole_are_said(results, tmp_path):
    place = tmp_path / "cut"
    place.mkdir()
    for file in (results / "post").iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    slots = (place / "contexts").read_bytes()
    (place / "contexts").write_bytes(slots[:-100])
    with pytest.warns(UserWarning, match="slot 3 has 156 of 256 bytes: a run ended while it committed"):
        assert sidestream.open(place).sizes["time"] == 2
    (place / "contexts").write_bytes(slots[:256])
    with pytest.raises(sidestream.Error, match="has no context yet"):
        sidestream.open(place)
    (place / "contexts").write_bytes(b"nonsense" * 40)
    with pytest.warns(UserWarning, match="head is damaged"), pytest.raises(sidestream.Error, match="head is damaged"):
        sidestream.open(place)


def test_a_directory_of_results_shows_them(results):
    found = sidestream.open(results)
    assert set(found) >= {"restart", "post"}
    np.testing.assert_array_equal(found["post"]["longs"][2], whole("longs", 2))
