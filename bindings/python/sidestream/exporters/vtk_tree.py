"""Octrees as VTK's hyper tree grids in XML (.htg): the trees of all blocks merged, each leaf once."""

from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from ..reader.levels.forest import Forest
from ..reader.levels.levels import Levels
from .vtk_xml import Array, write_array


def _bits(name: str, flags: NDArray[np.bool_]) -> Array:
    """An array of bits in VTK's order: the first one is the highest of its byte."""
    packed = np.packbits(flags)
    return Array(name, packed.dtype, 1, packed.size, (packed,), bits=len(flags))


def _structure(forest: Forest) -> list[Array]:
    """The arrays that describe the trees."""
    found = [
        _bits("Descriptors", forest.descriptors()),
        Array.of("NumberOfVerticesPerDepth", forest.cells_per_depth),
        Array.of("TreeIds", forest.trees.astype(np.int64)),
        Array.of("DepthPerTree", forest.depths),
    ]
    mask = forest.mask()
    return found + ([_bits("Mask", mask)] if mask.any() else [])


def write_tree(path: Path, levels: Levels, variables: list[str], about: list[Array]) -> None:
    """Writes the file. Leaves that no block owns are masked. A cell's values are those of the block that owns it."""
    forest = Forest(levels)
    dimensions = " ".join(map(str, forest.dimensions()))
    attributes = f'BranchFactor="2" TransposedRootIndexing="0" Dimensions={quoteattr(dimensions)}'
    with path.open("wb") as file:
        file.write(b'<VTKFile type="HyperTreeGrid" version="2.0" byte_order="LittleEndian" header_type="UInt64">\n')
        file.write(f"<HyperTreeGrid {attributes}>\n".encode())
        for section, arrays in (
            ("FieldData", about),
            ("Grid", [Array.of(f"{'XYZ'[a]}Coordinates", nodes) for a, nodes in enumerate(forest.axes())]),
            ("Trees", _structure(forest)),
            ("CellData", (Array.of(name, forest.values(name)) for name in variables)),
        ):
            file.write(f"<{section}>\n".encode())
            for array in arrays:
                write_array(file, array, tuples=True)
            file.write(f"</{section}>\n".encode())
        file.write(b"</HyperTreeGrid>\n</VTKFile>\n")
