"""Surfaces in VTKHDF files of Sidestream."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
from numpy.typing import NDArray

from ...errors import Code, Error
from ..lazy import Fields, FileArray, Index, LazyArray
from .files import OF_ITERATION
from .lists import CORNERS
from .parts import components_of

# VTKHDF's names for the sections of VTK's XML files.
SECTIONS = {"Verts": "Vertices", "Lines": "Lines", "Polys": "Polygons"}


def _hdf5_array(data: h5py.Dataset, path: Path, dim: str, shape: tuple[int, ...] | None = None) -> FileArray:
    dims, more = components_of(data.shape[1] if data.ndim > 1 else 1)
    shape = (data.shape[0], *more)
    return FileArray((dim, *dims), shape, data.dtype, {}, tuple((n,) for n in shape), path, data.name)


@dataclass(frozen=True, eq=False)
class _Corners(LazyArray):
    """A connectivity of cells with an equal number of corners, a row for each."""

    links: FileArray = field(repr=False)

    def _read(self, index: Index) -> NDArray[Any]:
        return self.links[...].reshape(self.shape)[index]


def read_vtkhdf(path: Path) -> Fields:
    """The arrays of a surface in VTKHDF, without their values."""
    try:
        with h5py.File(path, "r") as file:
            root = file["VTKHDF"]
            kind = root.attrs["Type"]
            kind = kind.decode() if isinstance(kind, bytes) else str(kind)
            if kind != "PolyData":
                raise Error(f"{path}: VTKHDF of type '{kind}', expected PolyData, as Sidestream writes it", Code.FILE)
            arrays: dict[str, LazyArray] = {n: _hdf5_array(d, path, "point") for n, d in root["PointData"].items()}
            arrays["points"] = _hdf5_array(root["Points"], path, "point")
            for section, (width, name) in CORNERS.items():
                cells = root[SECTIONS[section]]
                count = int(cells["NumberOfCells"][0])
                if count:
                    links = _hdf5_array(cells["Connectivity"], path, "link")
                    shape = (count, width) if width > 1 else (count,)
                    dims = (name, f"{name}_corner")[: len(shape)]
                    arrays[name] = _Corners(dims, shape, links.dtype, {}, tuple((n,) for n in shape), links)
            fields = root["FieldData"]
            return Fields(path, arrays, {}, {own: fields[name][0].item() for name, own in OF_ITERATION.items()})
    except (OSError, KeyError) as problem:
        raise Error(f"{path}: this is no VTKHDF file that can be read ({problem})", Code.FILE) from problem
