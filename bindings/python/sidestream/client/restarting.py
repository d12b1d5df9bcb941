"""Restarting from a checkpoint, on any number of processes. sidestream/restart.h describes the calls too."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import Error
from .checkpoint import Source, StoredBlock, StoredVariable

if TYPE_CHECKING:
    from mpi4py import MPI


class Restart:
    """A checkpoint. Opening is collective over `comm`; then each rank reads what it wants, when it wants.

    Boxes are half-open, in (i, j, k), in points of the variable. Arrays have the axes of `Session.publish`: [k, j, i]
    for a variable in column order, [i, j, k] in row order, components last. Ghosts are not stored: points of a box come
    from the blocks that own them, and there are none beyond the domain.
    """

    def __init__(
        self, directory: str | os.PathLike[str], comm: "MPI.Comm | None" = None, *, cycle: int | None = None
    ) -> None:
        """Opens the newest checkpoint, or the newest of `cycle`, that is undamaged in every byte. A damaged one is
        passed over, see `remarks`. Without `comm` only this process reads it, with NumPy and without MPI. Data that is
        packed with zstd then needs the package zstandard, and damage is noticed only with xxhash."""
        self._source = _source_of(Path(directory), comm, cycle)
        self.directory = Path(directory)
        self.iteration, self.cycle, self.time = self._source.iteration
        self.remarks = tuple(self._source.remarks)
        self.meshes = self._source.meshes
        self.variables: Mapping[str, StoredVariable] = dict(self._source.variables)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the checkpoint; arrays that were read stay valid. Not collective."""
        self._source.close()

    def __getitem__(self, variable: str) -> StoredVariable:
        if variable not in self.variables:
            known = ", ".join(self.variables) or "none"
            raise Error(f"restart: the checkpoint has no variable '{variable}', but {known}; correct the name")
        return self.variables[variable]

    def blocks(self, mesh: str) -> list[StoredBlock]:
        """The blocks of a mesh as they were published, by level and id."""
        if mesh not in self.meshes:
            known = ", ".join(self.meshes) or "none"
            raise Error(f"restart: the checkpoint has no mesh '{mesh}', but {known}; correct the name")
        return self._source.blocks(mesh)

    def read_box(
        self,
        variable: str,
        lo: Sequence[int],
        hi: Sequence[int],
        *,
        level: int = 0,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Reads the points `lo` to `hi` into `out`, of any strides, or a new array. `lo` and `hi` have an entry for
        each axis of the mesh. A point that several blocks had comes from the block of lowest id. A point that was in no
        block is an error."""
        of = self[variable]
        if of.is_list:
            raise Error(f"restart: '{variable}' is a list; read it with read_list or read_block")
        if len(lo) != len(hi) or not 1 <= len(lo) <= 3:
            raise Error(
                f"restart: read_box of '{variable}': lo has {len(lo)} entries and hi {len(hi)}, expected 1 to 3, as "
                "many of each; give one for each axis of the mesh"
            )
        shape = [max(int(b) - int(a), 0) for a, b in zip(lo, hi, strict=True)]
        more = 3 - len(lo)
        first, past = [*map(int, lo), *(0,) * more], [*map(int, hi), *(1,) * more]
        fill = lambda array: self._source.read_box(of, level, first, past, array)  # noqa: E731
        return _filled(of, "read_box", shape, out, fill)

    def read_list(
        self, variable: str, first: int = 0, count: int | None = None, *, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Reads `count` values of a list, or all that are left, from `first` on. The lists of all blocks follow each
        other by ascending id."""
        of = self[variable]
        if not of.is_list:
            raise Error(f"restart: '{variable}' is no list; read it with read_box or read_block")
        count = max(of.length - first, 0) if count is None else count
        if first < 0 or count < 0 or first + count > of.length:
            raise Error(
                f"restart: read_list of '{variable}': {count} values from {first} on were asked for, but its blocks "
                f"have {of.length}; ask for fewer"
            )
        return _filled(of, "read_list", [count], out, lambda array: self._source.read_list(of, first, count, array))

    def read_block(self, variable: str, block: int, *, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Reads everything that was published for one block. Boxes have three axes; those that the mesh lacks have one
        point."""
        of = self[variable]
        found = next((b for b in self._source.blocks(of.mesh) if b.id == block), None)
        if found is None:
            raise Error(f"restart: '{of.mesh}' has no block {block} in the checkpoint; see which there are with blocks")
        shape = _shape_on(of, found)
        return _filled(of, "read_block", shape, out, lambda array: self._source.read_block(of, found, array))


def restart(directory: str | os.PathLike[str], comm: "MPI.Comm | None" = None, *, cycle: int | None = None) -> Restart:
    """Finds a checkpoint to restart from, for a `with` statement, which closes it. See Restart."""
    return Restart(directory, comm, cycle=cycle)


def _shape_on(of: StoredVariable, block: StoredBlock) -> list[int]:
    """The shape along i, j, k; for a list its length."""
    if of.is_list:
        of_own = {"connectivity": block.corners, "faces": block.faces}
        return [of_own.get(of.role, block.points if of.centering else block.hi[0])]
    if of.owned:
        return [min(b, end) - a for a, b, end in zip(block.lo, block.hi, of.hi, strict=True)]
    return [b - a + (of.centering >> axis & 1) for axis, (a, b) in enumerate(zip(block.lo, block.hi, strict=True))]


def _filled(of: StoredVariable, call: str, points: list[int], out: NDArray[Any] | None, fill: Any) -> NDArray[Any]:
    """`out`, or a new array, filled by `fill` through a contiguous array."""
    shape = tuple(points if of.order == "row" or of.is_list else points[::-1])
    shape += (of.components,) if of.components > 1 else ()
    if out is None:
        out = np.empty(shape, of.dtype)
    if out.shape != shape or out.dtype != of.dtype:
        raise Error(
            f"restart: {call} of '{of.name}': out is of {out.dtype} and has the shape {out.shape}, expected {of.dtype} "
            f"and {shape}"
        )
    if out.flags.c_contiguous and out.flags.writeable:
        fill(out)
    else:
        whole = np.empty(shape, of.dtype)
        fill(whole)
        out[...] = whole
    return out


def _source_of(directory: Path, comm: Any, cycle: int | None) -> Source:
    if comm is None:
        from .restart_alone import Alone

        return Alone(directory, cycle)
    from .flavour import choose

    choose()
    from .restart_together import Together

    return Together(directory, comm, cycle)
