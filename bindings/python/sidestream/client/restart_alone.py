"""A checkpoint that is read by one process, with NumPy and without MPI."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from ..reader.journal import Slot, read_journal
from ..reader.region import read_region, read_stretch
from ..reader.stored import Context, Variable
from .checkpoint import StoredBlock, StoredVariable


def _three(numbers: Any) -> tuple[int, int, int]:
    a, b, c = (int(n) for n in numbers)
    return a, b, c


def _newest_whole(place: Path, slots: list[Slot], remarks: list[str]) -> Context:
    for slot in reversed(slots):
        try:
            context = Context(place, slot)
            context.verify()
            return context
        except Error as problem:
            remarks.append(
                f"the checkpoint of iteration {slot.iteration}, cycle {slot.cycle} is passed over: {problem}"
            )
    raise Error(f"no checkpoint in '{place}' is whole: {'; '.join(remarks)}", Code.FILE)


class Alone:
    """The newest checkpoint, or that of a cycle."""

    def __init__(self, directory: Path, cycle: int | None) -> None:
        journal = read_journal(directory)
        self.remarks = list(journal.remarks)
        checkpoints = [slot for slot in journal.slots if slot.kind == "checkpoint"]
        slots = [slot for slot in checkpoints if cycle in (None, slot.cycle)]
        if not slots:
            there = ", ".join(str(slot.cycle) for slot in checkpoints[-8:]) or "none"
            asked = "checkpoint" if cycle is None else f"checkpoint of cycle {cycle}"
            raise Error(f"'{directory}' has no {asked}; the last ones are of the cycles: {there}", Code.FILE)
        self._context = _newest_whole(directory, slots, self.remarks)
        slot = self._context.slot
        self.iteration = (slot.iteration, slot.cycle, slot.time)
        self.meshes = tuple(self._context.meshes)
        self.variables = {name: self._described(v) for name, v in self._context.variables.items()}

    def _described(self, of: Variable) -> StoredVariable:
        about = self._context.meshes[of.mesh]
        is_list = self._context.is_list(of.mesh)
        length = sum(int(p.hi[0]) for p in self._context.pieces(of)) if is_list else 0
        lo = (0, 0, 0) if is_list else _three(about["cells"][0])
        hi = (0, 0, 0) if is_list else _three(np.array(about["cells"][1]) + of.beyond(about))
        dtype = of.dtype.newbyteorder("=")
        of_all = (of.name, of.mesh, dtype, of.components, of.centering, of.order)
        return StoredVariable(*of_all, is_list, lo, hi, length, of.role, "points" in about)

    def blocks(self, mesh: str) -> list[StoredBlock]:
        found = []
        about = self._context.meshes[mesh]
        # The last block has one cell less than owned points, as it was declared, along axes that are not periodic.
        ends = np.array([not p and "points" in about for p in about["periodic"]])
        ends &= np.arange(3) < about["dimensions"]
        for b in self._context.blocks(mesh):
            numbers = (int(b["id"]), int(b["level"]), int(b["client"]))
            hi = b["hi"] + (ends & (b["hi"] == about["cells"][1]))
            found.append(StoredBlock(*numbers, _three(b["lo"]), _three(hi), *_three(b["lengths"])))
        return found

    def read_box(self, of: StoredVariable, level: int, lo: list[int], hi: list[int], out: NDArray[Any]) -> None:
        variable = self._context.variables[of.name]
        box = np.array(lo, np.int64), np.maximum(np.array(hi, np.int64), lo)
        pieces = self._context.pieces(variable, level)
        values, covered = read_region(self._context, variable, level, *box, pieces)
        missing = covered.size - int(np.count_nonzero(covered))
        if missing:
            raise Error(
                f"{missing} of the {covered.size} points of '{of.name}' that were asked for on level {level} are in no "
                "block of the checkpoint; ask for points that were published",
                Code.FILE,
            )
        out[...] = values.reshape(out.shape)

    def read_list(self, of: StoredVariable, first: int, count: int, out: NDArray[Any]) -> None:
        variable = self._context.variables[of.name]
        pieces = self._context.pieces(variable)
        out[...] = read_stretch(self._context, variable, first, first + count, pieces).reshape(out.shape)

    def read_block(self, of: StoredVariable, block: StoredBlock, out: NDArray[Any]) -> None:
        variable = self._context.variables[of.name]
        piece = next((p for p in self._context.pieces(variable) if p.block["id"] == block.id), None)
        if piece is None:
            raise Error(f"the checkpoint has no values of '{of.name}' on block {block.id}", Code.FILE)
        out[...] = self._context.read(variable, piece).reshape(out.shape)

    def close(self) -> None:
        """Does nothing: files are open only while they are read."""
