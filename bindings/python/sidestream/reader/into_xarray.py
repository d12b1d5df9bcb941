"""Fields as xarray's data sets, which read only the values that a computation needs: in Dask's chunks if Dask is
installed, otherwise on access."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from .lazy import OF_ITERATION, Fields, LazyArray


class _OnAccess(BackendArray):
    """A lazy array in the form of xarray's own lazy indexing."""

    def __init__(self, array: LazyArray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        basic = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, basic, self.array.__getitem__)


def _data_of(array: LazyArray) -> Any:
    if find_spec("dask") is None or array.size == 0:
        return indexing.LazilyIndexedArray(_OnAccess(array))
    import dask.array

    meta = np.empty((0,) * array.ndim, array.dtype)
    return dask.array.from_array(array, chunks=array.chunks, name=False, meta=meta)


def _yielding(fields: Fields) -> dict[str, str]:
    """New names of dimensions and coordinates that have the name of a variable: xarray allows each name once, and
    published names stay."""
    ours = [name for array in fields.values() for name in array.dims]
    ours += [*fields.coords, *(name for name in OF_ITERATION if name in fields.attrs)]
    taken = {*fields, *ours}
    renamed: dict[str, str] = {}
    for name in dict.fromkeys(ours):
        if name not in fields:
            continue
        new = f"{name}_axis"
        while new in taken:
            new += "_"
        taken.add(new)
        renamed[name] = new
    return renamed


def dataset_of(fields: Fields) -> xr.Dataset:
    """The data set. Time, cycle and iteration are coordinates, without an axis for one file. A coordinate or dimension
    with the name of a variable gets `_axis` appended."""
    renamed = _yielding(fields)

    def named(name: str) -> str:
        return renamed.get(name, name)

    coords: dict[str, Any] = {
        named(name): (tuple(map(named, dims)), values, fields.about.get(name, {}))
        for name, (dims, values) in fields.coords.items()
    }
    attrs = {name: value for name, value in fields.attrs.items() if name not in OF_ITERATION}
    for name in OF_ITERATION:
        if name in fields.attrs:
            coords[named(name)] = fields.attrs[name]
    variables = {name: xr.Variable(tuple(map(named, a.dims)), _data_of(a), dict(a.attrs)) for name, a in fields.items()}
    return xr.Dataset(variables, coords, attrs)
