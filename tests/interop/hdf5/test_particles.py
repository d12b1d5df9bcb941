"""Particles whose number differs by rank and step, in lists, in columns and in members of compound types. Results have
the same bytes as with Sidestream's own calls."""

import os
import sys

import h5py
import numpy as np
import pytest
from hdf5_runs import assert_same_files, assert_same_results, drafted, results, rows, run
from pairs import few

WRITER, DIRECT = os.environ.get("SIDESTREAM_HDF5_PARTICLES", ""), os.environ["SIDESTREAM_HDF5_PARTICLES_DIRECT"]
needs_parallel = pytest.mark.skipif(not WRITER, reason="no parallel HDF5 (libhdf5-openmpi-dev)")

CONFIGURATION = """placement: {mode: inline}
output: {directory: results}
analyses:
  - statistics: {variable: mass, file: mass.csv}
  - histogram: {variable: id, bins: 7, range: [0, 3000], file: id.csv}
outputs:
  - hdf5: {file: "fields-{index}.h5"}
"""
COORDINATES = {
    "lists": "[/x, /y, /z]",
    "columns": "[/position]",
    "compound": "[/gas.at.x, /gas.at.y, /gas.at.z]",
    "packed": "[/gas.at.x, /gas.at.y, /gas.at.z]",
}


def mapping(how, grows, write="both"):
    place = "/gas." if how in ("compound", "packed") else "/"
    files = "pattern: plot.h5, steps: index" if grows else 'pattern: "plot_{cycle}.h5"'
    return f"""files: {{{files}, time: /time, write: {write}}}
meshes:
  gas: {{type: points, coordinates: {COORDINATES[how]}{", grows: yes" if grows else ""}}}
arrays:
  {place}mass: {{mesh: gas, variable: mass}}
  {place}id: {{mesh: gas, variable: id}}
"""


def both_ways(folder, how, ranks, grows, *arguments):
    arguments = ["--how", how, *(["--grows"] if grows else []), *arguments]
    done = run(folder / "ours", [WRITER, *arguments], ranks, CONFIGURATION, mapping(how, grows))
    assert done.stderr == ""
    run(folder / "alone", [WRITER, *arguments], ranks, CONFIGURATION)
    run(folder / "direct", [DIRECT, "run.yaml", *arguments], ranks, CONFIGURATION)
    assert_same_files(folder / "ours", folder / "alone")
    assert_same_results(folder / "ours", folder / "direct", 7)
    assert [row["outcome"] for row in rows(folder / "ours")] == ["delivered"] * 4


HOWS = list(COORDINATES)


@needs_parallel
@pytest.mark.parametrize(
    ("grows", "how"),
    few([False, True], HOWS, kept=[(True, "compound"), (False, "lists")]),
)
@pytest.mark.parametrize("ranks", few([1, 2, 3], kept=[3]))
def test_same_bytes(tmp_path, how, grows, ranks):
    both_ways(tmp_path, how, ranks, grows)


@needs_parallel
@pytest.mark.parametrize("grows", few([False, True], kept=[True]))
@pytest.mark.parametrize("how", few(HOWS, kept=["lists"]))
def test_collective_writes(tmp_path, how, grows):
    both_ways(tmp_path, how, 3, grows, "--collective")


@needs_parallel
@pytest.mark.parametrize("how", few(["lists", "columns", "compound"], kept=["lists"]))
def test_a_file_that_is_opened_again(tmp_path, how):
    both_ways(tmp_path, how, 2, True, "--reopen")


@needs_parallel
@pytest.mark.parametrize("grows", few([False, True], kept=[True]))
def test_only_publishes(tmp_path, grows):
    """A compound is left out of the file only if rules name all of its members."""
    arguments = ["--how", "packed", *(["--grows"] if grows else [])]
    rules = mapping("packed", grows, "only")
    whole = rules + "  /gas.kind: {mesh: gas, variable: kind}\n"
    run(tmp_path / "some", [WRITER, *arguments], 2, CONFIGURATION, rules)
    run(tmp_path / "all", [WRITER, *arguments], 2, CONFIGURATION, whole)
    run(tmp_path / "alone", [WRITER, *arguments], 2, CONFIGURATION)
    assert_same_files(tmp_path / "some", tmp_path / "alone")
    assert len(results(tmp_path / "all")) == len(results(tmp_path / "some"))
    name = "plot.h5" if grows else "plot_0030.h5"
    with h5py.File(tmp_path / "all" / name) as ours, h5py.File(tmp_path / "alone" / name) as theirs:
        last = 4 + 6 + 4 + 2 * 3 if grows else 1
        assert not ours["gas"]["mass"][-last:].any() and theirs["gas"]["mass"][-last:].all()


@needs_parallel
def test_members_that_are_no_numbers(tmp_path):
    rules = mapping("compound", False) + "  /gas.name: {mesh: gas}\n"
    done = run(tmp_path, [WRITER, "--how", "compound"], 2, CONFIGURATION, rules)
    lines = [line for line in done.stderr.splitlines() if "/gas.name" in line]
    assert len(lines) == 2 and all("plot_00" in line and "text" in line for line in lines), done.stderr  # of two ranks
    assert len(rows(tmp_path)) == 4


@needs_parallel
def test_rules_that_name_no_member(tmp_path):
    rules = 'files: {pattern: "plot_{cycle}.h5"}\narrays: {/gas: {mesh: gas}, /time: {}}\n'
    done = run(tmp_path, [WRITER, "--how", "compound"], 1, CONFIGURATION, rules)
    assert 'expected rules for its members: "/gas.name", "/gas.mass"' in done.stderr, done.stderr


@needs_parallel
def test_growing_lists_without_the_word(tmp_path):
    done = run(tmp_path, [WRITER, "--grows"], 1, CONFIGURATION, mapping("lists", True).replace(", grows: yes", ""))
    assert done.stderr.count("expected `grows: yes`") == 5, done.stderr


@needs_parallel
@pytest.mark.parametrize(("grows", "how"), few([False, True], HOWS, kept=[(True, "columns")]))
def test_the_drafted_mapping_works(tmp_path, how, grows):
    arguments = ["--how", how, *(["--grows"] if grows else [])]
    run(tmp_path / "first", [WRITER, *arguments], 2, CONFIGURATION, SIDESTREAM_HDF5_RECORD="record")
    draft = drafted(tmp_path / "first")
    assert "type: points, coordinates:" in draft and ("grows: yes" in draft) == grows, draft
    assert how in ("compound", "packed") or "(in the file float64)" in draft
    draft = (
        draft.replace("  points: {", "  gas: {")
        .replace("mesh: points,", "mesh: gas,")
        .replace("variable: gas_", "variable: ")
    )
    if how == "packed":
        draft = "\n".join(line for line in draft.splitlines() if "gas.kind" not in line) + "\n"
    run(tmp_path / "ours", [WRITER, *arguments], 2, CONFIGURATION, draft)
    run(tmp_path / "direct", [DIRECT, "run.yaml", *arguments], 2, CONFIGURATION)
    assert_same_results(tmp_path / "ours", tmp_path / "direct", 7)


# The particles of one rank by Python: lists that grow, and arrays of structures.
PARTICLES = """
import h5py, numpy as np
def particles(step):
    n = np.arange(4 + 2 * step)
    mass = (1 + 0.5 * n + step).astype("f4")
    return 0.25 * n, 0.5 * n - step, np.full(n.size, 2 + 0.125 * step), mass, n.astype("i8")
"""
SCRIPTS = {
    "grows": """
with h5py.File("plot.h5", "w") as file:
    time = file.create_dataset("time", (0,), "f8", maxshape=(None,))
    names, types = ["x", "y", "z", "mass", "id"], ["f8", "f8", "f8", "f4", "i8"]
    sets = [file.create_dataset(n, (0,), t, maxshape=(None,)) for n, t in zip(names, types)]
    for step in range(4):
        time.resize(step + 1, axis=0)
        time[step] = 0.25 * step
        for set, values in zip(sets, particles(step)):
            set.resize(len(set) + len(values), axis=0)
            set[-len(values):] = values
""",
    "structures": """
kind = np.dtype([("id", "i8"), ("mass", "f4"), ("at", [("x", "f8"), ("y", "f8"), ("z", "f8")]), ("label", "S3")])
for step in range(4):
    x, y, z, mass, number = particles(step)
    gas = np.zeros(len(x), kind)
    gas["at"]["x"], gas["at"]["y"], gas["at"]["z"], gas["mass"], gas["id"] = x, y, z, mass, number
    with h5py.File(f"plot_{10 * step:04}.h5", "w") as file:
        file["time"] = 0.25 * step
        file["gas"] = gas
""",
}


@pytest.mark.parametrize("script", few(SCRIPTS, kept=["grows", "structures"]))
def test_python(tmp_path, script):
    command = [sys.executable, "-c", PARTICLES + SCRIPTS[script]]
    grows = script == "grows"
    rules = mapping("lists" if grows else "compound", grows)
    done = run(tmp_path / "ours", command, 1, CONFIGURATION, rules, mpi=False)
    assert done.stderr == ""
    run(tmp_path / "alone", command, 1, CONFIGURATION, mpi=False)
    run(tmp_path / "direct", [DIRECT, "run.yaml", *(["--grows"] if grows else [])], 1, CONFIGURATION)
    assert_same_files(tmp_path / "ours", tmp_path / "alone")
    assert_same_results(tmp_path / "ours", tmp_path / "direct", 7)


def test_old_rows_are_not_published(tmp_path):
    """A step is what was added: rows that are written again are none of its points."""
    code = PARTICLES + SCRIPTS["grows"].replace("time[step] =", "sets[3][:2] = [7, 7]\n        time[step] =")
    code = code.replace("sets[3][:2] = [7, 7]", "sets[3][: 2 * (step > 1)] = 7.0")
    done = run(tmp_path / "ours", [sys.executable, "-c", code], 1, CONFIGURATION, mapping("lists", True), mpi=False)
    assert done.stderr.count("plot.h5: /mass: found rows of an earlier step") == 1, done.stderr
    run(tmp_path / "direct", [DIRECT, "run.yaml", "--grows"], 1, CONFIGURATION)
    assert_same_results(tmp_path / "ours", tmp_path / "direct", 7)
    with h5py.File(tmp_path / "ours" / "plot.h5") as file:
        assert np.all(file["mass"][:2] == 7)


def test_coordinates_with_too_many_columns(tmp_path):
    """The points are counted instead, and a sentence says why."""
    code = SCRIPTS["structures"].replace(
        'file["gas"] = gas', 'file["mass"] = mass; file["position"] = np.ones((len(x), 5))'
    )
    rules = mapping("columns", False).replace("  /id: {mesh: gas, variable: id}\n", "")
    text = CONFIGURATION.replace("  - histogram: {variable: id, bins: 7, range: [0, 3000], file: id.csv}\n", "")
    done = run(tmp_path, [sys.executable, "-c", PARTICLES + code], 1, text, rules, mpi=False)
    assert done.stderr.count("'/position' with coordinates is no list on it, nor one of up to three columns") == 1
    assert [row["outcome"] for row in rows(tmp_path)] == ["delivered"] * 4
