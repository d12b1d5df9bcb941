"""Fields as xarray's data sets, which read what is computed with: in Dask's chunks if Dask is there, else on access."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from .lazy import Fields, LazyArray


class _OnAccess(BackendArray):
    """A lazy array as xarray's own laziness takes it."""

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


def dataset_of(fields: Fields) -> xr.Dataset:
    """Time, cycle and iteration are coordinates, of one file without an axis."""
    coords: dict[str, Any] = {name: (dims, values) for name, (dims, values) in fields.coords.items()}
    attrs = {name: value for name, value in fields.attrs.items() if name not in ("iteration", "cycle", "time")}
    for name in ("iteration", "cycle", "time"):
        if name in fields.attrs:
            coords[name] = fields.attrs[name]
    variables = {name: xr.Variable(a.dims, _data_of(a), dict(a.attrs)) for name, a in fields.items()}
    return xr.Dataset(variables, coords, attrs)
