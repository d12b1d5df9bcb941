"""Export as Zarr, version 3 of the format: one group with a time axis, which xarray opens."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Error
from .arrays import Layout, Shape, layout_of, parts_of
from .parts import Job, Progress, Remarks


def _attributes(shape: Shape) -> dict[str, Any]:
    return {k: v for k, v in shape.attrs.items() if isinstance(v, (str, int))}


def _put(group: Any, name: str, dims: tuple[str, ...], values: np.ndarray, attrs: dict[str, Any] | None = None) -> None:
    made = group.create_array(
        name, shape=values.shape, dtype=values.dtype, dimension_names=dims, attributes=attrs or {}
    )
    made[...] = values


def _create(group: Any, name: str, shape: Shape, contexts: int, compress: bool) -> Any:
    total = sum(shape.lengths.values())
    extents = (total, *shape.shape[1:]) if shape.changes else (contexts, *shape.shape)
    sizes = tuple(max(1, n) for n in shape.chunks)
    chunks = sizes if shape.changes else (1, *sizes)
    dims = (f"{shape.dims[0]}_sample", *shape.dims[1:]) if shape.changes else ("time", *shape.dims)
    return group.create_array(
        name,
        shape=extents,
        dtype=shape.dtype,
        chunks=chunks,
        dimension_names=dims,
        attributes=_attributes(shape),
        fill_value=np.nan if shape.dtype.kind == "f" else 0,
        **({} if compress else {"compressors": None}),
    )


def _add_coordinates(group: Any, layout: Layout) -> None:
    for name, values in layout.times.items():
        _put(group, name, ("time",), values, {"long_name": f"{name} of the simulation"})
    for name, (dims, values) in layout.coords.items():
        _put(group, name, dims, np.asarray(values))
    for shape in layout.variables.values():
        count = f"{shape.dims[0]}_count"
        if shape.changes and count not in group:
            lengths = [shape.lengths.get(n, 0) for n in range(len(layout.times["time"]))]
            about = {"sample_dimension": f"{shape.dims[0]}_sample"}
            _put(group, count, ("time",), np.array(lengths, np.int64), about)


def export_zarr(job: Job, target: Path, folder: Path, compress: bool, progress: Progress, remarks: Remarks) -> None:
    """Writes the directory into `folder`. Missing values of a context are NaN, or 0 for whole numbers."""
    if find_spec("zarr") is None:
        raise Error("export: the package zarr, version 3 or later, is not installed; install it, or export to .h5")
    import zarr

    del remarks
    layout = layout_of(job)
    group = zarr.create_group(store=str(folder / target.name), zarr_format=3, attributes=layout.attrs)
    _add_coordinates(group, layout)
    made = {n: _create(group, n, shape, len(job.slots), compress) for n, shape in layout.variables.items()}
    for name, number, part, values in parts_of(job, layout):
        shape = layout.variables[name]
        if shape.changes:
            first = sum(shape.lengths.get(n, 0) for n in range(number))
            made[name][first + part.start : first + part.stop] = values
        else:
            made[name][number, part] = values
        progress.add(values.nbytes)
