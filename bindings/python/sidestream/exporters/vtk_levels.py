"""Meshes with refinement levels as OverlappingAMR of VTKHDF: HDF5 files that VTK and ParaView open."""

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from ..reader.levels.cells import boxes_without
from ..reader.levels.levels import Levels
from ..reader.levels.sources import BlockOf, in_cell_order


def why_not(levels: Levels) -> str:
    """The reason why VTK has no form for the levels, as the end of a sentence; empty if it has one."""
    used = levels.mesh.dimensions
    if used < 2:
        return "has one dimension, but VTK's have two or three"
    uneven = [ratio for ratio in levels.mesh.ratios if len(set(ratio[:used])) > 1]
    if uneven:
        return f"is refined by {list(uneven[0][:used])}, but VTK wants one ratio for all axes"
    return ""


def _covers(levels: Levels, number: int) -> list[NDArray[np.int64]]:
    """The boxes of a level's cells that a block of the next level covers completely."""
    ratio = levels.mesh.ratio(number, number + 1)
    finer = [block for block in levels.blocks if block.level == number + 1]
    return [np.array([-(-block.lo // ratio), block.hi // ratio]) for block in finer]


def _shown(levels: Levels, number: int) -> list[tuple[BlockOf, NDArray[np.int64]]]:
    """Returns the blocks of a level as boxes [lo, hi]. VTK itself determines which cells finer levels cover, except
    where boxes are one layer thick. So in two dimensions covered cells are left out."""
    shown = []
    covers = _covers(levels, number) if levels.mesh.dimensions == 2 else []
    for block in levels.blocks:
        if block.level != number or np.any(block.lo >= block.hi):
            continue
        parts = [np.array([block.lo, block.hi])]
        for hole in covers:
            parts = [left for part in parts for left in boxes_without(part, hole)]
        shown += [(block, part) for part in parts]
    return shown


def _part(values: NDArray[np.generic], block: BlockOf, box: NDArray[np.int64]) -> NDArray[np.generic]:
    """The cells of a box, selected from those of its block; both with i running fastest."""
    extents, lo, hi = (block.hi - block.lo)[::-1], (box[0] - block.lo)[::-1], (box[1] - block.lo)[::-1]
    grid = values.reshape(*(int(n) for n in extents), *values.shape[1:])
    inside = grid[tuple(slice(int(a), int(b)) for a, b in zip(lo, hi, strict=True))]
    return inside.reshape(-1, *values.shape[1:])


def _write_level(group: h5py.Group, levels: Levels, number: int, variables: list[str]) -> None:
    mesh, used = levels.mesh, levels.mesh.dimensions
    spacing = mesh.spacing / mesh.ratio(0, number)
    group.attrs["Spacing"] = np.where(np.arange(3) < used, spacing, 1.0)
    shown = _shown(levels, number)
    boxes = np.array([[box[0], box[1] - 1] for _, box in shown], np.int32).reshape(-1, 2, 3)
    boxes[:, :, used:] = 0
    group["AMRBox"] = boxes.transpose(0, 2, 1).reshape(-1, 6)
    for section in ("PointData", "FieldData", "CellData"):
        group.create_group(section)
    counts = [int(np.prod(box[1] - box[0])) for _, box in shown]
    for name in variables:
        named = levels.variables[name]
        more = (named.components,) if named.components > 1 else ()
        data = group["CellData"].create_dataset(name, (sum(counts), *more), named.dtype)
        first, read, values = 0, None, None
        for (block, box), count in zip(shown, counts, strict=True):
            if block is not read:
                stored, read = levels.source.read(name, block), block
                values = None if stored is None else in_cell_order(stored, named, mesh, block)
            missing = np.nan if named.dtype.kind == "f" else 0
            data[first : first + count] = missing if values is None else _part(values, block, box)
            first += count


def root_of(file: h5py.File, kind: str, version: tuple[int, int], levels: Levels) -> h5py.Group:
    """Creates VTK's group for a data set of this kind, with the iteration as field data; the rest must be added."""
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = np.array(version, np.int64)
    root.attrs.create("Type", kind.encode(), dtype=h5py.string_dtype("ascii", len(kind)))
    for name, value in (("TimeValue", float(levels.attrs["time"])), ("CYCLE", int(levels.attrs["cycle"]))):
        root[f"FieldData/{name}"] = np.array([value])
    if "level_times" in levels.attrs:
        root["FieldData/level_times"] = np.array(levels.attrs["level_times"], np.float64)
    return root


def write_levels(path: Path, levels: Levels, variables: list[str]) -> None:
    """Writes a group for each level, blocks one after the other."""
    mesh = levels.mesh
    with h5py.File(path, "w") as file:
        root = root_of(file, "OverlappingAMR", (2, 0), levels)
        description = {2: b"XY", 3: b"XYZ"}[mesh.dimensions]
        root.attrs.create("GridDescription", description, dtype=h5py.string_dtype("ascii", len(description)))
        root.attrs["Origin"] = np.where(np.arange(3) < mesh.dimensions, mesh.origin, 0.0)
        deepest = max((block.level for block in levels.blocks), default=0)
        for number in range(deepest + 1):
            _write_level(root.create_group(f"Level{number}"), levels, number, variables)
