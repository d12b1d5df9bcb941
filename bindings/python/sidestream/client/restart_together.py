"""A checkpoint that is read by the ranks of a communicator, each reading what it needs."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _client
from .checkpoint import StoredBlock, StoredVariable
from .communicator import handle_of
from .declaring import ORDERS, TYPES, Role


def _three(numbers: list[int]) -> tuple[int, int, int]:
    a, b, c = numbers
    return a, b, c


class Together:
    """Calls the functions of restart.h."""

    def __init__(self, directory: Path, comm: Any, cycle: int | None) -> None:
        self._restart = _client.Restart(handle_of(comm, "restart"), os.fsencode(directory), cycle)
        self.iteration = self._restart.iteration()
        self.remarks = self._restart.remarks().splitlines()
        self.meshes = tuple(self._restart.meshes())
        self.variables = {name: self._variable(name) for name in self._restart.variables()}
        self._blocks: dict[str, list[StoredBlock]] = {}

    def _variable(self, name: str) -> StoredVariable:
        mesh, numbers, lo, hi = self._restart.variable(name)
        kind, components, centering, row, is_list, length, role, owned = numbers
        named = Role(role).name.lower() if role else "none"
        dtype, order = np.dtype(TYPES[kind]), ORDERS[row]
        three = _three(lo), _three(hi)
        of_all = (name, mesh, dtype, components, centering, order, bool(is_list))
        return StoredVariable(*of_all, *three, length, named, bool(owned))

    def blocks(self, mesh: str) -> list[StoredBlock]:
        if mesh not in self._blocks:
            found = self._restart.blocks(mesh)
            self._blocks[mesh] = [StoredBlock(*of[:3], _three(lo), _three(hi), *of[3:]) for of, lo, hi in found]
        return self._blocks[mesh]

    def read_box(self, of: StoredVariable, level: int, lo: list[int], hi: list[int], out: NDArray[Any]) -> None:
        self._restart.read_box(of.name, level, lo, hi, out)

    def read_list(self, of: StoredVariable, first: int, count: int, out: NDArray[Any]) -> None:
        self._restart.read_list(of.name, first, count, out)

    def read_block(self, of: StoredVariable, block: StoredBlock, out: NDArray[Any]) -> None:
        self._restart.read_block(of.name, block.id, out)

    def close(self) -> None:
        self._restart.close()
