"""VTK's objects that ParaView gets of each kind of mesh."""

import sys
import types
from pathlib import Path

import numpy as np
import sidestream.paraview
from sidestream.paraview.gathered import joined
from vtkmodules.util.numpy_support import vtk_to_numpy


def declared(name, kind, **given):
    base = {
        "axes": 3,
        "dimensions": 3,
        "is_list": False,
        "refinement": (),
        "nodes": None,
        "cells": ((0,) * 3, (4, 2, 2)),
    }
    return types.SimpleNamespace(**{**base, "name": name, "kind": kind, **given})


def variable(name, mesh, **given):
    base = {"type": "float64", "centering": "cell", "components": 1, "role": "none", "points": mesh.cells}
    return types.SimpleNamespace(**{**base, "name": name, "mesh": mesh.name, **given})


def piece(mesh, number, values, counted=None, points=None, **place):
    masks = {name: np.ones(len(v) if mesh.is_list else v.shape[:3], bool) for name, v in values.items()}
    place = {"level": 0, "lo": mesh.cells[0], "hi": mesh.cells[1], **place}
    return {
        "mesh": mesh.name,
        "id": number,
        "values": values,
        "counted": masks | (counted or {}),
        "points": points,
        **place,
    }


def grid(mesh, variables, pieces):
    """The object of VTK, made as in ParaView's interpreter."""
    sys.path.insert(0, str(Path(sidestream.paraview.__file__).parent / "inside"))
    try:
        from grids import grid_of
    finally:
        del sys.path[0]
    described, arrays = joined([({mesh.name: mesh}, {v.name: v for v in variables}, pieces)])
    return grid_of(described[0], arrays)


def test_lists_keep_the_cells_that_count():
    mesh = declared("hull", "unstructured", is_list=True, cells=((), ()))
    roles = {"x": "coordinates", "links": "connectivity", "ends": "offsets", "kinds": "types"}
    variables = [variable(name, mesh, role=role) for name, role in roles.items()]
    variables += [variable("p", mesh), variable("q", mesh, centering="node")]
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], np.float32)
    lists = {"links": np.array([0, 1, 2, 3, 1, 2, 3, 4], np.int32), "ends": np.array([4, 8], np.int32)}
    lists |= {"kinds": np.array([10, 10], np.uint8), "q": np.arange(5.0)}
    one = piece(mesh, 0, {**lists, "x": corners, "p": np.array([1.0, 2.0])})
    half = {name: np.array([False, True]) for name in ("p", "kinds")}
    two = piece(mesh, 1, {**lists, "x": corners + np.float32(2), "p": np.array([3.0, 4.0])}, half)
    made = grid(mesh, variables, [two, one])
    assert made.GetClassName() == "vtkUnstructuredGrid" and made.GetNumberOfPoints() == 10
    assert vtk_to_numpy(made.GetCellData().GetArray("p")).tolist() == [1, 2, 4]
    assert [made.GetCell(2).GetPointId(n) for n in range(4)] == [6, 7, 8, 9]
    assert made.GetPoint(9) == (3, 3, 3)
    assert vtk_to_numpy(made.GetPointData().GetArray("q")).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


def test_particles_are_those_that_count():
    mesh = declared("stars", "points", is_list=True, dimensions=2, cells=((), ()))
    variables = [variable("x", mesh, role="coordinates", centering="node"), variable("m", mesh, centering="node")]
    places = np.array([[0.0, 1], [2, 3], [4, 5]])
    counted = {name: np.array([True, False, True]) for name in ("x", "m")}
    made = grid(mesh, variables, [piece(mesh, 3, {"x": places, "m": np.arange(3.0)}, counted)])
    assert made.GetClassName() == "vtkPolyData" and made.GetNumberOfVerts() == 2
    assert made.GetPoint(1) == (4, 5, 0)
    assert vtk_to_numpy(made.GetPointData().GetArray("m")).tolist() == [0, 2]


def test_boxes_that_are_not_there_are_nan():
    axes = (np.array([0.0, 1, 2, 4, 8]), np.array([0.0, 1, 3]), np.array([5.0, 6, 7]))
    mesh = declared("box", "rectilinear", nodes=axes)
    part = {"t": np.arange(8.0).reshape(2, 2, 2)}
    made = grid(mesh, [variable("t", mesh)], [piece(mesh, 0, part, points={"t": ((2, 0, 0), (4, 2, 2))})])
    assert made.GetClassName() == "vtkRectilinearGrid" and made.GetBounds() == (0, 8, 0, 3, 5, 7)
    values = vtk_to_numpy(made.GetCellData().GetArray("t")).reshape(2, 2, 4)
    assert np.isnan(values[..., :2]).all() and np.array_equal(values[..., 2:], part["t"])


def test_curvilinear_meshes_have_their_nodes():
    mesh = declared("wing", "curvilinear")
    places = np.random.default_rng(1).random((3, 3, 5, 3))
    nodes = ((0, 0, 0), (5, 3, 3))
    variables = [variable("x", mesh, role="coordinates", components=3, points=nodes), variable("t", mesh)]
    values = {"x": places, "t": np.arange(16.0).reshape(2, 2, 4)}
    made = grid(mesh, variables, [piece(mesh, 0, values, points={"x": nodes, "t": mesh.cells})])
    assert made.GetClassName() == "vtkStructuredGrid" and made.GetExtent() == (0, 4, 0, 2, 0, 2)
    assert made.GetPoint(5 + 2) == tuple(places[0, 1, 2])
    assert vtk_to_numpy(made.GetCellData().GetArray("t")).tolist() == list(range(16))


def test_levels_hide_what_finer_blocks_cover():
    axes = tuple(np.linspace(1, 2, n + 1) for n in (4, 2, 2))
    mesh = declared("gas", "uniform", nodes=axes, refinement=((2, 2, 2),))
    fine = {"t": np.arange(64.0).reshape(4, 4, 4)}
    pieces = [
        piece(mesh, 0, {"t": np.ones((2, 2, 4))}),
        piece(mesh, 1, fine, level=1, lo=(4, 0, 0), hi=(8, 4, 4)),
    ]
    made = grid(mesh, [variable("t", mesh)], pieces)
    assert made.GetClassName() == "vtkOverlappingAMR" and made.GetNumberOfLevels() == 2
    coarse, finer = (made.GetDataSet(level, 0) for level in (0, 1))
    assert finer.GetOrigin() == (1.5, 1, 1) and finer.GetSpacing() == (0.125, 0.25, 0.25)
    assert vtk_to_numpy(finer.GetCellData().GetArray("t")).tolist() == list(range(64))
    hidden = vtk_to_numpy(coarse.GetCellData().GetArray("vtkGhostType")).reshape(2, 2, 4) != 0
    assert hidden[..., 2:].all() and not hidden[..., :2].any()
