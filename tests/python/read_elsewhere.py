"""Reads variables of an HDF5 file with one of other people's readers, each in a process of its own, since their HDF5
libraries do not go together.

Usage: read_elsewhere.py h5py|netCDF4|h5netcdf|xarray-netcdf4|xarray-h5netcdf FILE NAME... > VALUES.npz
"""

import io
import sys
from importlib import import_module
from importlib.util import find_spec

import numpy as np


def with_h5py(path, names):
    import h5py

    if find_spec("hdf5plugin"):
        import_module("hdf5plugin")
    with h5py.File(path) as file:
        return {name: file[f"variables/{name}"][...] for name in names}


def with_netcdf4(path, names):
    import netCDF4

    with netCDF4.Dataset(path) as file:
        found = {name: file["variables"][name][...] for name in names}
    return {name: np.ma.filled(array, np.nan) if array.dtype.kind == "f" else array for name, array in found.items()}


def with_h5netcdf(path, names):
    import h5netcdf

    with h5netcdf.File(path, "r", phony_dims="sort") as file:
        return {name: file["variables"][name][...] for name in names}


def with_xarray(engine):
    def read(path, names):
        import xarray

        more = {"phony_dims": "sort"} if engine == "h5netcdf" else {}
        with xarray.open_dataset(path, group="variables", engine=engine, **more) as found:
            return {name: found[name].values for name in names}

    return read


READERS = {
    "h5py": with_h5py,
    "netCDF4": with_netcdf4,
    "h5netcdf": with_h5netcdf,
    "xarray-netcdf4": with_xarray("netcdf4"),
    "xarray-h5netcdf": with_xarray("h5netcdf"),
}

if __name__ == "__main__":
    arrays = READERS[sys.argv[1]](sys.argv[2], sys.argv[3:])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    sys.stdout.buffer.write(buffer.getvalue())
