"""VTK's objects of blocks in analyses: their arrays compared with NumPy and with files of the output `vtk`, whose
memory they use, and what happens if a script keeps one."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import vtk_meshes as meshes
from PIL import Image
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkMassProperties
from vtkmodules.vtkIOXML import (
    vtkXMLImageDataReader,
    vtkXMLPolyDataReader,
    vtkXMLRectilinearGridReader,
    vtkXMLStructuredGridReader,
    vtkXMLUnstructuredGridReader,
)

HERE = Path(__file__).parent
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
BLOCKS, STEPS = meshes.BLOCKS, meshes.STEPS
VALUES = "t, filled, p, v, rows, ticks, lift, level, stress, heat, mass, density"
TASKS = f"""\
analyses:
  - python: {{name: held, variables: [{VALUES}], script: vtk_objects.py, call: Held,
             file: ["held-{{index}}.h5", "shared-{{index}}.csv"]}}
  - python: {{name: piped, variables: [p, density], script: vtk_objects.py, call: Piped, file: piped.csv,
             arguments: {{value: {meshes.VALUE}}}}}
  - python: {{name: middle, variables: [t, p], script: vtk_objects.py, call: middle, whole: true, file: middle.csv}}
  - python: {{name: copies, variables: t, script: vtk_objects.py, call: copies, file: copies.csv}}
  - isosurface: {{variable: p, values: {meshes.VALUE}, file: "surface-{{index}}.vtp", precision: double}}
outputs:
  - vtk: {{variables: [{VALUES}]}}
"""
READERS = {
    "box": (vtkXMLImageDataReader, "vti"),
    "flat": (vtkXMLImageDataReader, "vti"),
    "rect": (vtkXMLRectilinearGridReader, "vtr"),
    "wing": (vtkXMLStructuredGridReader, "vts"),
    "hull": (vtkXMLUnstructuredGridReader, "vtu"),
    "stars": (vtkXMLPolyDataReader, "vtp"),
}


def started(folder, placement, ranks, tasks):
    """Runs the program. Returns the results' folder and the output."""
    results = folder / "results"
    shutil.copy(HERE / "scripts" / "vtk_objects.py", folder)
    file = folder / "run.yaml"
    file.write_text(f"placement: {placement}\noutput: {{directory: {results}}}\n{meshes.TEXT}{tasks}")
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(HERE / "vtk_meshes.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    return results, done.stdout + done.stderr


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


RUNS = [("inline", 1), ("{mode: cores, buffer: 32 MiB}", 3), ("inline", 3)]


@pytest.fixture(scope="module", params=[*RUNS[:2], pytest.param(RUNS[2], marks=pytest.mark.test_all)], ids=str)
def results(request, tmp_path_factory):
    placement, ranks = request.param
    folder, text = started(tmp_path_factory.mktemp("run"), placement, ranks, TASKS)
    assert "Traceback" not in text and "error" not in text, text
    return folder


class Found:
    """The arrays that the script wrote for a mesh and block."""

    def __init__(self, results, step):
        with h5py.File(results / f"held-{step}.h5") as file:
            self.arrays = {name: file[name][...] for name in file if isinstance(file[name], h5py.Dataset)}

    def __call__(self, mesh, block, name, shape=None):
        array = self.arrays[f"{mesh} {block} {name}"]
        return array if shape is None else array.reshape(shape)

    def kind(self, mesh, block):
        return bytes(self(mesh, block, "class")).decode()


def shape_of(box, *more):
    return [b - a for a, b in zip(box[0][::-1], box[1][::-1], strict=True)] + list(more)


def ends_of(box):
    """The extent of a box of cells."""
    ends = [n for pair in zip(*box, strict=True) for n in pair]
    return ends + [0] * (6 - len(ends))


def test_boxes(results):
    for step in range(STEPS):
        found = Found(results, step)
        for block in range(BLOCKS):
            box = meshes.slab(meshes.BOX, block)
            value = meshes.cell_value(*box, step)
            assert found.kind("box", block) == "vtkImageData"
            assert found("box", block, "extent").tolist() == ends_of(box)
            bounds = [o + h * n for o, h, a, b in zip(meshes.ORIGIN, meshes.SPACING, *box, strict=True) for n in (a, b)]
            np.testing.assert_allclose(found("box", block, "bounds"), bounds)
            for name in ("t", "filled", "rows"):
                np.testing.assert_array_equal(found("box", block, f"cell {name}", value.shape), value)
            np.testing.assert_array_equal(found("box", block, "cell v", shape_of(box, 3)), meshes.vector(*box, step))
            nodes = meshes.more(box, 1)
            np.testing.assert_array_equal(
                found("box", block, "node p", shape_of(nodes)), meshes.node_value(*nodes, step)
            )


def test_nodes_of_neighbours_are_duplicates(results):
    """Over all blocks each node counts once."""
    found = Found(results, 0)
    counts = np.zeros([n + 1 for n in meshes.BOX[::-1]], int)
    for block in range(BLOCKS):
        nodes = meshes.more(meshes.slab(meshes.BOX, block), 1)
        name = f"box {block} node vtkGhostType"
        marks = found.arrays[name].reshape(shape_of(nodes)) if name in found.arrays else np.zeros(shape_of(nodes))
        counts[nodes[0][2] : nodes[1][2]] += marks == 0
        assert f"box {block} cell vtkGhostType" not in found.arrays
    assert (counts == 1).all()


def test_ghosts(results):
    for step in range(STEPS):
        found = Found(results, step)
        for block in range(BLOCKS):
            box = meshes.slab(meshes.BOX, block)
            wide = meshes.wider(box)
            assert found("wide", block, "extent").tolist() == ends_of(wide)
            np.testing.assert_array_equal(
                found("wide", block, "cell filled", shape_of(wide)), meshes.cell_value(*wide, step)
            )
            marks = found("wide", block, "cell vtkGhostType", shape_of(wide))
            assert (marks[1:-1, 1:-1, 1:-1] == 0).all() and (marks == 1).sum() == marks.size - np.prod(shape_of(box))


def test_meshes_with_places(results):
    for step in range(STEPS):
        found = Found(results, step)
        for block in range(BLOCKS):
            box = meshes.slab(meshes.RECT, block)
            assert found.kind("rect", block) == "vtkRectilinearGrid"
            assert found("rect", block, "extent").tolist() == ends_of(box)
            ends = [ticks[n] for ticks, a, b in zip(meshes.TICKS, *box, strict=True) for n in (a, b)]
            assert found("rect", block, "bounds").tolist() == ends
            np.testing.assert_array_equal(
                found("rect", block, "cell ticks", shape_of(box)), meshes.cell_value(*box, step)
            )
            box = meshes.slab(meshes.WING, block)
            nodes = meshes.more(box, 1)
            assert found.kind("wing", block) == "vtkStructuredGrid"
            np.testing.assert_array_equal(
                found("wing", block, "points", shape_of(nodes, 3)), meshes.warped(*nodes, step)
            )
            np.testing.assert_array_equal(
                found("wing", block, "cell lift", shape_of(box)), meshes.cell_value(*box, step)
            )
            box = meshes.slab(meshes.FLAT, block)
            nodes = meshes.more(box, 1)
            assert found("flat", block, "extent").tolist() == ends_of(box)
            np.testing.assert_array_equal(
                found("flat", block, "node level", shape_of(nodes)), meshes.flat_value(*nodes, step)
            )


def test_lists(results):
    for step in range(STEPS):
        found = Found(results, step)
        for block in range(BLOCKS):
            assert found.kind("hull", block) == "vtkUnstructuredGrid"
            np.testing.assert_array_equal(found("hull", block, "points"), meshes.corners_of(block, step))
            np.testing.assert_array_equal(found("hull", block, "links"), meshes.LINKS)
            np.testing.assert_array_equal(found("hull", block, "ends"), [0, *meshes.ENDS])
            np.testing.assert_array_equal(found("hull", block, "types"), meshes.KINDS)
            np.testing.assert_array_equal(found("hull", block, "cell stress"), np.arange(3) + 10 * block + step)
            np.testing.assert_array_equal(found("hull", block, "node heat"), np.arange(9) + 100 * block + step)
            assert (f"hull {block} cell vtkGhostType" in found.arrays) == (block > 0)
            if block > 0:
                assert found("hull", block, "cell vtkGhostType").tolist() == [0, 0, 1]
            assert found.kind("stars", block) == "vtkPolyData"
            np.testing.assert_array_equal(found("stars", block, "points"), meshes.stars_of(block, step))
            np.testing.assert_array_equal(found("stars", block, "node mass"), np.arange(4 + block) + step)
            gone = (np.arange(4 + block) == 1).tolist()
            assert found("stars", block, "node vtkGhostType").tolist() == gone
            assert found("stars", block, "cell vtkGhostType").tolist() == gone


def test_levels(results):
    """A finer block covers cells of a block that another server may have."""
    found = Found(results, 1)
    size = np.array(meshes.BOX) * 2
    covered = np.zeros(meshes.BOX[::-1], bool)
    covered[1:3, 1:3, 1:4] = True
    for block in range(BLOCKS):
        box = meshes.slab(meshes.BOX, block)
        assert found.kind("gas", block) == "vtkUniformGrid"
        part = covered[box[0][2] : box[1][2]]
        name = f"gas {block} cell vtkGhostType"
        assert (name in found.arrays) == part.any()
        if part.any():
            np.testing.assert_array_equal(found.arrays[name].reshape(part.shape), np.where(part, 40, 0))
    assert found("gas", BLOCKS, "extent").tolist() == ends_of(meshes.FINE)
    assert found("gas", BLOCKS, "bounds").tolist() == [2, 8, 2, 6, 2, 6]
    np.testing.assert_array_equal(
        found("gas", BLOCKS, "cell density", shape_of(meshes.FINE)), meshes.cell_value(*meshes.FINE, 1)
    )
    assert {float(row["visible"]) for row in rows_of(results / "piped.csv")} == {float(size.prod())}


@pytest.mark.parametrize("mesh", READERS)
def test_like_the_files(results, mesh):
    """The output `vtk` of the same iteration has the same arrays and places."""
    reader, ending = READERS[mesh]
    for step in range(STEPS):
        found = Found(results, step)
        files = sorted((results / f"fields-{step:06}-{mesh}").glob(f"block-*.{ending}"))
        assert len(files) == BLOCKS
        for block, file in enumerate(files):
            opened = reader()
            opened.SetFileName(str(file))
            opened.Update()
            made = opened.GetOutput()
            np.testing.assert_allclose(found(mesh, block, "bounds"), made.GetBounds(), rtol=1e-15)
            names = 0
            for at, data in (("cell", made.GetCellData()), ("node", made.GetPointData())):
                for n in range(data.GetNumberOfArrays()):
                    name = f"{mesh} {block} {at} {data.GetArrayName(n)}"
                    names += name in found.arrays
                    if name in found.arrays:
                        np.testing.assert_array_equal(found.arrays[name], vtk_to_numpy(data.GetArray(n)), name)
            assert names > 0


def test_no_copy(results):
    """All but a variable in row order, and one with ghosts where they are left out."""
    for step in range(STEPS):
        (row,) = rows_of(results / f"shared-{step}.csv")
        shared = {name: int(yes) for name, yes in row.items() if name not in ("iteration", "cycle", "time")}
        assert set(shared) > {"box t", "box p", "box v", "wing points", "hull links", "hull points", "stars points"}
        assert {name for name, yes in shared.items() if not yes} == {"box filled", "box rows"}


def area_of(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    size = vtkMassProperties()
    size.SetInputConnection(reader.GetOutputPort())
    size.Update()
    return size.GetSurfaceArea()


def plane_area(step):
    """The area of the plane of p within the mesh, from cuts of its cells' columns along x."""
    (x0, y0, z0), (a, b, c) = meshes.ORIGIN, meshes.SLOPE
    x1, y1, z1 = (o + h * n for o, h, n in zip(meshes.ORIGIN, meshes.SPACING, meshes.BOX, strict=True))
    y, z = (np.linspace(lo, hi, 2001)[:-1] + (hi - lo) / 4000 for lo, hi in ((y0, y1), (z0, z1)))
    x = (meshes.VALUE - step - b * y[:, None] - c * z) / a
    return ((x >= x0) & (x <= x1)).mean() * (y1 - y0) * (z1 - z0) * np.linalg.norm((a, b, c)) / a


def test_pipelines(results):
    """Isosurfaces by block join at nodes, so their areas add up to that of the analysis, and to that of the plane."""
    for step, row in enumerate(rows_of(results / "piped.csv")):
        assert float(row["area"]) == pytest.approx(area_of(results / f"surface-{step}.vtp"), rel=1e-6)
        assert float(row["area"]) == pytest.approx(plane_area(step), rel=1e-3)
    for row in rows_of(results / "middle.csv"):
        assert float(row["area"]) == pytest.approx(2.5 * 4) and row["cells"] == "120" and row["same"] == "1"


def test_copies_outlive_the_call(results):
    """A server passes through its blocks in order, and each compares with the copy of the one before."""
    totals = {meshes.cell_value(*meshes.slab(meshes.BOX, b), s).sum() for b in range(BLOCKS) for s in range(STEPS)}
    before = [float(row["before"]) for row in rows_of(results / "copies.csv")]
    assert len(before) == BLOCKS * STEPS and set(before) <= totals | {0.0} and any(before)


FAILING = """\
analyses:
  - python: {{name: one, variables: t, script: vtk_objects.py, call: {call}, file: one.csv}}
"""


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("keeps", "it kept an array of 't' of block 0"),
        pytest.param("keeps_output", "it kept an array of 't' of block 0", marks=pytest.mark.test_all),
        ("without", "sidestream.vtk needs VTK's modules for .*install the package `vtk`"),
    ],
)
def test_failures(tmp_path, call, text):
    _, output = started(tmp_path, "inline", 1, FAILING.format(call=call))
    assert re.search(text, output), output


@pytest.mark.test_all
def test_the_example(tmp_path):
    """VTK draws on a server; the picture is the same in another placement, and areas are near the analysis's."""
    shutil.copytree(HERE.parents[1] / "examples" / "vtk_objects", tmp_path, dirs_exist_ok=True)
    oscillators = os.environ["SIDESTREAM_OSCILLATORS"]
    sources = subprocess.run([oscillators, "--generate", "24"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "sources.osc").write_text(sources)
    cores = (tmp_path / "run.yaml").read_text()
    inline = cores.replace("{mode: cores, per_node: 1}", "inline").replace("directory: results", "directory: inline")
    assert inline.count("inline") == 2
    (tmp_path / "inline.yaml").write_text(inline)
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONPATH"} | {"SIDESTREAM_PYTHON": sys.executable}
    for ranks, configuration in ((3, "run.yaml"), (1, "inline.yaml")):
        command = [MPIRUN, "-n", str(ranks), oscillators, "sources.osc", "--grid", "64", "--steps", "21"]
        command += ["--sidestream", configuration]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=120, env=environment)
    drawn = tmp_path / "results" / "surfaces-020.png"
    assert drawn.read_bytes() == (tmp_path / "inline" / "surfaces-020.png").read_bytes()
    picture = np.asarray(Image.open(drawn))
    assert picture.shape[:2] == (480, 640) and len(np.unique(picture.reshape(-1, picture.shape[2]), axis=0)) > 500
    for row in rows_of(tmp_path / "results" / "areas.csv"):
        found = area_of(tmp_path / "results" / f"surfaces-{int(row['cycle']):03}.vtp")
        assert float(row["area"]) == pytest.approx(found, rel=0.05)
