"""The calls for scripts: VTK's objects of a block, a server's blocks, or a whole mesh."""

import sys
from collections.abc import Iterable
from typing import Any

from ..errors import Code, Error
from . import describing


def grid(of: Any, variables: Iterable[str] | None = None, ghosts: bool = False) -> Any:
    """The VTK object of a block, or of the whole mesh that a function with `whole: true` gets.

    A uniform mesh gives vtkImageData (vtkUniformGrid if it has refinement levels), a rectilinear one
    vtkRectilinearGrid, a curvilinear one vtkStructuredGrid, an unstructured one vtkUnstructuredGrid, points vtkPolyData
    with a vertex for each, and an octree vtkHyperTreeGrid, in which leaves that the block does not own are masked.
    Extents count the level's cells from the mesh's first one, so neighbours fit.

    variables: names of variables in cells or at nodes; by default all that the block has.
    ghosts: the object covers all cells that the arrays of the block's variables have in common, with the simulation's
        ghosts, whose values are only right if they are declared `filled`. Otherwise it covers the block.

    Values are not copied: VTK has them where the block has them, and must not write there. Copies are made of
    variables in row order on meshes of more than one axis; of arrays with more points than the object, such as
    ghosts; and of components that do not lie side by side. Of the mesh itself, coordinates with three components, the
    connectivity and the types are not copied; coordinates with one or two components and `offsets` are. Of octrees
    all is copied, since VTK has cells tree by tree.

    The array vtkGhostType marks ghosts, and nodes, points and cells that do not count here, with 1, cells of coarse
    levels that finer ones cover with 40 (where the block has values in cells), and places of a whole mesh without
    values with 2 (nodes) or 32 (cells). It is missing where nothing is marked.

    The object holds on to the arrays, so it ends with the call as arrays do: an analysis that keeps it fails. `copied`
    makes one that can be kept. Before VTK 9.7, arrays that filters make on the same memory do not hold on to it.
    Raises ValueError for polyhedra and values at faces or edges, KeyError for variables that are not there,
    and Error(usage) without VTK.
    """
    grids = _grids()
    whole = not hasattr(of, "data")
    if not whole and of.mesh.kind == "octree":
        return _tree_of(of.data, of.mesh, [of], variables)
    given = describing.of_whole(of, variables) if whole else describing.of_block(of, variables, ghosts)
    made = grids.grid_of(*describing.described(given))
    _set_time(made, of.time if whole else of.data.time)
    return made


def multiblock(data: Any, mesh: str | None = None, variables: Iterable[str] | None = None, ghosts: bool = False) -> Any:
    """A vtkMultiBlockDataSet with one for each mesh, by name, which has the objects of this server's blocks by
    ascending id, as `grid` makes them. Other servers have the other blocks.

    mesh: only this one. Variables that a block does not have are left out there.
    """
    _grids()
    from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet

    names = None if variables is None else list(variables)
    whole = vtkMultiBlockDataSet()
    for number, name in enumerate([mesh] if mesh is not None else data.meshes):
        blocks = data.blocks(name)
        part = vtkMultiBlockDataSet()
        for n, block in enumerate(blocks):
            chosen = None if names is None else [one for one in names if one in block]
            part.SetBlock(n, grid(block, chosen, ghosts))
            part.GetMetaData(n).Set(vtkMultiBlockDataSet.NAME(), f"block {block.id}")
        whole.SetBlock(number, part)
        whole.GetMetaData(number).Set(vtkMultiBlockDataSet.NAME(), name)
    _set_time(whole, data.time)
    return whole


def levels(data: Any, mesh: str, variables: Iterable[str] | None = None) -> Any:
    """The vtkOverlappingAMR of this server's blocks of a uniform mesh with refinement levels, without ghosts; or the
    vtkHyperTreeGrid of its blocks of an octree, each cell once. Arrays, their marks and their life are as in `grid`.

    Cells that blocks of any server cover are hidden where values are in cells; otherwise those that this server's do.
    The latter, and which blocks lie on which, is left out if a fine block here lies on a block of another server.
    Raises ValueError for other meshes, and if a level has another ratio along one axis than along another, which this
    class of VTK does not have; `multiblock` takes such levels.
    """
    grids = _grids()
    blocks = data.blocks(mesh)
    declared = data.meshes[mesh]
    if declared.kind == "octree":
        there = {name for block in blocks for name in block}
        return _tree_of(data, declared, blocks, variables and [name for name in variables if name in there])
    if not declared.refinement or declared.kind != "uniform":
        raise ValueError(f"levels: found the mesh '{mesh}', expected a uniform one with refinement levels: use `grid`")
    if any(len(set(step[: declared.axes])) > 1 for step in declared.refinement):
        raise ValueError(f"levels: found ratios that differ between axes of '{mesh}', expected one: use `multiblock`")
    names = None if variables is None else list(variables)
    made = grids.grid_of(*describing.levels_of(declared, blocks, names))
    _set_time(made, data.time)
    return made


def _tree_of(data: Any, mesh: Any, blocks: list[Any], variables: Iterable[str] | None) -> Any:
    """Blocks of one octree as one object. Without any, there are no trees in it."""
    from ..reader.levels.levels import Levels
    from .refined import OfBlocks, described

    levels = Levels(OfBlocks(blocks, mesh, data.variables))
    names = list(levels.variables) if variables is None else list(variables)
    describing.check_names(f"the octree '{mesh.name}'", names, list(levels.variables))
    made = _grids().grid_of(*described(levels, names))
    _set_time(made, data.time)
    return made


def copied(made: Any) -> Any:
    """A copy of a VTK object with arrays of its own, which may be kept after the call."""
    copy = made.NewInstance()
    copy.DeepCopy(made)
    return copy


def _set_time(made: Any, time: float) -> None:
    made.GetInformation().Set(made.DATA_TIME_STEP(), time)


def _grids() -> Any:
    """The module that makes objects. Raises Error(usage) if VTK is not installed."""
    try:
        from ..paraview.inside import grids
    except ImportError as problem:
        raise Error(
            f"sidestream.vtk needs VTK's modules for {sys.executable}, which cannot be imported ({problem}); install "
            "the package `vtk` there, or Debian's python3-vtk9",
            Code.USAGE,
        ) from problem
    return grids
