"""Values that HDF5 files hold with a reduced precision: docs/precision.md."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error


def declared_type(data: h5py.Dataset, declared: Any) -> np.dtype[Any]:
    """The type that the simulation declared, whatever the file stores; that of the file if the attributes `declared`
    name none."""
    return np.dtype(str(declared["type"])) if "type" in declared else data.dtype


def _stored(data: h5py.Dataset, index: Any) -> NDArray[Any]:
    try:
        return np.asarray(data[index])
    except OSError as problem:
        if not any(word in str(problem) for word in ("filter", "plugin")):
            raise
        if find_spec("hdf5plugin") is None:
            raise Error(
                f"{data.file.filename}: {data.name} is packed with a filter that HDF5 does not have here ({problem}); "
                "install the package hdf5plugin",
                Code.FILE,
            ) from problem
    import_module("hdf5plugin")  # makes the filters known
    return np.asarray(data[index])


def values_of(data: h5py.Dataset, index: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of a part of a dataset, computed from its numbers if it has a scale."""
    stored = _stored(data, index)
    if "scale_factor" not in data.attrs:
        return stored.astype(dtype, copy=False)
    values = stored * np.float64(data.attrs["scale_factor"]) + np.float64(data.attrs["add_offset"])
    return np.where(stored == data.attrs["_FillValue"], np.nan, values).astype(dtype)
