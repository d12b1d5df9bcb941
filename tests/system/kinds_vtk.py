"""Reads with VTK the files of the output `vtk` for the meshes of tests/system/kinds_program.c."""

import xml.etree.ElementTree as ET

import numpy as np
from kinds_values import BOXES, NX, NY, NZ, TO_FINEST, curvilinear, finest_levels, lists, tree
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.util.vtkConstants import VTK_VOXEL
from vtkmodules.vtkCommonCore import vtkIdList
from vtkmodules.vtkCommonDataModel import vtkDataSetAttributes
from vtkmodules.vtkIOXML import (
    vtkXMLMultiBlockDataReader,
    vtkXMLPPolyDataReader,
    vtkXMLPStructuredGridReader,
    vtkXMLPUnstructuredGridReader,
)

HIDDEN, REFINED = vtkDataSetAttributes.HIDDENCELL, vtkDataSetAttributes.REFINEDCELL
DUPLICATE = vtkDataSetAttributes.DUPLICATEPOINT


def read(path, reader):
    said = []
    for event in ("ErrorEvent", "WarningEvent"):
        reader.AddObserver(event, lambda _, name: said.append(name))
    reader.SetFileName(str(path))
    reader.Update()
    assert not said, path
    return reader.GetOutput()


def equal(found, expected, name):
    found = vtk_to_numpy(found)
    assert found.dtype == expected.dtype, name
    np.testing.assert_array_equal(found, expected, name)


def padded(points):
    """Three coordinates for each point."""
    points = points.reshape(len(points), -1)
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def check_lists(path, kind, blocks, changing, step, dimensions):
    expected = lists(kind, blocks, changing, step, dimensions)
    folder = path.with_suffix("")
    written = sorted(file.name for file in folder.glob("*")) if folder.exists() else []
    there = [b for b in range(blocks) if len(expected["pos"][b])]
    assert written == [f"block-{b:06}.{'vtp' if kind == 'points' else 'vtu'}" for b in there]
    reader = vtkXMLPPolyDataReader() if kind == "points" else vtkXMLPUnstructuredGridReader()
    data = read(path, reader)
    if not there:
        assert data.GetNumberOfPoints() == data.GetNumberOfCells() == 0
        return
    whole = {name: np.concatenate([arrays[b] for b in there]) for name, arrays in expected.items()}
    counts = [len(expected["pos"][b]) for b in there]
    first = np.cumsum([0, *counts])
    equal(data.GetPoints().GetData(), padded(whole["pos"]), "pos")
    equal(data.GetPointData().GetArray("n"), whole["n"], "n")
    if kind == "points":
        cells = data.GetVerts()
        assert data.GetNumberOfCells() == data.GetNumberOfPoints()
        np.testing.assert_array_equal(vtk_to_numpy(cells.GetConnectivityArray()), np.arange(first[-1]))
        equal(data.GetPointData().GetGlobalIds(), whole["ids"], "ids")
        equal(data.GetPointData().GetArray("flags"), whole["flags"], "flags")
        flags = np.where(whole["flags"] == 0, 0, DUPLICATE).astype("uint8")
        equal(data.GetPointData().GetArray("vtkGhostType"), flags, "vtkGhostType")
        return
    equal(data.GetCellData().GetArray("t"), whole["t"], "t")
    check_cells(data, {name: [expected[name][b] for b in there] for name in expected}, first)


def check_cells(data, blocks, first):
    shifted = np.concatenate([links + start for links, start in zip(blocks["links"], first, strict=False)])
    np.testing.assert_array_equal(vtk_to_numpy(data.GetCells().GetConnectivityArray()), shifted)
    np.testing.assert_array_equal(
        np.diff(vtk_to_numpy(data.GetCells().GetOffsetsArray())),
        np.concatenate([np.diff(ends, prepend=0) for ends in blocks["ends"]]),
    )
    kinds = np.concatenate(blocks["kinds"])
    assert [data.GetCellType(c) for c in range(data.GetNumberOfCells())] == list(kinds)
    cell = 0
    for faces, face_ends, start in zip(blocks["faces"], blocks["face_ends"], first, strict=False):
        begin = 0
        for end in face_ends:
            if end >= 0:
                stream = vtkIdList()
                data.GetFaceStream(cell, stream)
                found = [stream.GetId(n) for n in range(stream.GetNumberOfIds())]
                # A polyhedron is its number of faces, then for each face the number of its points and the points.
                expected = list(faces[begin:end])
                at = 1
                for _ in range(expected[0]):
                    for n in range(at + 1, at + 1 + expected[at]):
                        expected[n] += start
                    at += 1 + expected[at]
                assert found == expected
                begin = end
            cell += 1


def check_curvilinear(path, step, dimensions):
    expected = curvilinear(step, dimensions)
    data = read(path, vtkXMLPStructuredGridReader())
    cells = [NX, NY, NZ]
    extent = [x for a in range(3) for x in (0, cells[a] if a < dimensions else 0)]
    assert list(data.GetExtent()) == extent
    equal(data.GetPoints().GetData(), padded(expected["pos"].reshape(expected["n"].size, -1)), "pos")
    equal(data.GetPointData().GetArray("n"), expected["n"].ravel(), "n")
    equal(data.GetCellData().GetArray("t"), expected["t"].ravel(), "t")
    assert not vtk_to_numpy(data.GetCellData().GetArray("vtkGhostType")).any()


def check_octree(path, blocks, step):
    expected = lists("octree", blocks, 1, step)
    data = read(path, vtkXMLPUnstructuredGridReader())
    split, mine = (np.concatenate(expected[name]) for name in ("split", "mine"))
    equal(data.GetCellData().GetArray("t"), np.concatenate(expected["t"]), "t")
    flags = np.where(split, HIDDEN | REFINED, 0) | np.where(mine, 0, DUPLICATE)
    equal(data.GetCellData().GetArray("vtkGhostType"), flags.astype("uint8"), "vtkGhostType")
    cells = [cell for b in range(blocks) for cell in tree(b, step)[2]]
    assert data.GetNumberOfCells() == len(cells)
    bounds = [0.0] * 6
    for n, (level, *index) in enumerate(cells):
        assert data.GetCellType(n) == VTK_VOXEL
        data.GetCellBounds(n, bounds)
        for a, (origin, size) in enumerate(((-1, 2), (0, 1), (0.5, 1.5))):
            low, high = (origin + size * (index[a] + end) / 2**level for end in (0, 1))
            assert (bounds[2 * a], bounds[2 * a + 1]) == (low, high)


def check_gap(path, step, columns):
    """Cells with i in `columns` (half-open) are in no block."""
    expected = curvilinear(step)
    data = read(path, vtkXMLPStructuredGridReader())
    in_gap = np.broadcast_to((np.arange(NX) >= columns[0]) & (np.arange(NX) < columns[1]), (NZ, NY, NX)).ravel()
    # Nodes that blocks beside the gap also have are known.
    inside = (np.arange(NX + 1) > columns[0]) & (np.arange(NX + 1) < columns[1])
    inside = np.broadcast_to(inside, (NZ + 1, NY + 1, NX + 1)).ravel()
    assert in_gap.any() and inside.any()
    points, n, t = (
        vtk_to_numpy(a)
        for a in (data.GetPoints().GetData(), data.GetPointData().GetArray("n"), data.GetCellData().GetArray("t"))
    )
    for found, values, missing in (
        (points, expected["pos"].reshape(-1, 3), inside), (n, expected["n"].ravel(), inside),
        (t, expected["t"].ravel(), in_gap),
    ):  # fmt: skip
        assert np.isnan(found[missing]).all()
        np.testing.assert_array_equal(found[~missing], values[~missing])
    flags = vtk_to_numpy(data.GetCellData().GetArray("vtkGhostType"))
    np.testing.assert_array_equal(flags, np.where(in_gap, HIDDEN, 0))


def cells_of(lo, hi):
    return {(i, j, k) for k in range(lo[2], hi[2]) for j in range(lo[1], hi[1]) for i in range(lo[0], hi[0])}


def check_levels(path, step):
    data = read(path, vtkXMLMultiBlockDataReader())
    boxes = [box for box in BOXES if box[0] < 2 or step % 2 == 0]
    finest = finest_levels(boxes)
    assert data.GetNumberOfBlocks() == len({box[0] for box in boxes})
    for level in range(data.GetNumberOfBlocks()):
        left = set().union(*(cells_of(*box[1:]) for box in boxes if box[0] == level))
        # A partitioner may have cut blocks.
        for n in range(data.GetBlock(level).GetNumberOfBlocks()):
            grid = data.GetBlock(level).GetBlock(n)
            lo, hi = grid.GetExtent()[::2], grid.GetExtent()[1::2]
            assert left >= cells_of(lo, hi)
            left -= cells_of(lo, hi)
            check_block(grid, level, lo, hi, step, finest)
        assert not left


def check_block(grid, level, lo, hi, step, finest):
    r = TO_FINEST[level]
    np.testing.assert_array_equal(grid.GetSpacing(), r / TO_FINEST[0])
    np.testing.assert_array_equal(grid.GetOrigin(), [0, 0, 0])
    for name, node in (("t", 0), ("n", 1)):
        i, j, k = (np.arange(lo[a], hi[a] + node) for a in range(3))
        values = i + 50 * j[:, None] + 2500 * k[:, None, None] + 250000 * level + 1000000 * step
        attributes = grid.GetPointData() if node else grid.GetCellData()
        equal(attributes.GetArray(name), values.astype(float).ravel(), name)
    covered = [
        all(finest[i * r[0] + x, j * r[1] + y, k * r[2] + z] > level
            for z in range(r[2]) for y in range(r[1]) for x in range(r[0]))
        for k in range(lo[2], hi[2]) for j in range(lo[1], hi[1]) for i in range(lo[0], hi[0])
    ]  # fmt: skip
    flags = vtk_to_numpy(grid.GetCellData().GetArray("vtkGhostType"))
    np.testing.assert_array_equal(flags, np.where(covered, HIDDEN | REFINED, 0))


def check_vtk(results, kind, steps, blocks, changing, dimensions):
    ending = {"curvilinear": "pvts", "unstructured": "pvtu", "points": "pvtp", "octree": "pvtu", "levels": "vtm"}[kind]
    for step in steps:
        path = results / f"fields-{step:06}.{ending}"
        if kind == "curvilinear":
            check_curvilinear(path, step, dimensions)
        elif kind == "octree":
            check_octree(path, blocks, step)
        elif kind == "levels":
            check_levels(path, step)
        else:
            check_lists(path, kind, blocks, changing, step, dimensions)
    listed = ET.parse(results / "fields.pvd").getroot().findall("./Collection/DataSet")
    assert [d.get("file") for d in listed] == [f"fields-{step:06}.{ending}" for step in steps]
    assert [float(d.get("timestep")) for d in listed] == list(steps)
