"""VTK's objects of blocks made by hand: empty ones, levels of which a server has a part, and what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
import sidestream.vtk
from sidestream.serving.metadata import Mesh, Variable


def mesh_of(kind="uniform", **given):
    base = {
        "name": "m",
        "dimensions": 3,
        "axes": 3,
        "is_list": False,
        "cells": ((0, 0, 0), (2, 2, 2)),
        "refinement": (),
    }
    return Mesh(**{**base, "kind": kind, "nodes": (np.arange(3.0),) * 3, **given})


class Block(dict):
    """A block as `grid` uses it."""

    id, level = 4, 0
    data = SimpleNamespace(time=0.0)

    def __init__(self, mesh, lo=(0, 0, 0), hi=(2, 2, 2), **arrays):
        """Arrays by name, each with its role and centering."""
        self.mesh, self.lo, self.hi = mesh, lo, hi
        super().__init__({name: array for name, (role, _, array) in arrays.items() if role == "none"})
        self._records = {name: array for name, (_, _, array) in arrays.items()}
        self.data = SimpleNamespace(time=0.0, variables={})
        for name, (role, centering, array) in arrays.items():
            declared = (name, "m", str(array.dtype), centering, 1, "column", "", name, role, mesh.cells)
            self.data.variables[name] = Variable(*declared)

    def __getitem__(self, name):
        return self._records[name]

    published = __getitem__

    def counted(self, name):
        return np.ones(self[name].shape, bool)

    def box(self, name):
        more = int(self.data.variables[name].centering == "node")
        return self.lo, tuple(n + more for n in self.hi)


def test_an_empty_block():
    block = Block(mesh_of(), hi=(2, 0, 2), t=("none", "cell", np.empty((2, 0, 2))))
    made = sidestream.vtk.grid(block)
    assert made.GetNumberOfCells() == made.GetNumberOfPoints() == 0


def test_what_is_refused():
    def refused(text, call, *given, error=ValueError):
        with pytest.raises(error, match=text):
            call(*given)

    faces = Block(mesh_of(), u=("none", "x-face", np.zeros((2, 2, 3))), t=("none", "cell", np.zeros((2, 2, 2))))
    refused("'u' at x-face, expected a variable in cells or at nodes", sidestream.vtk.grid, faces)
    assert sidestream.vtk.grid(faces, ["t"]).GetCellData().GetNumberOfArrays() == 1
    refused("no values of 'w' in this iteration, but of u, t", sidestream.vtk.grid, faces, ["w"], error=KeyError)
    wing = Block(mesh_of("curvilinear"), t=("none", "cell", np.zeros((2, 2, 2))))
    refused("has no coordinates", sidestream.vtk.grid, wing)
    arrays = {name: (name, "cell", np.zeros(1, np.uint8)) for name in ("connectivity", "offsets", "types")}
    arrays |= {"x": ("coordinates", "node", np.zeros((1, 3))), "types": ("types", "cell", np.uint8([42]))}
    refused("polyhedra in block 4", sidestream.vtk.grid, Block(mesh_of("unstructured", is_list=True), **arrays))


@pytest.mark.parametrize(
    ("mesh", "text"),
    [
        (mesh_of(), "expected a uniform one with refinement levels"),
        (mesh_of(refinement=((2, 2, 1),)), "ratios that differ between axes"),
    ],
)
def test_no_levels(mesh, text):
    data = SimpleNamespace(time=0.0, meshes={"m": mesh}, blocks=lambda _: [])
    with pytest.raises(ValueError, match=text):
        sidestream.vtk.levels(data, "m")


@pytest.mark.parametrize("coarse", [0, 1, 2])
def test_levels_without_all_coarse_blocks(coarse):
    """A server may have a fine block, and none or some of the blocks below it."""
    mesh = mesh_of(refinement=((2, 2, 2),))
    blocks = [Block(mesh, (0, 0, n), (2, 2, n + 1), p=("none", "node", np.zeros((2, 3, 3)))) for n in range(coarse)]
    blocks.append(Block(mesh, (0, 0, 0), (2, 2, 4), p=("none", "node", np.zeros((5, 3, 3)))))
    blocks[-1].level = 1
    made = sidestream.vtk.levels(SimpleNamespace(time=0.0, meshes={"m": mesh}, blocks=lambda _: blocks), "m")
    assert [made.GetNumberOfDataSets(level) for level in (0, 1)] == [coarse, 1]
    seen = [
        one.IsCellVisible(cell)
        for one in (made.GetDataSet(0, n) for n in range(coarse))
        for cell in range(one.GetNumberOfCells())
    ]
    # Nodes do not say what is covered, so the blocks here must.
    assert seen == [True] * 4 if coarse == 1 else seen == [False, True, True, True] * coarse


def test_no_blocks():
    data = SimpleNamespace(time=0.5, meshes={"m": mesh_of(refinement=((2, 2, 2),))}, blocks=lambda _: [])
    assert sidestream.vtk.levels(data, "m").GetNumberOfLevels() == 0
    blocks = sidestream.vtk.multiblock(data)
    assert blocks.GetNumberOfBlocks() == 1 and blocks.GetBlock(0).GetNumberOfBlocks() == 0
