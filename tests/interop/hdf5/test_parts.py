"""Writes whose selections are no single box, or whose values are converted. Results have the same bytes as with
Sidestream's own calls, and the program's files are those of a run without Sidestream."""

import os
import sys

import h5py
import numpy as np
import pytest
from hdf5_runs import assert_same_files, assert_same_results, drafted, results, rows, run
from pairs import few

WRITER, DIRECT = os.environ.get("SIDESTREAM_HDF5_PARTS", ""), os.environ["SIDESTREAM_HDF5_PARTS_DIRECT"]
needs_parallel = pytest.mark.skipif(not WRITER, reason="no parallel HDF5 (libhdf5-openmpi-dev)")

CONFIGURATION = """placement: {mode: inline}
output: {directory: results}
analyses:
  - statistics: {variable: temperature, file: temperature.csv}
outputs:
  - hdf5: {file: "fields-{index}.h5"}
"""


def mapping(write="both"):
    return f"""files: {{pattern: "plot_{{cycle}}.h5", write: {write}}}
meshes: {{grid: {{spacing: [0.5, 0.5, 0.5]}}}}
arrays: {{/temperature: {{mesh: grid, variable: temperature}}}}
"""


def both_ways(folder, ranks, *arguments):
    done = run(folder / "ours", [WRITER, *arguments], ranks, CONFIGURATION, mapping())
    assert done.stderr == ""
    run(folder / "alone", [WRITER, *arguments], ranks, CONFIGURATION)
    run(folder / "direct", [DIRECT, "run.yaml", *arguments], ranks, CONFIGURATION)
    assert_same_files(folder / "ours", folder / "alone")
    assert_same_results(folder / "ours", folder / "direct", 5)
    assert len(rows(folder / "ours")) == 3


HOWS = ["layers", "union", "points", "box", "reversed"]


@needs_parallel
@pytest.mark.parametrize("how", few(HOWS, kept=["union", "reversed"]))
@pytest.mark.parametrize("ranks", few([1, 2, 3], kept=[2]))
def test_selections(tmp_path, how, ranks):
    both_ways(tmp_path, ranks, "--how", how)


@needs_parallel
@pytest.mark.parametrize("how", few(HOWS[:4], kept=["union"]))
def test_collective_selections_of_memory_with_gaps(tmp_path, how):
    both_ways(tmp_path, 3, "--how", how, "--gaps", *([] if how == "points" else ["--collective"]))


@needs_parallel
@pytest.mark.parametrize("stored", few(["double", "float", "int32", "big"], kept=["big"]))
@pytest.mark.parametrize("memory", few(["double", "float", "int32", "int64", "uint8"], kept=["int32"]))
def test_values_are_those_in_memory(tmp_path, memory, stored):
    """Whatever type the file has: the program's values are published, in the program's type."""
    both_ways(tmp_path, 2, "--memory", memory, "--stored", stored)
    with h5py.File(next((tmp_path / "ours" / "results").glob("fields-*.h5"))) as file:
        types = []
        file.visititems(lambda name, thing: types.append(thing.dtype) if name.endswith("temperature") else None)
    assert np.dtype({"double": "f8", "float": "f4"}.get(memory, memory)) in types


@needs_parallel
@pytest.mark.parametrize("how", few(["layers", "union", "reversed"], kept=["union"]))
def test_only_publishes(tmp_path, how):
    run(tmp_path / "only", [WRITER, "--how", how], 3, CONFIGURATION, mapping("only"))
    run(tmp_path / "both", [WRITER, "--how", how], 3, CONFIGURATION, mapping())
    assert_same_results(tmp_path / "only", tmp_path / "both", 5)
    for step in range(3):  # the first step is written, too
        with h5py.File(tmp_path / "only" / f"plot_{10 * step:04}.h5") as file:
            assert file["temperature"][()].any() == (step == 0)


@needs_parallel
def test_the_draft_tells_boxes_and_types(tmp_path):
    command = [WRITER, "--memory", "float"]
    run(tmp_path / "first", command, 2, CONFIGURATION, SIDESTREAM_HDF5_RECORD="record")
    draft = drafted(tmp_path / "first")
    assert "float32 (in the file float64)" in draft and "up to 2 boxes" in draft
    run(tmp_path / "ours", command, 2, CONFIGURATION, draft.replace("[1, 1, 1]", "[0.5, 0.5, 0.5]"))
    run(tmp_path / "direct", [DIRECT, "run.yaml", "--memory", "float"], 2, CONFIGURATION)
    assert_same_results(tmp_path / "ours", tmp_path / "direct", 5)


# Selections that h5py makes of indices: layers, and points by a mask.
H5PY = """
import h5py, numpy as np
k, j, i = np.meshgrid(range(6), range(5), range(12), indexing="ij")
for step in range(3):
    values = 100.0 * k + 20 * j + i + 1000 * step
    with h5py.File(f"plot_{10 * step:04}.h5", "w") as file:
        set = file.create_dataset("temperature", (6, 5, 12), "f8")
        CHOICE
"""


def test_lists_of_layers_in_python(tmp_path):
    code = H5PY.replace("CHOICE", "set[[0, 2, 4]] = values[::2]")
    done = run(tmp_path / "ours", [sys.executable, "-c", code], 1, CONFIGURATION, mapping(), mpi=False)
    assert done.stderr == ""
    run(tmp_path / "alone", [sys.executable, "-c", code], 1, CONFIGURATION, mpi=False)
    run(tmp_path / "direct", [DIRECT, "run.yaml", "--how", "layers"], 1, CONFIGURATION)
    assert_same_files(tmp_path / "ours", tmp_path / "alone")
    assert_same_results(tmp_path / "ours", tmp_path / "direct", 5)


REFUSED = {
    "mask": ("chosen = values % 7 == 0; set[chosen] = values[chosen]", "no box in order"),
    "many boxes": (
        "set = file.create_dataset('t2', (64, 64), 'f8'); set[::2, ::2] = np.ones((32, 32))",
        "more than 1000 boxes",
    ),
    "big-endian": ("set[...] = values.astype('>f8')", "other byte order"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_published_is_said_once(tmp_path, case):
    """The sentence names the file, the dataset and the selection; all files are as without Sidestream."""
    code, said = REFUSED[case]
    code = H5PY.replace("CHOICE", code)
    rules = mapping().replace("arrays: {", "arrays: {/t2: {mesh: other}, ")
    done = run(tmp_path / "ours", [sys.executable, "-c", code], 1, CONFIGURATION, rules, mpi=False)
    run(tmp_path / "alone", [sys.executable, "-c", code], 1, CONFIGURATION, mpi=False)
    lines = [line for line in done.stderr.splitlines() if said in line]
    assert len(lines) == 1, done.stderr
    assert "plot_0000.h5: /t" in lines[0] and lines[0].endswith("; it is written, and not published")
    assert case == "big-endian" or "(" in lines[0]
    assert_same_files(tmp_path / "ours", tmp_path / "alone")
    assert not results(tmp_path / "ours")


def test_the_draft_tells_what_cannot_be_published_and_takes_no_axes_for_points(tmp_path):
    code = """
for name in "xyz":
    file[name] = np.arange(8.0)
file["temperature"] = np.zeros((8, 8, 8))
chosen = values % 7 == 0
set[chosen] = values[chosen]
"""
    code = H5PY.replace('"temperature", (', '"masked", (').replace("        CHOICE", code.replace("\n", "\n        "))
    run(tmp_path, [sys.executable, "-c", code], 1, CONFIGURATION, mpi=False, SIDESTREAM_HDF5_RECORD="record")
    draft = drafted(tmp_path)
    assert '# "/masked": cannot be published: found single points that are no box in order in the file (5' in draft, (
        draft
    )
    assert '  "/temperature": {mesh: grid,' in draft and "points," not in draft, draft
