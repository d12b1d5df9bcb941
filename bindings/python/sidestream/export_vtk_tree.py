"""Octrees as VTK's hyper tree grids (.htg): the trees of all blocks put together, each leaf once."""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from .export_vtk_xml import Array, write_array
from .levels import Levels


class _Forest:
    """All cells tree by tree, of each tree level by level, i fastest: the order in which VTK numbers them."""

    def __init__(self, levels: Levels) -> None:
        self.levels, mesh = levels, levels.mesh
        roots = mesh.hi
        ids, depths = [], []
        for n, cells in enumerate(levels.cells):
            root = cells.index // mesh.ratio(0, n)
            ids.append(root @ np.array([1, roots[0], roots[0] * roots[1]]))
            depths.append(np.full(len(root), n))
        joined = np.concatenate([np.empty(0, np.int64), *ids]), np.concatenate([np.empty(0, np.int64), *depths])
        self.order = np.lexsort((joined[1], joined[0]))  # stable: the cells of a level are in Morton order
        self.tree, self.depth = joined[0][self.order], joined[1][self.order]

    def sorted(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate(parts)[self.order] if parts else np.empty(0)

    def structure(self) -> list[Array]:
        """What VTK calls the trees."""
        trees, first = np.unique(self.tree, return_index=True)
        past = [*first[1:], len(self.tree)]
        counts = [np.bincount(self.depth[a:b]) for a, b in zip(first, past, strict=True)]
        depths = np.array([len(count) for count in counts], np.uint32)
        refined = self.sorted([cells.refined for cells in self.levels.cells]).astype(np.bool_)
        # That the deepest level of a tree has no children is known.
        last = depths[np.searchsorted(trees, self.tree)] - 1 if len(trees) else np.empty(0, np.int64)
        found = [
            _bits("Descriptors", refined[self.depth < last]),
            Array.of("NumberOfVerticesPerDepth", np.concatenate([np.empty(0, np.int64), *counts]).astype(np.int64)),
            Array.of("TreeIds", trees.astype(np.int64)),
            Array.of("DepthPerTree", depths),
        ]
        nobody = self.sorted([~cells.refined & (cells.owner < 0) for cells in self.levels.cells]).astype(np.bool_)
        return found + ([_bits("Mask", nobody)] if nobody.any() else [])


def _bits(name: str, flags: NDArray[np.bool_]) -> Array:
    """VTK's arrays of bits: the first one is the highest of its byte."""
    packed = np.packbits(flags)
    return Array(name, packed.dtype, 1, packed.size, (packed,), bits=len(flags))


def _axes(levels: Levels) -> list[Array]:
    mesh = levels.mesh
    nodes = [
        mesh.origin[a] + mesh.spacing[a] * np.arange(mesh.hi[a] + 1) if a < mesh.dimensions else np.zeros(1)
        for a in range(3)
    ]
    return [Array.of(f"{'XYZ'[a]}Coordinates", values) for a, values in enumerate(nodes)]


def write_tree(path: Path, levels: Levels, variables: list[str], about: list[Array]) -> None:
    """Leaves that no block owns are masked. A cell's values are those of the block that owns it."""
    forest, mesh = _Forest(levels), levels.mesh
    dimensions = " ".join(str(mesh.hi[a] + 1 if a < mesh.dimensions else 1) for a in range(3))
    attributes = f'BranchFactor="2" TransposedRootIndexing="0" Dimensions={quoteattr(dimensions)}'
    with path.open("wb") as file:
        file.write(b'<VTKFile type="HyperTreeGrid" version="2.0" byte_order="LittleEndian" header_type="UInt64">\n')
        file.write(f"<HyperTreeGrid {attributes}>\n".encode())
        data = (
            Array.of(name, forest.sorted([level[name] for level in levels]).astype(levels.variables[name].dtype))
            for name in variables
        )
        for section, arrays in (
            ("FieldData", about),
            ("Grid", _axes(levels)),
            ("Trees", forest.structure()),
            ("CellData", data),
        ):
            file.write(f"<{section}>\n".encode())
            for array in arrays:
                write_array(file, array, tuples=True)
            file.write(f"</{section}>\n".encode())
        file.write(b"</HyperTreeGrid>\n</VTKFile>\n")
