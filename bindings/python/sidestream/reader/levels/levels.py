"""Octrees and patches level by level, and any region of them at one resolution."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Code, Error
from .cells import Cells, patch_cells, tree_cells
from .covering import Finer, covering_values
from .morton import morton_keys
from .sources import RefinedMesh, Source, in_cell_order, names_of

if TYPE_CHECKING:
    import xarray

OF_CELLS = ("morton", "owner", "refined")


class Level(Mapping[str, NDArray[Any]]):
    """The cells of one level, each once: `i`, `j`, `k`, `morton`, `owner` (the block that it counts in, -1: none),
    `refined`, and the variables by name, which are read on access."""

    def __init__(self, levels: "Levels", number: int) -> None:
        self.levels, self.number = levels, number
        self.cells: Cells = levels.cells[number]

    def __getitem__(self, name: str) -> NDArray[Any]:
        axes = "ijk"[: self.levels.mesh.dimensions]
        if name in self.levels.variables:
            return self.levels.values(name, self.number, np.ones(len(self.cells.index), np.bool_))
        if name in tuple(axes):
            return self.cells.index[:, axes.index(name)]
        if name == "morton":
            return morton_keys(self.cells.index, len(axes))
        if name in OF_CELLS:
            return getattr(self.cells, name)
        raise KeyError(f"'{name}' on level {self.number}; there are: {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return iter((*"ijk"[: self.levels.mesh.dimensions], *OF_CELLS, *self.levels.variables))

    def __len__(self) -> int:
        return self.levels.mesh.dimensions + len(OF_CELLS) + len(self.levels.variables)

    @property
    def spacing(self) -> NDArray[np.float64]:
        """Sizes of the level's cells, along the axes of the mesh."""
        return self.levels.spacing(self.number)

    @property
    def time(self) -> float:
        """Time of the level's values: its own if levels have times (`level_times`), otherwise that of the iteration."""
        times = self.levels.attrs.get("level_times", ())
        return float(times[self.number] if self.number < len(times) else self.levels.attrs["time"])

    def dataset(self) -> "xarray.Dataset":
        """All of the level as a data set, with positions of the cells' centres."""
        import xarray as xr

        found: dict[str, Any] = {}
        for name, values in self.items():
            more = (f"component_{values.shape[1]}",) if values.ndim > 1 else ()
            units = self.levels.variables[name].unit if name in self.levels.variables else ""
            found[name] = (("cell", *more), values, {"units": units} if units else {})
        mesh = self.levels.mesh
        centres = mesh.origin[: mesh.dimensions] + self.spacing * (self.cells.index[:, : mesh.dimensions] + 0.5)
        coords = {axis: ("cell", centres[:, n]) for n, axis in enumerate("xyz"[: mesh.dimensions])}
        return xr.Dataset(found, coords, {"level": self.number, "time": self.time})


class Levels(Sequence[Level]):
    """A refined mesh in one iteration: `levels[2]["density"]` has all values on level 2, each cell once. The structure
    of the mesh is read when it is first needed, values on access. With `deepest` finer levels are treated as absent."""

    def __init__(self, source: Source, deepest: int | None = None) -> None:
        self.source, self.path, self.attrs = source, source.path, source.attrs
        self.deepest = deepest
        if deepest is not None and "level_times" in self.attrs:
            self.attrs = {**self.attrs, "level_times": self.attrs["level_times"][: deepest + 1]}
        self.mesh: RefinedMesh = source.mesh
        found = source.variables()
        self.variables = {name: found[name] for name in names_of(found, self.mesh)}

    @cached_property
    def blocks(self) -> list[Any]:
        """The blocks down to the deepest level: id, level, lo and hi. Throws Error if the refinement of one of them is
        not known."""
        found = self.source.blocks()
        deepest = max((block.level for block in found), default=0)
        if self.mesh.kind != "octree" and deepest > len(self.mesh.ratios):
            raise Error(
                f"{self.path}: the mesh '{self.mesh.name}' has blocks on level {deepest} and {len(self.mesh.ratios)} "
                "refinements; the file is of an older Sidestream, which did not write them: write it again, or use the "
                "output database",
                Code.FILE,
            )
        return [block for block in found if self.deepest is None or block.level <= self.deepest]

    @cached_property
    def cells(self) -> list[Cells]:
        """The cells by level."""
        found = tree_cells(self.source) if self.mesh.kind == "octree" else patch_cells(self.mesh, self.blocks)
        if self.deepest is None:
            return found
        return found[: self.deepest] + [level.as_leaves for level in found[self.deepest : self.deepest + 1]]

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [Level(self, n) for n in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"level {number} of {len(self)}")
        return Level(self, number % len(self))

    def __repr__(self) -> str:
        counts = ", ".join(str(len(cells.index)) for cells in self.cells)
        return f"<sidestream.Levels {self.path}: '{self.mesh.name}', cells by level: {counts}>"

    def spacing(self, level: int) -> NDArray[np.float64]:
        """Sizes of a level's cells, along the axes of the mesh; the level need not exist."""
        return (self.mesh.spacing / self.mesh.ratio(0, level))[: self.mesh.dimensions]

    def values(self, name: str, level: int, chosen: NDArray[np.bool_]) -> NDArray[Any]:
        """Reads the values of the chosen cells of a level. Blocks without any of them are not read; blocks that were
        not published give NaN, or 0."""
        named, cells = self.variables[name], self.cells[level]
        more = (named.components,) if named.components > 1 else ()
        fill = np.nan if named.dtype.kind == "f" else 0
        out = np.full((int(chosen.sum()), *more), fill, named.dtype)
        block, place = cells.block[chosen], cells.place[chosen]
        for n in np.unique(block):
            mine = block == n
            # Cells of one level of a tree are contiguous, and nothing else is read.
            tree = self.mesh.kind == "octree"
            first, past = (int(place[mine].min()), int(place[mine].max()) + 1) if tree else (0, None)
            stored = self.source.read(name, self.blocks[n], first, past)
            if stored is not None:
                out[mine] = in_cell_order(stored, named, self.mesh, self.blocks[n])[place[mine] - first]
        return out

    def _box(self, level: int, box: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        ratio, used = self.mesh.ratio(0, level), self.mesh.dimensions
        lo, hi = self.mesh.lo * ratio, self.mesh.hi * ratio
        if box is not None:
            lo, hi = lo.copy(), hi.copy()
            given = np.array(box, np.int64)
            if given.shape != (2, used) or np.any(given[0] >= given[1]):
                raise Error(
                    f"covering_grid: found the box {box}, expected (lo, hi) with {used} numbers each, the first and "
                    f"the last index + 1 of cells of level {level} along {', '.join('ijk'[:used])}"
                )
            lo[:used], hi[:used] = given
        return lo, hi

    def covering_array(self, variable: str, level: int, box: Any = None, finer: Finer = "mean") -> NDArray[Any]:
        """Returns `covering_grid` as an array of NumPy, k first."""
        if variable not in self.variables:
            raise Error(f"covering_grid: there is no variable '{variable}' in cells, but {', '.join(self.variables)}")
        if finer not in ("mean", "sample"):
            raise Error(f"covering_grid: finer is '{finer}', expected 'mean' or 'sample'")
        if level < 0 or (self.mesh.kind != "octree" and level > len(self.mesh.ratios)):
            raise Error(
                f"covering_grid: level {level}, expected 0 to {len(self.mesh.ratios)}, which '{self.mesh.name}' has"
            )
        lo, hi = self._box(level, box)
        named = self.variables[variable]
        like = np.empty((0, named.components) if named.components > 1 else 0, named.dtype)
        values = covering_values(
            self.mesh, self.cells, lambda n, chosen: self.values(variable, n, chosen), level, (lo, hi), finer, like
        )
        used = self.mesh.dimensions
        return values.reshape(*values.shape[3 - used : 3], *values.shape[3:])

    def covering_grid(self, variable: str, level: int, box: Any = None, finer: Finer = "mean") -> "xarray.DataArray":
        """Returns a region at one resolution. `box` is (lo, hi), half-open, in (i, j, k) of cells of `level`; None: the
        whole mesh. Coarser cells fill the cells that they cover. For finer cells `mean` takes the mean by volume and
        `sample` the cell at the centre (of two, the upper one). Every place counts once, on its finest level; where no
        block has anything it is NaN, or 0 for whole numbers with `sample`."""
        if find_spec("xarray") is None:
            raise Error("covering_grid: xarray is not installed; install it, or use covering_array")
        import xarray as xr

        values = self.covering_array(variable, level, box, finer)
        lo, hi = self._box(level, box)
        used, spacing = self.mesh.dimensions, self.spacing(level)
        dims = tuple("xyz"[:used][::-1])
        coords = {
            axis: self.mesh.origin[n] + spacing[n] * (np.arange(lo[n], hi[n]) + 0.5)
            for n, axis in enumerate("xyz"[:used])
        }
        more = (f"component_{values.shape[-1]}",) if values.ndim > used else ()
        unit = self.variables[variable].unit
        attrs = {"level": level, "finer": finer, **({"units": unit} if unit else {})}
        return xr.DataArray(values, coords, (*dims, *more), variable, attrs)

    def to_yt(self, variables: list[str] | None = None, **options: Any) -> Any:
        """Returns a data set of yt, in memory: all variables, or the named ones, as fields ("stream", NAME), components
        as ("stream", NAME_x) and so on. `options` go to yt.load_octree or yt.load_amr_grids."""
        if find_spec("yt") is None:
            raise Error("to_yt: the package yt is not installed; install it")
        from .into_yt import load_into_yt

        return load_into_yt(self, variables, **options)
