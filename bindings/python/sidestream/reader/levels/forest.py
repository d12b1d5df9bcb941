"""The trees of an octree mesh in the cell order of VTK's hyper tree grids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .levels import Levels


class Forest:
    """Orders all cells tree by tree, level by level within each tree, i fastest, as VTK numbers them. The trees of all
    blocks are merged, so that each cell occurs once. Each root has a tree if any block has cells there. `trees` are
    their numbers; `depths` is the number of levels of each; `cells_per_depth` is the number of cells of each level of
    each tree."""

    def __init__(self, levels: Levels) -> None:
        self.levels, mesh = levels, levels.mesh
        roots = mesh.hi
        along = np.array([1, roots[0], roots[0] * roots[1]])
        ids = [cells.index // mesh.ratio(0, n) @ along for n, cells in enumerate(levels.cells)]
        tree = np.concatenate([np.empty(0, np.int64), *ids])
        depth = np.repeat(np.arange(len(ids)), [len(of) for of in ids])
        self._order = np.lexsort((depth, tree))  # stable: the cells of a level are in Morton order
        self._tree, self._depth = tree[self._order], depth[self._order]
        # The levels of all trees in sequence; each has cells.
        runs = np.stack([self._tree, self._depth], axis=1)
        first = np.flatnonzero(np.any(np.diff(runs, axis=0, prepend=-1), axis=1))
        self.cells_per_depth = np.diff(first, append=len(runs)).astype(np.int64)
        self.trees, depths = np.unique(self._tree[first], return_counts=True)
        self.depths = depths.astype(np.uint32)

    def __len__(self) -> int:
        """Number of cells."""
        return len(self._tree)

    def _sorted(self, parts: list[NDArray[Any]], like: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([like[:0], *parts])[self._order]

    def values(self, name: str) -> NDArray[Any]:
        """The values of a variable: those of the block that owns the cell."""
        named = self.levels.variables[name]
        like = np.empty((0, named.components) if named.components > 1 else 0, named.dtype)
        return self._sorted([level[name] for level in self.levels], like).astype(named.dtype, copy=False)

    def descriptors(self) -> NDArray[np.bool_]:
        """True for refined cells; the deepest level of a tree is left out, as it has no children."""
        flags = self._sorted([cells.refined for cells in self.levels.cells], np.empty(0, np.bool_)).astype(np.bool_)
        return flags[self._depth + 1 < self.depths[np.searchsorted(self.trees, self._tree)]]

    def mask(self) -> NDArray[np.bool_]:
        """True for leaves that no block owns."""
        nobody = [~cells.refined & (cells.owner < 0) for cells in self.levels.cells]
        return self._sorted(nobody, np.empty(0, np.bool_)).astype(np.bool_)

    def dimensions(self) -> list[int]:
        """Number of root nodes along x, y and z."""
        return [len(axis) for axis in self.axes()]

    def axes(self) -> list[NDArray[np.float64]]:
        """Positions of the roots' nodes along x, y and z."""
        mesh = self.levels.mesh
        return [
            mesh.origin[a] + mesh.spacing[a] * np.arange(mesh.hi[a] + 1) if a < mesh.dimensions else np.zeros(1)
            for a in range(3)
        ]
