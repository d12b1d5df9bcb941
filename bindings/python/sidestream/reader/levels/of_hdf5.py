"""The servers' HDF5 files of an iteration as a source of the blocks of a refined mesh."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ...errors import Code, Error
from ..axes import NODES
from ..precision import declared_type, values_of
from .sources import ROLES, BlockOf, Named, RefinedMesh, one_of


@dataclass(frozen=True)
class _Stored:
    """A block of a variable in a server's file."""

    path: Path
    name: str
    block: BlockOf
    lo: NDArray[np.int64]  # origin of the dataset's region, ghosts included


class OfHdf5:
    """The servers' files next to one that shows everything."""

    def __init__(self, path: Path, mesh: str | None) -> None:
        self.path = path
        with h5py.File(path, "r") as file:
            kinds = {n: str(m.attrs.get("kind", "")) for n, m in file["meshes"].items()}
            chosen = one_of(path, [n for n, kind in kinds.items() if kind in ("octree", "uniform")], mesh)
            self.mesh = self._mesh(file[f"meshes/{chosen}"], chosen)
            self.attrs = {name: file.attrs[name].item() for name in ("iteration", "cycle", "time")}
            times = file[f"meshes/{chosen}"].attrs.get("level_times")
            if times is not None:
                self.attrs["level_times"] = [float(time) for time in times]
            files = [path.parent / str(name) for name in file.attrs.get("files", ())]
        self._named: dict[str, Named] = {}
        self._stored: dict[str, dict[tuple[int, int], _Stored]] = {}
        for server in files:
            if not server.is_file():
                raise Error(f"{path}: the file '{server.name}' with blocks is missing beside it", Code.FILE)
            self._scan(server)

    def _mesh(self, group: h5py.Group, name: str) -> RefinedMesh:
        attrs, kind = group.attrs, str(group.attrs["kind"])
        lo, hi = ([0] * 3, attrs["roots"]) if kind == "octree" else (attrs["lo"], attrs["hi"])
        ratios = attrs["refinement"].reshape(-1, 3) if "refinement" in attrs else ()
        return RefinedMesh(
            *(name, kind, int(attrs["dimensions"])),
            *(np.array(lo, np.int64), np.array(hi, np.int64)),
            *(np.array(attrs["origin"], np.float64), np.array(attrs["spacing"], np.float64)),
            tuple(tuple(int(n) for n in ratio) for ratio in ratios),
            {role: str(attrs[role]).rsplit("/", 1)[-1] for role in ROLES if role in attrs},
        )

    def _scan(self, server: Path) -> None:
        def visit(_: str, item: h5py.Group | h5py.Dataset) -> None:
            if isinstance(item, h5py.Dataset) and item.parent.attrs.get("mesh") == self.mesh.name:
                self._add(server, item)

        with h5py.File(server, "r") as file:
            if "variables" in file:
                file["variables"].visititems(visit)

    def _add(self, server: Path, data: h5py.Dataset) -> None:
        about = data.parent.attrs
        if NODES[str(about["centering"])] != "":
            return
        name = data.parent.name.rsplit("/", 1)[-1]
        kind = Named(
            name, declared_type(data, about), int(about["components"]), str(about["order"]), str(about["unit"])
        )
        self._named.setdefault(name, kind)
        lo = data.attrs["points_lo"] if "points_lo" in data.attrs else data.attrs["lo"]
        hi = data.attrs["points_hi"] if "points_hi" in data.attrs else data.attrs["hi"]
        block = BlockOf(int(data.attrs["id"]), int(data.attrs["level"]), np.array(lo), np.array(hi))
        stored = _Stored(server, data.name, block, np.array(data.attrs["lo"]))
        self._stored.setdefault(name, {})[block.level, block.id] = stored

    def variables(self) -> dict[str, Named]:
        return dict(self._named)

    def blocks(self) -> list[BlockOf]:
        found = {key: stored.block for of in self._stored.values() for key, stored in of.items()}
        return [found[key] for key in sorted(found)]

    def read(self, name: str, block: BlockOf, first: int = 0, past: int | None = None) -> NDArray[Any] | None:
        stored = self._stored.get(name, {}).get((block.level, block.id))
        if stored is None:
            return None
        axes = range(1 if self.mesh.kind == "octree" else self.mesh.dimensions)
        order = axes if self._named[name].order == "row" else reversed(axes)
        lo, hi = block.lo - stored.lo, block.hi - stored.lo
        if self.mesh.kind == "octree":
            lo[0], hi[0] = lo[0] + first, hi[0] if past is None else lo[0] + past
        with h5py.File(stored.path, "r") as file:
            index = tuple(slice(int(lo[a]), int(hi[a])) for a in order)
            return values_of(file[stored.name], index, self._named[name].dtype)
