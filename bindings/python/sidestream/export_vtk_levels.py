"""Meshes with refinement levels as OverlappingAMR of VTKHDF: HDF5 files that VTK and ParaView open."""

from pathlib import Path

import h5py
import numpy as np

from .level_sources import in_cell_order
from .levels import Levels


def why_not(levels: Levels) -> str:
    """Why VTK has no form for the levels, as the end of a sentence; empty if it has one."""
    used = levels.mesh.dimensions
    if used < 2:
        return "has one dimension, but VTK's have two or three"
    uneven = [ratio for ratio in levels.mesh.ratios if len(set(ratio[:used])) > 1]
    if uneven:
        return f"is refined by {list(uneven[0][:used])}, but VTK wants one ratio for all axes"
    return ""


def _write_level(group: h5py.Group, levels: Levels, number: int, variables: list[str]) -> None:
    mesh, used = levels.mesh, levels.mesh.dimensions
    spacing = mesh.spacing / mesh.ratio(0, number)
    group.attrs["Spacing"] = np.where(np.arange(3) < used, spacing, 1.0)
    blocks = [block for block in levels.blocks if block.level == number and np.all(block.lo < block.hi)]
    boxes = np.array([[b.lo, b.hi - 1] for b in blocks], np.int32).reshape(-1, 2, 3)
    boxes[:, :, used:] = 0
    group["AMRBox"] = boxes.transpose(0, 2, 1).reshape(-1, 6)
    for section in ("PointData", "FieldData", "CellData"):
        group.create_group(section)
    counts = [int(np.prod(b.hi - b.lo)) for b in blocks]
    for name in variables:
        named = levels.variables[name]
        more = (named.components,) if named.components > 1 else ()
        data = group["CellData"].create_dataset(name, (sum(counts), *more), named.dtype)
        first = 0
        for block, count in zip(blocks, counts, strict=True):
            stored = levels.source.read(name, block)
            if stored is None:
                data[first : first + count] = np.nan if named.dtype.kind == "f" else 0
            else:
                data[first : first + count] = in_cell_order(stored, named, mesh, block)
            first += count


def root_of(file: h5py.File, kind: str, version: tuple[int, int], levels: Levels) -> h5py.Group:
    """VTK's group for a data set of this kind, with the iteration as field data; the rest is still to be written."""
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = np.array(version, np.int64)
    root.attrs.create("Type", kind.encode(), dtype=h5py.string_dtype("ascii", len(kind)))
    for name, value in (("TimeValue", float(levels.attrs["time"])), ("CYCLE", int(levels.attrs["cycle"]))):
        root[f"FieldData/{name}"] = np.array([value])
    if "level_times" in levels.attrs:
        root["FieldData/level_times"] = np.array(levels.attrs["level_times"], np.float64)
    return root


def write_levels(path: Path, levels: Levels, variables: list[str]) -> None:
    """A group for each level, blocks one after the other. What finer levels cover, readers find out themselves."""
    mesh = levels.mesh
    with h5py.File(path, "w") as file:
        root = root_of(file, "OverlappingAMR", (2, 0), levels)
        description = {2: b"XY", 3: b"XYZ"}[mesh.dimensions]
        root.attrs.create("GridDescription", description, dtype=h5py.string_dtype("ascii", len(description)))
        root.attrs["Origin"] = np.where(np.arange(3) < mesh.dimensions, mesh.origin, 0.0)
        deepest = max((block.level for block in levels.blocks), default=0)
        for number in range(deepest + 1):
            _write_level(root.create_group(f"Level{number}"), levels, number, variables)
