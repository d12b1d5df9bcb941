"""Damaged HDF5 files of other programs, and damaged descriptions of them: `sidestream analyse` reads or refuses them
with a sentence, and neither crashes nor hangs."""

import random
import subprocess

import h5py
import numpy as np
import pytest
from programs import built

TOOL = built("SIDESTREAM_TOOL")
DESCRIPTION = """\
iteration: {cycle: /run@cycle, time: /run@time}
meshes:
  grid: {origin: [0, 0, 0], spacing: [0.5, 0.5, 0.5], periodic: [x]}
particles:
  stars: [/stars/x, /stars/y, /stars/z]
variables:
  rho: {mesh: grid, array: /fields/rho, unit: kg, scale: 2}
  v: {mesh: grid, array: [/fields/u, /fields/u]}
  mass: {mesh: stars, array: /stars/mass}
"""
TASKS = """\
placement: inline
output: {directory: results, existing: replace}
analyses:
  - statistics: {variable: rho}
  - statistics: {variable: v, file: v.csv}
  - statistics: {variable: mass, file: mass.csv}
"""


def write(path, attributes=(3, 0.25)):
    """Arrays of every storage layout: compact, contiguous, chunked, packed, and a group with a new layout."""
    with h5py.File(path, "w") as file:
        fields, stars = file.create_group("fields"), file.create_group("stars")
        rho = np.arange(210.0).reshape(5, 6, 7)
        fields.create_dataset("rho", data=rho, chunks=(2, 3, 7), compression="gzip", shuffle=True)
        fields.create_dataset("u", data=rho.astype("f4"))
        for name in ("x", "y", "z", "mass"):
            stars.create_dataset(name, data=np.linspace(0, 1, 20), chunks=(8,), maxshape=(None,))
        run = file.create_group("run")
        run.attrs["cycle"], run.attrs["time"] = attributes


def analyse(folder, limit=60):
    command = [TOOL, "analyse", "data.h5", "--config", "run.yaml", "--describe", "arrays.yaml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False)


def check(done, what):
    assert done.returncode in (0, 1), f"{what}: status {done.returncode}\n{done.stdout}{done.stderr}"
    if done.returncode == 1:
        assert "sidestream" in done.stderr or "error" in done.stderr.lower(), f"{what}: no sentence"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run.yaml").write_text(TASKS)
    (tmp_path / "arrays.yaml").write_text(DESCRIPTION)
    write(tmp_path / "data.h5")
    return tmp_path


def test_whole(folder):
    done = analyse(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = np.genfromtxt(folder / "results" / "statistics.csv", delimiter=",", names=True)
    assert (rows["cycle"], rows["maximum"]) == (3, 418)


def damaged(data, random):
    data = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data))
        how = random.randrange(4)
        if how == 0:
            data[at] ^= 1 << random.randrange(8)
        elif how == 1:
            data[at : at + 8] = b"\xff" * len(data[at : at + 8])
        elif how == 2:
            data[at : at + 8] = bytes(len(data[at : at + 8]))
        else:
            data[at:] = b"" if random.random() < 0.3 else data[at:]
    return bytes(data)


@pytest.mark.test_all
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.test_all) for n in range(1, 16))])
def test_damaged_bytes(folder, seed):
    whole = (folder / "data.h5").read_bytes()
    source = random.Random(seed)
    for n in range(25):
        (folder / "data.h5").write_bytes(damaged(whole, source))
        check(analyse(folder), f"seed {seed}, file {n}")


@pytest.mark.keep(3)
@pytest.mark.parametrize(
    "attributes",
    [(np.nan, 0), (1e300, 0), (np.inf, np.inf), ("three", 0), ([1, 2], 0), (np.array([], "f8"), 0), (1, np.nan)],
    ids=str,
)
def test_odd_attributes(folder, attributes):
    write(folder / "data.h5", attributes)
    done = analyse(folder)
    check(done, "attributes")
    named = "/run@" in done.stderr or "of '/run' is no number" in done.stderr
    assert done.returncode == 1 and named, done.stdout + done.stderr


def odd_arrays():
    yield "no entries", np.zeros((0, 3, 4))
    yield "one number", np.float64(3)
    yield "four axes", np.zeros((2, 2, 2, 2))
    yield "no components", np.zeros((5, 6, 7, 0))
    yield "texts", np.array([b"a", b"bc"])
    yield "complex", np.zeros((5, 6, 7), complex)
    yield "pairs", np.zeros((5, 6, 7), [("a", "f8"), ("b", "i4")])
    yield "half", np.ones((5, 6, 7), "f2")
    yield "big end first", np.ones((5, 6, 7), ">f8")
    yield "flags", np.ones((5, 6, 7), bool)
    yield "not a number", np.full((5, 6, 7), np.nan)


@pytest.mark.keep(1)
@pytest.mark.parametrize("array", [pytest.param(array, id=name) for name, array in odd_arrays()])
def test_odd_arrays(folder, array):
    with h5py.File(folder / "data.h5", "a") as file:
        del file["fields/rho"]
        file["fields/rho"] = array
    check(analyse(folder), "array")


def test_huge_arrays_that_were_never_written(folder):
    """Their sizes, not their bytes, are damaged: nothing of that size may be allocated before it is refused."""
    with h5py.File(folder / "data.h5", "a") as file:
        del file["fields/rho"]
        file.create_dataset("fields/rho", shape=(1 << 20, 1 << 20, 1 << 18), dtype="f8", chunks=(64, 64, 64))
    done = analyse(folder)
    check(done, "huge")
    assert done.returncode == 1, done.stdout


@pytest.mark.test_all
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.test_all) for n in range(1, 8))])
def test_damaged_descriptions(folder, seed):
    source = random.Random(seed)
    words = DESCRIPTION.replace("\n", " \n ").split(" ")
    others = ["", "[", "{", ":", "nan", "-1", "1e400", "/", "@", "~", "x", "[]", "{}", "&a", "*a", "\x01", "ü", "- "]
    for _ in range(25):
        changed = list(words)
        for _ in range(source.randint(1, 3)):
            changed[source.randrange(len(changed))] = source.choice([*others, source.choice(words)])
        (folder / "arrays.yaml").write_text(" ".join(changed))
        check(analyse(folder), " ".join(changed))
