"""Helpers of the tests of programs that write HDF5: they run a program with and without the interposer, and compare."""

import csv
import os
import subprocess

import h5py
import numpy as np

MPIRUN = [os.environ["SIDESTREAM_MPIEXEC"], *os.environ.get("MPIEXEC_FLAGS", "").split()]
INTERPOSED = os.environ["SIDESTREAM_HDF5"]
TOOL = os.environ["SIDESTREAM_TOOL"]

CONFIGURATION = """placement: {mode: inline}
output: {directory: results}
analyses:
  - statistics: {variable: temperature, file: temperature.csv}
  - histogram: {variable: velocity.y, bins: 7, range: [90, 130], file: velocity.csv}
outputs:
  - hdf5: {file: "fields-{index}.h5"}
"""


def run(folder, command, ranks=1, text=CONFIGURATION, rules=None, mpi=True, **settings):
    """Runs a program, with the interposer if there are rules or other settings."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.yaml").write_text(text)
    environment = {**os.environ, "SIDESTREAM_CONFIG": "run.yaml", **settings}
    if rules is not None:
        (folder / "map.yaml").write_text(rules)
        environment["SIDESTREAM_HDF5_MAP"] = "map.yaml"
    if rules is not None or settings:
        environment["LD_PRELOAD"] = INTERPOSED
    launch = [*MPIRUN, "-n", str(ranks)] if mpi else []
    done = subprocess.run([*launch, *map(str, command)], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def results(folder):
    """Files of a run that do not tell who made them, with their bytes."""
    found = {}
    for file in sorted((folder / "results").rglob("*")):
        if file.suffix in (".csv", ".h5") and file.name != "timings.csv":
            found[str(file.relative_to(folder))] = file.read_bytes()
    return found


def rows(folder, name="iterations.csv"):
    with (folder / "results" / name).open() as file:
        return list(csv.DictReader(file))


def assert_same_results(ours, theirs, count=8):
    ours, theirs = results(ours), results(theirs)
    assert len(ours) >= count and sorted(ours) == sorted(theirs)
    for name, content in ours.items():
        assert content == theirs[name], name


def content(file):
    """All that an HDF5 file has: paths with types, sizes, values and attributes."""
    found = {}

    def plain(value):
        value = np.asarray(value)
        return (value.dtype, value.shape) if value.dtype.hasobject else value.tobytes()

    def visit(name, thing):
        values = (str(thing.dtype), thing.maxshape, plain(thing[()])) if isinstance(thing, h5py.Dataset) else None
        found[name] = (values, {key: plain(value) for key, value in thing.attrs.items()})

    with h5py.File(file) as opened:
        opened.visititems(visit)
    return found


def assert_same_files(ours, theirs):
    names = sorted(f.name for f in theirs.glob("plot*"))
    assert names and names == sorted(f.name for f in ours.glob("plot*"))
    for name in names:
        assert content(ours / name) == content(theirs / name), name


def drafted(folder):
    """The mapping that is drafted from the records of a run in a folder."""
    draft = subprocess.run(
        [TOOL, "hdf5-map", folder / "record"], capture_output=True, text=True, timeout=60, check=False
    )
    assert draft.returncode == 0, draft.stderr
    return draft.stdout
