"""Programs that write HDF5 or netCDF-4 and a program with Sidestream's own calls have the same fields: all results are
the same bytes, and the programs' own files are those of a run without Sidestream."""

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
from hdf5_runs import CONFIGURATION, TOOL, assert_same_files, assert_same_results, drafted, rows, run
from pairs import few

WRITER, DIRECT = os.environ.get("SIDESTREAM_HDF5_WRITER", ""), os.environ["SIDESTREAM_HDF5_DIRECT"]
OTHERS = {"fortran": os.environ.get("SIDESTREAM_HDF5_FORTRAN", ""), "cpp": os.environ.get("SIDESTREAM_HDF5_CPP", "")}
needs_parallel = pytest.mark.skipif(not WRITER, reason="no parallel HDF5 (libhdf5-openmpi-dev)")

FILES = {
    "file": 'files: {pattern: "plot_{cycle}.h5", steps: file, time: /time}',
    "index": "files: {pattern: plot.*, steps: index, time: /time}",
    "path": 'files: {pattern: plot.h5, steps: path, path: "/step{cycle}/*", time: "/step{cycle}/time"}',
    "whole": "files: {pattern: plot.h5, time: /time}",
}


def mapping(steps, write="both", arrays=""):
    place = "/step{cycle}" if steps == "path" else ""
    return f"""{FILES[steps][:-1]}, write: {write}}}
meshes: {{grid: {{spacing: [0.5, 0.5, 0.5]}}}}
arrays:
  "{place}/temperature": {{mesh: grid, variable: temperature}}
  "{place}/velocity": {{mesh: grid, variable: velocity, components: last}}
{arrays}"""


def both_ways(folder, steps, ranks, *arguments, same_blocks=True):
    """Runs the writer with and without the interposer, and the direct program; compares everything."""
    arguments = ["--steps", steps, *arguments]
    done = run(folder / "ours", [WRITER, *arguments], ranks, rules=mapping(steps))
    assert done.stderr == "" and done.stdout == ""
    run(folder / "alone", [WRITER, *arguments], ranks)
    run(folder / "direct", [DIRECT, "run.yaml", *arguments], ranks)
    assert_same_files(folder / "ours", folder / "alone")
    if same_blocks:
        assert_same_results(folder / "ours", folder / "direct")
    else:
        for table in ("temperature.csv", "velocity.csv", "iterations.csv"):
            ours, theirs = folder / "ours" / "results" / table, folder / "direct" / "results" / table
            assert ours.read_bytes() == theirs.read_bytes(), table


@needs_parallel
@pytest.mark.parametrize(("steps", "ranks"), few([(s, r) for s in FILES for r in (1, 2, 3, 8)], kept=[("index", 2)]))
def test_same_bytes(tmp_path, steps, ranks):
    both_ways(tmp_path, steps, ranks)


@needs_parallel
@pytest.mark.parametrize("steps", few(FILES, kept=["whole"]))
def test_collective_writes_of_arrays_with_ghosts(tmp_path, steps):
    both_ways(tmp_path, steps, 8, "--collective", "--ghosts")  # two ranks have no layer


@needs_parallel
@pytest.mark.parametrize(
    ("steps", "how"), few(FILES, ["--planes", "--none-on-0", "--serial", "--float"], kept=[("path", "--planes")])
)
def test_other_divisions(tmp_path, steps, how):
    same = how == "--float"
    both_ways(tmp_path, steps, 3, how, *(["--ghosts"] if how == "--planes" else []), same_blocks=same)


@needs_parallel
@pytest.mark.parametrize("how", few(["", "--collective", "--serial"], kept=[]))
@pytest.mark.parametrize("steps", few(["index", "file"]))
def test_only_publishes(tmp_path, how, steps):
    arguments = ["--steps", steps, *how.split()]
    run(tmp_path / "only", [WRITER, *arguments], 3, rules=mapping(steps, "only"))
    run(tmp_path / "both", [WRITER, *arguments], 3, rules=mapping(steps))
    assert_same_results(tmp_path / "only", tmp_path / "both")
    for step in range(3):
        with h5py.File(tmp_path / "only" / (f"plot_{10 * step:04}.h5" if steps == "file" else "plot.h5")) as file:
            for name in ("temperature", "velocity"):
                values = file[name][()] if steps == "file" else file[name][step]
                assert values.any() == (step == 0)  # the first step is written, too
    with h5py.File(tmp_path / "only" / ("plot_0020.h5" if steps == "file" else "plot.h5")) as file:
        assert np.max(file["time"][()]) == 0.5


@needs_parallel
def test_the_environment_says_only(tmp_path):
    run(tmp_path, [WRITER, "--serial"], rules=mapping("file"), SIDESTREAM_HDF5_WRITE="only")
    with h5py.File(tmp_path / "plot_0020.h5") as file:
        assert not file["temperature"][()].any()


# Each: a write that cannot be published, and what the sentence says; none: it is published, or not Sidestream's matter.
ODD = {
    "compound": "compound", "string": "text", "array": "array", "enum": "enumeration", "opaque": "no plain numbers",
    "bits": "with 20 bits", "long-double": "16 bytes", "half": "2 bytes", "big-endian": "other byte order",
    "stored-big-endian": "", "stored-int": "", "scalar": "single value", "null": "without values",
    "five-axes": "5 axes", "points": "no box in order in the file (3 points from [0, 0] to [5, 4])", "stride": "",
    "two-boxes": "", "memory-points": "", "irregular": "", "flat": "",
    "wrong-size": None, "wrong-space": None, "wrong-type": None, "wrong-dataset": None, "no-buffer": None,
    "nothing": "", "twice": "", "chunk": "H5Dwrite_chunk",
}  # fmt: skip
ODD_RULE = '  "/odd": {mesh: other, variable: odd}\n'


@needs_parallel
@pytest.mark.parametrize("odd", few(ODD, kept=["points"]))
@pytest.mark.parametrize("write", few(["both", "only"], kept=["both"]))
def test_odd_writes(tmp_path, odd, write):
    """The write reaches HDF5 or fails as without Sidestream; a sentence names the dataset; all else goes on."""
    command = [WRITER, "--odd", odd]
    alone = run(tmp_path / "alone", command, 2)
    done = run(tmp_path / "ours", command, 2, rules=mapping("file", write, ODD_RULE))
    assert done.stdout == alone.stdout and ("failed" in alone.stdout) == (ODD[odd] is None)
    if ODD[odd]:
        lines = [line for line in done.stderr.splitlines() if "/odd" in line]
        assert len(lines) == 1 and ODD[odd] in lines[0], done.stderr
        assert "array '/odd'" in lines[0] or "plot_0000.h5: /odd" in lines[0]
    elif ODD[odd] == "":
        assert "/odd" not in done.stderr
    assert [row["cycle"] for row in rows(tmp_path / "ours")] == ["0", "10", "20"]
    assert all(row["outcome"] == "delivered" for row in rows(tmp_path / "ours"))
    if write == "both":
        assert_same_files(tmp_path / "ours", tmp_path / "alone")


@needs_parallel
@pytest.mark.test_all
@pytest.mark.parametrize("steps", ["file", "index"])
def test_a_program_that_does_not_close_its_file(tmp_path, steps):
    command = [WRITER, "--serial", "--leave", "--steps", steps]
    run(tmp_path, command, 2, rules=mapping(steps))
    assert len(rows(tmp_path)) == 3


@needs_parallel
@pytest.mark.test_all
def test_nothing_is_mapped(tmp_path):
    done = run(tmp_path / "ours", [WRITER], 2, rules=mapping("file").replace("plot_", "chk_"))
    run(tmp_path / "alone", [WRITER], 2)
    assert done.stderr.count("sidestream:") == 1 and "did you mean 'plot_{cycle}.h5'?" in done.stderr  # once, by rank 0
    assert not (tmp_path / "ours" / "results").exists()
    assert_same_files(tmp_path / "ours", tmp_path / "alone")


@needs_parallel
@pytest.mark.parametrize("write", few(["both", "only"], kept=["only"]))
def test_a_configuration_that_cannot_be_used(tmp_path, write):
    text = CONFIGURATION.replace("variable: temperature", "variable: temperatrue")
    done = run(tmp_path, [WRITER, "--collective"], 3, text=text, rules=mapping("file", write))
    assert done.stderr.count("did you mean 'temperature'") == 1
    for step in range(3):
        with h5py.File(tmp_path / f"plot_{10 * step:04}.h5") as file:
            assert file["temperature"][()].any()


WRONG = {
    "no map": ("[1, 2]", "map"),
    "section": ("flies_: {}", "flies_"),
    "key": ("files: {pat_tern: x}", "pat_tern"),
    "steps": ("files: {steps: never}", "never"),
    "write": ("files: {write: maybe}", "maybe"),
    "list": ("files: {pattern: [a]}", "pattern"),
    "path": ("files: {steps: path}", "{cycle}"),
    "syntax": ("files: {", "line"),
    "array": ("arrays: {/x: {mehs: grid}}", "mehs"),
}


@pytest.mark.parametrize("case", few(WRONG, kept=["key"]))
def test_wrong_mappings(tmp_path, case):
    rules, said = WRONG[case]
    done = run(tmp_path, [sys.executable, "-c", H5PY], rules=rules, mpi=False)
    assert "map.yaml" in done.stderr and said in done.stderr, done.stderr
    assert (tmp_path / "plot_0020.h5").exists()


@pytest.mark.test_all
def test_a_mapping_that_is_missing(tmp_path):
    done = run(tmp_path, [sys.executable, "-c", H5PY], mpi=False, SIDESTREAM_HDF5_MAP="nowhere.yaml")
    assert "nowhere.yaml" in done.stderr


# The same fields by Python's packages, each with an HDF5 of its own.
VALUES = """
import numpy as np
k, j, i, c = np.meshgrid(range(6), range(5), range(12), range(3), indexing="ij")
def value(step):
    return 0.5 * i - 0.25 * j + 0.125 * k + 10.0 * step + 100.0 * c + 0.0625 * i * j
"""
H5PY = (
    VALUES
    + """
import h5py
for step in range(3):
    with h5py.File(f"plot_{10 * step:04}.h5", "w") as file:
        file["time"] = 0.25 * step
        file["temperature"] = value(step)[..., 0]
        file["velocity"] = value(step)
        file["name"] = "text"
        file["temperature"].attrs["unit"] = "K"
"""
)
H5PY_INDEX = (
    VALUES
    + """
import h5py
with h5py.File("plot.h5", "w") as file:
    time = file.create_dataset("time", (0,), "f8", maxshape=(None,))
    temperature = file.create_dataset("temperature", (0, 6, 5, 12), "f8", maxshape=(None, 6, 5, 12))
    velocity = file.create_dataset("velocity", (0, 6, 5, 12, 3), "f8", maxshape=(None, 6, 5, 12, 3))
    for step in range(3):
        for set, values in ((time, 0.25 * step), (temperature, value(step)[..., 0]), (velocity, value(step))):
            set.resize(step + 1, axis=0)
            set[step] = values
"""
)
NETCDF = (
    VALUES
    + """
import netCDF4
with netCDF4.Dataset("plot.nc", "w") as file:
    for name, size in (("time", None), ("z", 6), ("y", 5), ("x", 12), ("c", 3)):
        file.createDimension(name, size)
    time = file.createVariable("time", "f8", ("time",))
    temperature = file.createVariable("temperature", "f8", ("time", "z", "y", "x"))
    velocity = file.createVariable("velocity", "f8", ("time", "z", "y", "x", "c"))
    for step in range(3):
        time[step] = 0.25 * step
        temperature[step] = value(step)[..., 0]
        velocity[step] = value(step)
"""
)
# One file again and again. Its lock must not be held by a process that MPI has started.
H5PY_AGAIN = H5PY.replace('f"plot_{10 * step:04}.h5"', '"plot.h5"')
SCRIPTS = {
    "h5py": (H5PY, "file"),
    "h5py-again": (H5PY_AGAIN, "whole"),
    "h5py-index": (H5PY_INDEX, "index"),
    "netcdf": (NETCDF, "index"),
}


@pytest.mark.parametrize("script", few(SCRIPTS, kept=["h5py-again"]))
def test_python(tmp_path, script):
    code, steps = SCRIPTS[script]
    if "netCDF4" in code:
        pytest.importorskip("netCDF4")
    done = run(tmp_path / "ours", [sys.executable, "-c", code], rules=mapping(steps), mpi=False)
    assert done.stderr == ""
    run(tmp_path / "alone", [sys.executable, "-c", code], mpi=False)
    run(tmp_path / "direct", [DIRECT, "run.yaml", "--steps", steps])
    assert_same_files(tmp_path / "ours", tmp_path / "alone")
    assert_same_results(tmp_path / "ours", tmp_path / "direct")


@pytest.mark.parametrize("language", few(OTHERS, kept=[]))
def test_other_languages(tmp_path, language):
    if not OTHERS[language]:
        pytest.skip(f"no HDF5 for {language}")
    run(tmp_path / "ours", [OTHERS[language]], 1, rules=mapping("file"), mpi=False)
    run(tmp_path / "direct", [DIRECT, "run.yaml"])
    assert_same_results(tmp_path / "ours", tmp_path / "direct")


def test_a_program_with_hdf5_inside(tmp_path):
    """It cannot be seen, and is told so when it ends."""
    program = os.environ.get("SIDESTREAM_HDF5_STATIC", "")
    if not program:
        pytest.skip("no HDF5 to link statically")
    done = run(tmp_path, [program], 1, rules=mapping("file"), mpi=False)
    assert done.stderr.count("linked statically") == 1 and (tmp_path / "plot_0020.h5").exists()


@pytest.mark.test_all
def test_both_packages_in_one_process(tmp_path):
    """Each has an HDF5 of its own; one writes mapped files, the other one goes on as always."""
    pytest.importorskip("netCDF4")
    other = NETCDF.replace("plot.nc", "other.nc")
    done = run(tmp_path, [sys.executable, "-c", H5PY + other], rules=mapping("file"), mpi=False)
    assert done.stderr == "" and len(rows(tmp_path)) == 3


def test_children_publish_nothing(tmp_path):
    """A child that is forked, and a program that the mapped one starts, write as without Sidestream."""
    child = """
import os, subprocess, sys
if os.fork() == 0:
    with h5py.File("plot_0100.h5", "w") as file:
        file["temperature"] = value(3)[..., 0]
    os._exit(0)
os.wait()
code = "import h5py; h5py.File('plot_0200.h5', 'w').create_dataset('temperature', data=[1.0])"
subprocess.run([sys.executable, "-c", code], check=True)
"""
    done = run(tmp_path, [sys.executable, "-c", H5PY + child], rules=mapping("file"), mpi=False)
    assert done.stderr == "" and len(rows(tmp_path)) == 3
    with h5py.File(tmp_path / "plot_0100.h5") as file:
        assert file["temperature"][()].any()


@pytest.mark.test_all
def test_reading_and_other_programs(tmp_path):
    """A program without HDF5, and one that reads, are as without the library."""
    run(tmp_path, [sys.executable, "-c", H5PY], mpi=False)
    read = "import h5py; print(h5py.File('plot_0020.h5')['temperature'][0, 0, 0])"
    done = run(
        tmp_path, ["sh", "-c", f'echo text; exec {sys.executable} -c "{read}"'], rules=mapping("file"), mpi=False
    )
    assert done.stdout == "text\n20.0\n" and done.stderr == "" and not (tmp_path / "results").exists()


@pytest.mark.parametrize("case", few([*SCRIPTS, "file", "index", "path", "whole"], kept=["h5py"]))
def test_the_drafted_mapping_works(tmp_path, case):
    """From a first run to results: record, draft, run. The draft finds the steps and the datasets."""
    if case not in SCRIPTS and not WRITER:
        pytest.skip("no parallel HDF5")
    if case == "netcdf":
        pytest.importorskip("netCDF4")
    ranks, mpi = (1, False) if case in SCRIPTS else (2, True)
    command = [sys.executable, "-c", SCRIPTS[case][0]] if case in SCRIPTS else [WRITER, "--steps", case]
    steps = SCRIPTS[case][1] if case in SCRIPTS else case
    run(tmp_path / "first", command, ranks, mpi=mpi, SIDESTREAM_HDF5_RECORD="record")
    draft = drafted(tmp_path / "first")
    assert "components: last" in draft and "time:" in draft
    run(tmp_path / "ours", command, ranks, rules=draft, mpi=mpi)
    run(tmp_path / "direct", [DIRECT, "run.yaml", "--steps", steps], ranks)
    for table in ("temperature.csv", "velocity.csv", "iterations.csv"):
        ours, theirs = tmp_path / "ours" / "results" / table, tmp_path / "direct" / "results" / table
        assert ours.read_bytes() == theirs.read_bytes(), table


def test_records_without_writes(tmp_path):
    (tmp_path / "record").mkdir()
    draft = subprocess.run([TOOL, "hdf5-map", tmp_path / "record"], capture_output=True, text=True, timeout=60)
    assert draft.returncode == 1 and "SIDESTREAM_HDF5_RECORD" in draft.stderr
