"""Thresholds and clips of every kind of mesh, in several placements, compared with VTK's filters."""

import subprocess
import sys
from os import environ
from pathlib import Path

import numpy as np
import parts
import pytest
import shapes
import trees
from test_sampling import curved, solid, with_values
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkBox, vtkImageData, vtkPlane
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm
from vtkmodules.vtkFiltersCore import vtkAppendFilter, vtkThreshold
from vtkmodules.vtkFiltersExtraction import vtkExtractGeometry
from vtkmodules.vtkFiltersGeneral import vtkDataSetTriangleFilter, vtkTableBasedClipDataSet
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOImage import vtkPNGReader
from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader, vtkXMLUnstructuredGridReader

PROGRAM = Path(parts.__file__)
MPIRUN = environ.get("SIDESTREAM_MPIEXEC", "mpirun")
PLANE = {
    "solid": ([2.1, 1.3, 1.7], [1, 2, -0.5]),
    "curved": ([3.1, 2.3, 1.7], [1, -1, 0.5]),
    "grid": ([3.3, 1, 0.6], [0, 1, 1]),
}
BOX = {"solid": ([0.7, 0.2, 0.4], [4.3, 2.9, 3.1]), "grid": ([0.7, 0.2, 0.4], [4.3, 2.9, 1.1])}
# : For each mesh: its variables at points and in cells, and ranges of both.
MESHES = {
    "solid": ("n", "t", (0.2, 0.8), (20, 120)),
    "curved": ("v", "c", (0.1, 0.9), (20, 60)),
    "grid": ("gn", "gc", (0.1, 0.9), (0.3, 0.7)),
}
# : A range that contains few values at points.
ANY = (0.5, 0.55)


def analyses():
    """Tasks, as name, kind and options."""
    for mesh, (nodes, cells, every, (low, high)) in MESHES.items():
        for points, (least, most) in (("all", every), ("any", ANY)):
            of = f"variable: {nodes}, minimum: {least}, maximum: {most}, points: {points}, fields: {cells}"
            yield f"{mesh}-{points}", "threshold", of
        yield f"{mesh}-cells", "threshold", f"variable: {cells}, minimum: {low}, maximum: {high}, fields: {nodes}"
        origin, normal = PLANE[mesh]
        plane = f"origin: {origin}, normal: {normal}"
        for side in ("above", "below"):
            yield f"{mesh}-{side}", "clip", f"variable: {cells}, {plane}, side: {side}, fields: {nodes}"
        yield f"{mesh}-whole", "clip", f"variable: {nodes}, {plane}, whole_cells: true"
        if mesh in BOX:
            box = "low: {}, high: {}".format(*BOX[mesh])
            for keep in ("inside", "outside"):
                yield f"{mesh}-{keep}", "clip", f"variable: {nodes}, {box}, keep: {keep}, fields: {cells}"
    yield "levels-dense", "threshold", "variable: density, minimum: 0.5"
    yield "levels-below", "clip", "variable: density, normal: [1, 1, 1], origin: [2, 2.3, 2.6], side: below"
    yield "levels-above", "clip", "variable: density, normal: [1, 1, 1], origin: [2, 2.3, 2.6]"
    yield "tree-some", "threshold", "variable: leaf, minimum: 0.2, maximum: 1.1"
    for side in ("above", "below"):
        yield f"tree-{side}", "clip", f"variable: leaf, normal: [1, 0.5, 1], origin: [0.3, 1, 2.4], side: {side}"
    yield "cloud-heavy", "threshold", "variable: mass, minimum: 0.7"
    yield "cloud-low", "clip", "variable: mass, axis: z, position: 0.4, side: below"


def configuration(placement, folder):
    lines = [f"placement: {placement}", f"output: {{directory: {folder}}}", "analyses:"]
    for name, kind, options in analyses():
        lines.append(f'  - {kind}: {{name: {name}, {options}, file: "{name}-{{index}}.vtu"}}')
    options = "variable: gn, minimum: 0.1, maximum: 0.9, fields: gc, pieces: true"
    lines.append(f'  - threshold: {{name: shared, {options}, file: "shared-{{index}}.vtu"}}')
    layers = "clip: {variable: t, axis: x, position: 2.3}"
    lines.append(f'  - render: {{{layers}, size: [96, 80], file: "solid-{{index}}.png"}}')
    layers = "clip: {variable: leaf, normal: [1, 0.5, 1], origin: [0.3, 1, 2.4]}"
    lines.append(f'  - render: {{name: tree, {layers}, size: [96, 80], file: "tree-{{index}}.png"}}')
    layers = (
        "threshold: {variable: c, minimum: 20, maximum: 60, colour_by: v}, clip: {variable: gn, axis: y, position: 1.3}"
    )
    lines.append(f'  - render: {{name: boxes, {layers}, size: [96, 80], file: "boxes-{{index}}.png"}}')
    return "\n".join(lines) + "\n"


def run(folder, placement, ranks):
    file, results = folder / "run.yaml", folder / "results"
    folder.mkdir(exist_ok=True)
    file.write_text(configuration(placement, results))
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


def read(path):
    pieces = path.suffix == ".pvtu"
    reader, said = (vtkXMLPUnstructuredGridReader if pieces else vtkXMLUnstructuredGridReader)(), []
    for event in ("ErrorEvent", "WarningEvent"):
        reader.AddObserver(event, lambda _, name: said.append(name))
    reader.SetFileName(str(path))
    reader.Update()
    assert not said, path
    return reader.GetOutput()


def size(data):
    """The volume, from the tetrahedra of each cell, whatever the orientation of cells."""
    tetrahedra = vtkDataSetTriangleFilter()
    tetrahedra.SetInputData(data)
    tetrahedra.Update()
    mesh = tetrahedra.GetOutput()
    if mesh.GetNumberOfCells() == 0:
        return 0.0
    corners = vtk_to_numpy(mesh.GetCells().GetConnectivityArray()).reshape(-1, 4)
    x = vtk_to_numpy(mesh.GetPoints().GetData())[corners].astype(float)
    return np.abs(np.linalg.det(x[:, 1:] - x[:, :1])).sum() / 6


def signed_sizes(data):
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(data)
    sizes.Update()
    return vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))


def grid(step):
    data = vtkImageData()
    data.SetDimensions([n + 1 for n in parts.GRID])
    data.SetSpacing(1, 0.5, 0.25)
    return with_values(data, parts.grid_nodes(step).ravel(), parts.grid_cells(step).ravel())


SOURCES = {"solid": solid, "curved": curved, "grid": grid}


def places_of(data):
    return {tuple(x) for x in vtk_to_numpy(data.GetPoints().GetData()).astype("f8")}


def threshold(source, where, low, high, every=True):
    found = vtkThreshold()
    found.SetInputData(source)
    found.SetInputArrayToProcess(0, 0, 0, 0 if where == "nodes" else 1, where)
    found.SetLowerThreshold(low)
    found.SetUpperThreshold(high)
    found.SetThresholdFunction(vtkThreshold.THRESHOLD_BETWEEN)
    found.SetAllScalars(every)
    found.SetOutputPointsPrecision(vtkAlgorithm.DOUBLE_PRECISION)
    found.Update()
    return found.GetOutput()


def clipped(source, function, inside_out):
    found = vtkTableBasedClipDataSet()
    found.SetInputData(source)
    found.SetClipFunction(function)
    found.SetInsideOut(inside_out)
    found.SetOutputPointsPrecision(vtkAlgorithm.DOUBLE_PRECISION)
    found.Update()
    return found.GetOutput()


def same_cells(ours, theirs, names):
    """Checks that both have the same cells with the same values, in any order."""

    def described(data, point_name, cell_name):
        points = vtk_to_numpy(data.GetPoints().GetData()).astype("f8")
        at_points = vtk_to_numpy(data.GetPointData().GetArray(point_name)).astype("f8")
        in_cells = vtk_to_numpy(data.GetCellData().GetArray(cell_name)).astype("f8")
        links = vtk_to_numpy(data.GetCells().GetConnectivityArray())
        ends = vtk_to_numpy(data.GetCells().GetOffsetsArray())
        rows = []
        for n in range(data.GetNumberOfCells()):
            of_cell = links[ends[n] : ends[n + 1]]
            rows.append(
                (
                    in_cells[n],
                    data.GetCellType(n),
                    tuple(map(tuple, np.round(points[of_cell], 9))),
                    tuple(at_points[of_cell]),
                )
            )
        return sorted(rows)

    assert described(ours, *names) == described(theirs, "nodes", "cells")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Results of a run with one rank."""
    return run(tmp_path_factory.mktemp("alone"), "inline", 1)


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("step", range(shapes.STEPS))
def test_threshold_like_vtk(alone, mesh, step):
    nodes, cells, node_range, cell_range = MESHES[mesh]
    source = SOURCES[mesh](step)
    shift = 0 if mesh == "grid" else 1000 * step  # values in cells grow with the iteration
    for points, (low, high) in (("all", node_range), ("any", ANY)):
        ours = read(alone / f"{mesh}-{points}-{step}.vtu")
        assert 0 < ours.GetNumberOfCells() < source.GetNumberOfCells()
        assert len(places_of(ours)) == ours.GetNumberOfPoints()
        same_cells(ours, threshold(source, "nodes", low, high, points == "all"), (nodes, cells))
    ours = read(alone / f"{mesh}-cells-{step}.vtu")
    theirs = threshold(source, "cells", *cell_range)
    assert ours.GetNumberOfCells() == theirs.GetNumberOfCells()
    assert (theirs.GetNumberOfCells() == 0) == (shift > 0)
    if shift == 0:
        same_cells(ours, theirs, (nodes, cells))


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("step", range(shapes.STEPS))
def test_clip_like_vtk(alone, mesh, step):
    source = SOURCES[mesh](step)
    origin, normal = PLANE[mesh]
    plane = vtkPlane()
    plane.SetOrigin(origin)
    plane.SetNormal(normal)
    sizes = {}
    for side, inside_out in (("above", False), ("below", True)):
        ours = read(alone / f"{mesh}-{side}-{step}.vtu")
        sizes[side] = size(ours)
        # VTK divides cells with bent faces into other tetrahedra.
        assert sizes[side] == pytest.approx(
            size(clipped(source, plane, inside_out)), rel=2e-2 if mesh == "curved" else 1e-6
        )
        assert len(places_of(ours)) == ours.GetNumberOfPoints()
        assert mesh != "grid" or signed_sizes(ours).min() > 0  # no cell is mirrored
        distances = (vtk_to_numpy(ours.GetPoints().GetData()) - origin) @ (np.array(normal) / np.linalg.norm(normal))
        assert (distances if side == "above" else -distances).min() > -1e-12
    whole = vtkAppendFilter()
    whole.SetInputData(source)
    whole.Update()
    assert sum(sizes.values()) == pytest.approx(size(whole.GetOutput()), rel=2e-2 if mesh == "curved" else 1e-6)
    crinkle = vtkExtractGeometry()
    crinkle.SetInputData(source)
    crinkle.SetImplicitFunction(plane)
    crinkle.SetExtractInside(False)
    crinkle.SetExtractBoundaryCells(True)
    crinkle.Update()
    assert read(alone / f"{mesh}-whole-{step}.vtu").GetNumberOfCells() == crinkle.GetOutput().GetNumberOfCells()
    if mesh not in BOX:
        return
    low, high = BOX[mesh]
    box = vtkBox()
    box.SetBounds([x for pair in zip(low, high, strict=True) for x in pair])
    inside, outside = (size(read(alone / f"{mesh}-{keep}-{step}.vtu")) for keep in ("inside", "outside"))
    assert inside + outside == pytest.approx(sum(sizes.values()), rel=1e-9)
    if mesh == "grid":
        assert inside == pytest.approx(3.6 * 2.7 * 0.7)


@pytest.mark.parametrize("step", range(shapes.STEPS))
def test_levels(alone, step):
    """Cells that finer ones cover are left out."""
    data = read(alone / f"levels-dense-{step}.vtu")
    found = vtk_to_numpy(data.GetCellData().GetArray("density"))
    values = np.concatenate([parts.coarse(step).ravel(), parts.fine(step).ravel()])
    expected = values[(values >= 0.5) & (values < 2)]
    np.testing.assert_array_equal(found, expected)  # level by level, in the order of cells
    voxels = [np.reshape(data.GetCell(n).GetBounds(), (3, 2)) for n in range(data.GetNumberOfCells())]
    edges = np.array([high - low for low, high in (v.T for v in voxels)])
    coarse_cells = int(((parts.coarse(step) >= 0.5) & (parts.coarse(step) < 2)).sum())
    assert (edges[:coarse_cells] == 1).all() and (edges[coarse_cells:] == 0.5).all()
    corners = np.array([v[:, 0] for v in voxels])[coarse_cells:]
    assert (corners >= np.array(parts.FINE[0]) / 2).all() and (corners < np.array(parts.FINE[1]) / 2).all()
    sides = [size(read(alone / f"levels-{side}-{step}.vtu")) for side in ("above", "below")]
    assert min(sides) > 10
    assert sum(sides) == pytest.approx(np.prod(parts.LEVELS), rel=1e-9)


@pytest.mark.parametrize("step", range(shapes.STEPS))
def test_tree(alone, step):
    """Each leaf comes once, on all levels, even if other blocks also have it in their trees."""
    data = read(alone / f"tree-some-{step}.vtu")
    chosen = [leaf for leaf in trees.leaves(step) if 0.2 <= trees.value(leaf) <= 1.1]
    chosen.sort(key=lambda leaf: (leaf[0], leaf[3], leaf[2], leaf[1]))
    assert len({leaf[0] for leaf in chosen}) > 2
    np.testing.assert_array_equal(
        vtk_to_numpy(data.GetCellData().GetArray("leaf")), [trees.value(leaf) for leaf in chosen]
    )
    boxes = np.array([data.GetCell(n).GetBounds() for n in range(data.GetNumberOfCells())]).reshape(-1, 3, 2)
    np.testing.assert_array_equal(boxes, [np.transpose(trees.bounds(leaf)) for leaf in chosen])
    assert len(places_of(data)) == data.GetNumberOfPoints()
    sides = [size(read(alone / f"tree-{side}-{step}.vtu")) for side in ("above", "below")]
    assert min(sides) > 1
    assert sum(sides) == pytest.approx(np.prod(trees.ROOTS) * np.prod(trees.SPACING), rel=1e-9)


@pytest.mark.parametrize("step", range(shapes.STEPS))
def test_particles(alone, step):
    places, mass = parts.particles(step)
    for name, chosen in (("heavy", mass >= 0.7), ("low", places[:, 2] <= 0.4)):
        data = read(alone / f"cloud-{name}-{step}.vtu")
        found = np.column_stack(
            [vtk_to_numpy(data.GetPoints().GetData()), vtk_to_numpy(data.GetPointData().GetArray("mass"))]
        )
        expected = np.column_stack([places, mass])[chosen]
        np.testing.assert_array_equal(found, expected[np.lexsort(expected.T[2::-1])])
        assert data.GetNumberOfCells() == chosen.sum()


def arrays(path):
    data = read(path)
    attributes = [data.GetPointData(), data.GetCellData()]
    found = [data.GetPoints().GetData(), data.GetCells().GetConnectivityArray(), data.GetCells().GetOffsetsArray()]
    found += [attribute.GetArray(n) for attribute in attributes for n in range(attribute.GetNumberOfArrays())]
    kinds = [data.GetCellType(n) for n in range(data.GetNumberOfCells())]
    return [vtk_to_numpy(array).tobytes() for array in found] + [bytes(kinds)]


def pixels(path):
    reader = vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    return vtk_to_numpy(reader.GetOutput().GetPointData().GetScalars())


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "ranks"),
    [
        ("{mode: cores, buffer: 32 MiB, per_node: 1}", 3),
        ("inline", 8),
        ("{mode: cores, buffer: 32 MiB, per_node: 2}", 5),
        ("{mode: nodes, buffer: 32 MiB, servers: 2, partitioner: regrid}", 4),
    ],
)
def test_same_everywhere(alone, tmp_path, placement, ranks):
    results = run(tmp_path / "run", placement, ranks)
    files = sorted(path.name for path in alone.glob("*.vtu"))
    assert len(files) == shapes.STEPS * len(list(analyses()))
    for name in files:
        assert arrays(results / name) == arrays(alone / name), name
    for step in range(shapes.STEPS):  # in pieces the cells follow each other
        whole, shared = read(alone / f"grid-all-{step}.vtu"), read(results / f"shared-{step}.pvtu")
        numbers = [vtk_to_numpy(data.GetCellData().GetArray("gc")) for data in (whole, shared)]
        np.testing.assert_array_equal(*numbers)
        bounds = [[data.GetCell(n).GetBounds() for n in range(data.GetNumberOfCells())] for data in (whole, shared)]
        assert bounds[0] == bounds[1]
        written = len(list((results / f"shared-{step}").glob("*.vtu")))
        assert (written > 1) == ("cores" not in placement or "per_node: 2" in placement)
    for path in alone.glob("*.png"):
        np.testing.assert_array_equal(pixels(results / path.name), pixels(path), path.name)
        assert len(np.unique(pixels(path), axis=0)) > 50
