"""Export as NetCDF-4, after the CF conventions: one file with a time axis."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Error
from .arrays import Layout, Shape, clean, layout_of, parts_of
from .parts import Job, Progress, Remarks

_AXES = {"x": "X", "y": "Y", "z": "Z"}


def _axis_of(name: str) -> str | None:
    """CF's axis of a coordinate: x, box_x, box_x_node, ..."""
    parts = [part for part in name.split("_") if part != "node" and not part.startswith("level")]
    return _AXES.get(parts[-1]) if parts else None


def _add_coordinates(file: Any, layout: Layout, time_units: str | None) -> None:
    file.createDimension("time", len(layout.times["time"]))
    for name, values in layout.times.items():
        variable = file.createVariable(name, values.dtype, ("time",))
        variable[:] = values
    about = {"axis": "T", "long_name": "time of the simulation", "units": time_units or "1"}
    if time_units:
        about |= {"standard_name": "time", "calendar": "standard"}
    file["time"].setncatts(about)
    file["cycle"].setncatts({"long_name": "cycle of the simulation", "units": "1"})
    file["iteration"].setncatts({"long_name": "number of the publication", "units": "1"})
    for name, (dims, values) in layout.coords.items():
        for dim, size in zip(dims, values.shape, strict=True):
            if clean(dim) not in file.dimensions:
                file.createDimension(clean(dim), size)
        variable = file.createVariable(clean(name), values.dtype, tuple(map(clean, dims)))
        variable[:] = values
        axis = _axis_of(name)
        if axis is not None:
            variable.setncatts({"axis": axis, "long_name": f"{axis.lower()} of the points"})


def _add_dimensions(file: Any, shape: Shape, first: int) -> None:
    for dim, size in zip(shape.dims[first:], shape.shape[first:], strict=True):
        if clean(dim) not in file.dimensions:
            file.createDimension(clean(dim), size)


def _attributes(name: str, shape: Shape) -> dict[str, Any]:
    about = {"units": "1", "long_name": name} | {k: v for k, v in shape.attrs.items() if isinstance(v, (str, int))}
    return about | ({"coordinates": "cycle iteration"} if not shape.changes else {})


def _add_variable(file: Any, name: str, shape: Shape, packed: dict[str, Any]) -> None:
    fill = np.nan if shape.dtype.kind == "f" else False
    if not shape.changes:
        _add_dimensions(file, shape, 0)
        dims = ("time", *map(clean, shape.dims))
        variable = file.createVariable(clean(name), shape.dtype, dims, fill_value=fill, **packed)
        variable.setncatts(_attributes(name, shape))
        return
    # Writes CF's contiguous ragged array: all contexts one after the other, and the length of each.
    sample = f"{clean(shape.dims[0])}_sample"
    if sample not in file.dimensions:
        file.createDimension(sample, None)
        sizes = file.createVariable(f"{clean(shape.dims[0])}_count", np.int64, ("time",))
        sizes.setncatts({"long_name": f"values of {shape.dims[0]} in each context", "sample_dimension": sample})
        sizes[:] = [shape.lengths.get(n, 0) for n in range(len(file.dimensions["time"]))]
    _add_dimensions(file, shape, 1)
    dims = (sample, *map(clean, shape.dims[1:]))
    variable = file.createVariable(clean(name), shape.dtype, dims, fill_value=fill, **packed)
    variable.setncatts(_attributes(name, shape))


def export_netcdf(
    job: Job,
    target: Path,
    folder: Path,
    compress: bool,
    progress: Progress,
    remarks: Remarks,
    time_units: str | None = None,
) -> None:
    """Writes the file into `folder`. Missing values of a context are NaN, or 0 for whole numbers."""
    if find_spec("netCDF4") is None:
        raise Error("export: the package netCDF4 is not installed; install it, or export to .h5")
    import netCDF4

    del remarks
    layout = layout_of(job)
    packed = {"compression": "zlib", "complevel": 4, "shuffle": True} if compress else {}
    with netCDF4.Dataset(folder / target.name, "w", format="NETCDF4") as file:
        file.set_auto_maskandscale(False)
        file.setncatts(
            {"Conventions": "CF-1.10", "title": job.place.name, "source": layout.attrs.get("provenance", "")}
        )
        _add_coordinates(file, layout, time_units)
        for name, shape in layout.variables.items():
            _add_variable(file, name, shape, packed)
        file.set_auto_maskandscale(False)
        _fill_absent(file, job, layout)
        for name, number, part, values in parts_of(job, layout):
            shape, variable = layout.variables[name], file[clean(name)]
            if shape.changes:
                first = sum(shape.lengths.get(n, 0) for n in range(number))
                variable[first + part.start : first + part.stop] = values
            else:
                variable[number, part] = values
            progress.add(values.nbytes)


def _fill_absent(file: Any, job: Job, layout: Layout) -> None:
    for name, shape in layout.variables.items():
        if shape.changes or shape.dtype.kind == "f":
            continue
        for number in set(range(len(job.slots))) - set(shape.lengths):
            file[clean(name)][number] = 0
