"""Octrees as HyperTreeGrid of VTKHDF: the trees of all blocks merged, each leaf once."""

from pathlib import Path

import h5py
import numpy as np

from ..reader.levels.forest import Forest
from ..reader.levels.levels import Levels
from .vtk_levels import root_of

VERSION = (2, 4)  # the first version with hyper tree grids


def write_tree_hdf(path: Path, levels: Levels, variables: list[str]) -> None:
    """Writes one piece. Leaves that no block owns are masked. A cell's values are those of the block that owns it."""
    forest = Forest(levels)
    descriptors, mask, counts = forest.descriptors(), forest.mask(), forest.cells_per_depth
    with h5py.File(path, "w") as file:
        root = root_of(file, "HyperTreeGrid", VERSION, levels)
        root.attrs["BranchFactor"] = np.int64(2)
        root.attrs["TransposedRootIndexing"] = np.int64(0)
        root.attrs["Dimensions"] = np.array(forest.dimensions(), np.int32)
        for axis, nodes in zip("XYZ", forest.axes(), strict=True):
            root[f"{axis}Coordinates"] = nodes
        root["TreeIds"] = forest.trees.astype(np.int64)
        root["DepthPerTree"] = forest.depths.astype(np.int64)
        root["NumberOfCellsPerTreeDepth"] = counts
        root["Descriptors"] = np.packbits(descriptors)  # the first one is the highest of its byte
        if mask.any():
            root["Mask"] = np.packbits(mask)
        for name, count in (
            ("NumberOfTrees", len(forest.trees)),
            ("NumberOfDepths", len(counts)),
            ("NumberOfCells", len(forest)),
            ("DescriptorsSize", len(descriptors)),  # in bits
        ):
            root[name] = np.array([count], np.int64)
        data = root.create_group("CellData")
        for name in variables:
            data[name] = forest.values(name)
