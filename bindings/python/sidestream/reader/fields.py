"""HDF5 files of Sidestream: fields, and data sets that analyses write. See docs/format-hdf5.md and docs/formats.md."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from .axes import about_axes, blocks_of, coordinates_of, cuts_of, dimensions_of, is_list, texts
from .lazy import Fields, FileArray
from .precision import declared_type

NEWEST = {"sidestream-fields": 3, "sidestream-data-set": 1}


def _format_of(file: h5py.File, path: Path) -> str:
    found = str(file.attrs.get("format", ""))
    if found == "sidestream-blocks":
        raise Error(
            f"{path}: this file holds the blocks of one server; open the one that shows all, whose name lacks the "
            "number of the server",
            Code.FILE,
        )
    if found not in NEWEST:
        raise Error(f"{path}: the attribute `format` is '{found}', expected one of {', '.join(NEWEST)}", Code.FILE)
    version = int(file.attrs["version"])
    if version > NEWEST[found]:
        raise Error(
            f"{path}: version {version} of {found}, expected {NEWEST[found]} at most; use a newer Sidestream", Code.FILE
        )
    return found


def _check_files(file: h5py.File, path: Path) -> None:
    """Refuses a file that refers to a missing one, because it would read as if no block covered that part."""
    for name in file.attrs.get("files", ()):
        if not (path.parent / str(name)).is_file():
            raise Error(f"{path}: the file '{name}' with blocks is missing beside it; move them together", Code.FILE)


def _attributes(file: h5py.File) -> dict[str, Any]:
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in file.attrs.items()}


def free_attributes(attrs: Any) -> dict[str, Any]:
    """Attributes that the configuration or the program sets."""
    names = [str(name) for name in attrs.get("attributes", ())]
    return {name: attrs[name].item() if isinstance(attrs[name], np.generic) else attrs[name] for name in names}


def _variables(file: h5py.File) -> dict[str, h5py.Dataset]:
    """Returns the datasets by path, or by the last part of it if that is unambiguous."""
    found: dict[str, h5py.Dataset] = {}

    def visit(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item

    if "variables" in file:  # earlier versions: not if no block had a point
        file["variables"].visititems(visit)
    return found


def _attributes_of(variable: h5py.Dataset) -> dict[str, Any]:
    named = texts(variable.attrs, "unit", "label")
    attrs: dict[str, Any] = {"units": named["unit"]} if "unit" in named else {}
    attrs |= {"long_name": named["label"]} if "label" in named else {}
    attrs |= texts(variable.attrs, "mesh", "centering", "order", "precision")
    if "missing" in variable.attrs:
        attrs["missing"] = int(variable.attrs["missing"])
    return attrs | free_attributes(variable.attrs)


class _Reading:
    """Converts a file of fields to arrays and coordinates."""

    def __init__(self, file: h5py.File, path: Path) -> None:
        self.file, self.path = file, path
        self.sizes: dict[str, int] = {}
        self.arrays: dict[str, Any] = {}
        self.coords: dict[str, tuple[tuple[str, ...], NDArray[Any]]] = {}
        self.about: dict[str, dict[str, str]] = {}

    def fitting(self, name: str, dims: tuple[str, ...], shape: tuple[int, ...]) -> tuple[str, ...]:
        """The dimensions, renamed where another one of that name has a different length."""
        found = tuple(
            d if self.sizes.get(d, n) == n else f"{name.replace('/', '_')}_{d}"
            for d, n in zip(dims, shape, strict=True)
        )
        self.sizes |= dict(zip(found, shape, strict=True))
        return found

    def add(self, name: str, variable: h5py.Dataset, prefix: str) -> None:
        mesh = self.file[f"meshes/{variable.attrs['mesh']}"]
        named = dimensions_of(name.replace("/", "_"), variable, mesh, prefix)
        dims = self.fitting(name, named, variable.shape)
        dtype = declared_type(variable, variable.attrs)
        self.arrays[name] = FileArray(
            dims, variable.shape, dtype, _attributes_of(variable), cuts_of(variable), self.path, variable.name
        )
        for (axis, positions), about in zip(
            coordinates_of(variable, mesh, prefix).items(), about_axes(mesh), strict=False
        ):
            dim = dims[named.index(axis)]
            self.coords.setdefault(dim, ((dim,), positions))
            self.about.setdefault(dim, about)
        if is_list(mesh):
            self.coords.setdefault(f"{dims[0]}_block", ((dims[0],), blocks_of(variable)))


def _read_fields(file: h5py.File, path: Path) -> Fields:
    _check_files(file, path)
    reading = _Reading(file, path)
    found = _variables(file)
    short = [name.rsplit("/", 1)[-1] for name in found]
    meshes = {str(variable.attrs["mesh"]) for variable in found.values()}
    for name, variable in found.items():
        own = name.rsplit("/", 1)[-1]
        prefix = f"{variable.attrs['mesh']}_" if len(meshes) > 1 else ""
        reading.add(own if short.count(own) == 1 else name, variable, prefix)
    attrs = _attributes(file)
    for name in sorted(meshes):
        attrs |= {f"{name}_{key}": value for key, value in free_attributes(file[f"meshes/{name}"].attrs).items()}
    return Fields(path, reading.arrays, reading.coords, attrs, reading.about)


def _read_data_set(file: h5py.File, path: Path) -> Fields:
    reading = _Reading(file, path)
    for name, data in file.items():
        labels = [str(label) for label in data.attrs.get("DIMENSION_LABELS", ())]
        named = tuple(labels) or tuple(f"{name}_{n}" for n in range(data.ndim))
        attrs = {k: v for k, v in data.attrs.items() if k not in ("DIMENSION_LABELS", "unit", "start", "extents")}
        if str(data.attrs.get("unit", "")):
            attrs["units"] = str(data.attrs["unit"])
        dims = reading.fitting(name, named, data.shape)
        chunks = cuts_of(data)
        reading.arrays[name] = FileArray(dims, data.shape, data.dtype, attrs, chunks, path, data.name)
    return Fields(path, reading.arrays, {}, _attributes(file))


def read_hdf5(path: Path) -> Fields:
    """The arrays of a file, without their values."""
    try:
        with h5py.File(path, "r") as file:
            return (
                _read_fields(file, path)
                if _format_of(file, path) == "sidestream-fields"
                else _read_data_set(file, path)
            )
    except OSError as problem:
        raise Error(f"{path}: this is no HDF5 file that can be read ({problem})", Code.FILE) from problem
