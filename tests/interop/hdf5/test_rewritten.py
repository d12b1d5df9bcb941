"""Programs that write values of a step again: a field and then its boundary. The last values are published, and each is
in the file or published with `write: only`."""

import os
import sys

import h5py
import numpy as np
import pytest
from hdf5_runs import assert_same_files, assert_same_results, rows, run
from pairs import few
from test_hdf5 import both_ways, mapping, needs_parallel

WRITER = os.environ.get("SIDESTREAM_HDF5_WRITER", "")

CONFIGURATION = """placement: {mode: inline}
output: {directory: results}
analyses:
  - statistics: {variable: a, file: a.csv}
  - statistics: {variable: b, file: b.csv}
  - statistics: {variable: v, file: v.csv}
  - statistics: {variable: p, file: p.csv}
outputs:
  - hdf5: {file: "fields-{index}.h5"}
"""
RULES = """files: {{pattern: "plot_{{cycle}}.h5", write: {write}}}
meshes: {{grid: {{}}}}
arrays:
  /a: {{mesh: grid, variable: a}}
  /b: {{mesh: grid, variable: b}}
  /v: {{mesh: grid, variable: v, components: last}}
  /c.p: {{mesh: {of_p}, variable: p}}
"""
CODE = """
import h5py, numpy as np
shape = (6, 5, 12)
for step in range(3):
    values = np.arange(360.0).reshape(shape) + 1000 * (step + 1)
    with h5py.File(f"plot_{step}.h5", "w") as file:
        a, b = (file.create_dataset(name, shape, "f8") for name in "ab")
        v = file.create_dataset("v", (*shape, 3), "f8")
        c = file.create_dataset("c", shape, np.dtype([("p", "f8")]))
        pairs = np.zeros(shape, c.dtype)
        pairs["p"] = values
        def once():
            a[...], b[...], v[...], c[...] = values, -values, values[..., None] * [1, 2, 3], pairs
        if not (STEPS):
            once()
            continue
        CHOICE
"""
# The second entry: rules name a mesh of its own for the member `p`, since its boxes are other ones.
WAYS = {
    "plane": "once(); a[0] = -5; b[:, 2:4, 1:3] = 7; v[:, :, -1] = 8",
    "whole": "once(); a[...] = values + 0.5; b[...] = 1; v[...] = 2; c[...] = np.zeros_like(pairs)",
    "again": "once(); a[0] = -5; a[:3] = -6; a[2:5, 1] = values[2:5, 1]; a[5, 4, 11] = 3",
    "boundary-first": "a[0] = -5; a[:, 0] = -6; b[3] = 1; v[2:4] = 5; once()",
    "components": "once(); v[..., 1] = 0; v[2, 3, 4, 0] = 9",
    "member": "once(); c[2:4] = np.zeros((), c.dtype)",
    "layers": "for k in range(6): c[k] = pairs[k]\n        c[1:4] = np.zeros((), c.dtype); pairs['p'] *= 2; once()",
    "halves": "once(); c[...] = pairs; del file['c']; c = file.create_dataset('c', shape, c.dtype)\n"
    "        c[:4] = pairs[:4]; pairs['p'] *= 2; c[2:] = pairs[2:]",
}
STEPS = {"all": "True", "first": "step == 0", "later": "step > 0"}


def script(way, steps):
    return CODE.replace("STEPS", STEPS[steps]).replace("CHOICE", WAYS[way])


def published(folder, index):
    with h5py.File(folder / "results" / f"fields-{index}.h5") as file:
        return {name: file["variables"][name][...].squeeze() for name in ("a", "b", "v", "p")}


def expected(folder, index):
    with h5py.File(folder / f"plot_{index}.h5") as file:
        return {**{name: file[name][...] for name in ("a", "b", "v")}, "p": file["c"]["p"]}


@pytest.mark.parametrize(
    ("way", "steps"), few(WAYS, STEPS, kept=[("plane", "all"), ("boundary-first", "all"), ("again", "later")])
)
@pytest.mark.parametrize("write", ["both", "only"])
def test_the_last_values_are_published(tmp_path, way, steps, write):
    command = [sys.executable, "-c", script(way, steps)]
    rules = RULES.format(write=write, of_p="other" if way in ("layers", "halves") else "grid")
    done = run(tmp_path / "ours", command, text=CONFIGURATION, rules=rules, mpi=False)
    assert done.stderr == ""
    run(tmp_path / "alone", command, text=CONFIGURATION, mpi=False)
    assert [row["outcome"] for row in rows(tmp_path / "ours")] == ["delivered"] * 3
    for index in range(3):
        theirs = expected(tmp_path / "alone", index)
        for name, values in published(tmp_path / "ours", index).items():
            np.testing.assert_array_equal(values, theirs[name], err_msg=f"{name} in step {index}")
    if write == "both":
        assert_same_files(tmp_path / "ours", tmp_path / "alone")
    elif way in ("plane", "whole", "again"):
        assert not any(values.any() for values in expected(tmp_path / "ours", 2).values())


@needs_parallel
@pytest.mark.parametrize(
    ("steps", "ranks"), few([(s, r) for s in ("file", "index", "path", "whole") for r in (1, 2, 3)], kept=[("file", 3)])
)
def test_same_bytes(tmp_path, steps, ranks):
    both_ways(tmp_path, steps, ranks, "--again")


@needs_parallel
@pytest.mark.parametrize("how", few(["--again", "--again --ghosts", "--again --collective"], kept=["--again --ghosts"]))
def test_only_publishes(tmp_path, how):
    run(tmp_path / "only", [WRITER, *how.split()], 3, rules=mapping("file", "only"))
    run(tmp_path / "both", [WRITER], 3, rules=mapping("file"))
    assert_same_results(tmp_path / "only", tmp_path / "both")
    for step in range(3):
        with h5py.File(tmp_path / "only" / f"plot_{10 * step:04}.h5") as file:
            assert file["temperature"][()].any() == (step == 0)


# Each: what cannot be published, the sentence, and where the file has a value of its own in the last step.
REFUSED = {
    "other mesh": ("a[...] = values; b[2:4] = -values[2:4]", "array '/b': a part is left out, since it overlaps one of "
                   "the array '/a' on the mesh 'grid'", ("b", 2)),
    "other type": ("a[...] = values; b[...] = -values; a[0] = np.full((5, 12), 3, 'f4')",
                   "array '/a': left out, since its type or shape is another one", ("a", 0)),
    "points": ("a[...] = values; b[...] = -values; a[values % 7 == 0] = 3", "/a: found single points that are no box "
               "in order in the file", ("a", 3)),
    "new array": ("a[...] = values; b[...] = -values; c[...] = pairs", "array '/c.p': left out, since the first step "
                  "with arrays had none of that name", ("c", 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", few(REFUSED, kept=["other mesh", "new array"]))
def test_what_cannot_be_published_is_written(tmp_path, case):
    code, said, (name, layer) = REFUSED[case]
    code = CODE.replace("STEPS", "step > 0").replace("CHOICE", code)
    code = code.replace("once()\n", "a[...], b[...] = values, -values\n")
    text = "\n".join(line for line in CONFIGURATION.splitlines() if ": v," not in line and ": p," not in line)
    rules = RULES.format(write="only", of_p="grid")
    done = run(tmp_path, [sys.executable, "-c", code], text=text, rules=rules, mpi=False)
    lines = [line for line in done.stderr.splitlines() if said in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].endswith("in this step are older ones") == (case in ("other type", "points"))
    with h5py.File(tmp_path / "plot_2.h5") as file:
        values = file[name][...]["p"] if name == "c" else file[name][...]
        assert values[layer].any()
        assert not file["a"][1, 0, 1].any()


NETCDF = """
import netCDF4, numpy as np
values = np.arange(360.0).reshape(6, 5, 12)
with netCDF4.Dataset("plot.nc", "w") as file:
    for name, size in (("time", None), ("z", 6), ("y", 5), ("x", 12)):
        file.createDimension(name, size)
    a = file.createVariable("a", "f8", ("time", "z", "y", "x"))
    for step in range(3):
        a[step] = values + 1000 * step
        a[step, 0] = -step - 1
        a[step, 1:3, 2:4] = 7
"""


@pytest.mark.parametrize("write", few(["both", "only"], kept=["only"]))
def test_a_boundary_in_netcdf(tmp_path, write):
    pytest.importorskip("netCDF4")
    rules = f"files: {{pattern: plot.nc, steps: index, write: {write}}}\narrays: {{/a: {{mesh: grid, variable: a}}}}\n"
    text = "output: {directory: results}\noutputs:\n  - hdf5: {file: 'fields-{index}.h5'}\n"
    done = run(tmp_path / "ours", [sys.executable, "-c", NETCDF], text=text, rules=rules, mpi=False)
    assert done.stderr == ""
    run(tmp_path / "alone", [sys.executable, "-c", NETCDF], text=text, mpi=False)
    with h5py.File(tmp_path / "alone" / "plot.nc") as theirs:
        for index in range(3):
            with h5py.File(tmp_path / "ours" / "results" / f"fields-{index}.h5") as ours:
                np.testing.assert_array_equal(ours["variables/a"][...].squeeze(), theirs["a"][index])
