"""Export as HDF5: a self-contained file for each context, in the layout of the output `hdf5`."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..reader.lazy import Fields
from ..reader.stored_fields import StoredArray
from .parts import Job, Progress, Remarks, slabs


def file_of(target: Path, cycle: int, used: set[str]) -> str:
    """The file name for a context: with its cycle before the ending, and `-v2` and so on if another has this cycle."""
    name, version = f"{target.stem}-{cycle:06}{target.suffix}", 2
    while name in used:
        name, version = f"{target.stem}-{cycle:06}-v{version}{target.suffix}", version + 1
    used.add(name)
    return name


def _add_mesh(file: h5py.File, name: str, array: StoredArray) -> None:
    if f"meshes/{name}" in file:
        return
    about = array.context.meshes[array.variable.mesh]
    ratio = np.prod([[1, 1, 1], *about["refinement"][: array.level]], axis=0).astype(np.int64)
    mesh = file.create_group(f"meshes/{name}")
    cells = np.array(about["cells"], np.int64) * ratio
    mesh.attrs.update({"dimensions": about["dimensions"], "lo": cells[0], "hi": cells[1], "kind": about["type"]})
    if "origin" in about:
        mesh.attrs["origin"] = np.array(about["origin"], np.float64)
        mesh.attrs["spacing"] = np.array(about["spacing"], np.float64) / ratio
    if "level_times" in about:
        mesh.attrs["level_times"] = np.array(about["level_times"], np.float64)
    if "roots" in about:
        mesh.attrs["roots"] = np.array(about["roots"], np.int64)
    for axis, nodes in zip("xyz"[: about["dimensions"]], about.get("nodes", ()), strict=False):
        mesh[axis] = np.array(nodes, np.float64)
    for role, variable in about["arrays"].items():
        mesh.attrs[role] = f"variables/{variable}"


def _attributes(array: StoredArray, mesh: str) -> dict[str, Any]:
    variable = array.variable
    lo, hi = array.lo.copy(), array.lo + 1
    for n, axis in enumerate(array.axes):
        hi[axis] = lo[axis] + array.shape[n]
    return {
        "mesh": mesh,
        "type": array.dtype.name,
        "centering": array.attrs["centering"],
        "components": variable.components,
        "order": variable.order,
        "unit": variable.unit,
        "label": variable.label,
        "lo": lo,
        "hi": hi,
    }


def _add_variable(file: h5py.File, name: str, array: StoredArray, compress: bool, progress: Progress) -> None:
    mesh = array.variable.mesh + (f"_level{array.level}" if array.level else "")
    _add_mesh(file, mesh, array)
    packed = {"compression": "gzip", "shuffle": True, "chunks": True} if compress and array.size else {}
    data = file.create_dataset(f"variables/{name}", array.shape, array.dtype, **packed)
    data.attrs.update(_attributes(array, mesh))
    labels = ["ijk"[axis] for axis in array.axes] + ["component"] * (array.ndim - len(array.axes))
    for n, label in enumerate(labels):
        data.dims[n].label = label
    if array.context.is_list(array.variable.mesh):
        pieces = array.context.pieces(array.variable)
        data.attrs["blocks"] = np.array([int(p.block["id"]) for p in pieces], np.int64)
        data.attrs["lengths"] = np.array([int(p.hi[0]) for p in pieces], np.int64)
    for part, values in slabs(array):
        data[part] = values
        progress.add(values.nbytes)


def _write(path: Path, fields: Fields, compress: bool, progress: Progress) -> None:
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "sidestream-fields", "version": 2, "servers": 0})
        file.attrs.update({name: fields.attrs[name] for name in ("iteration", "cycle", "time", "provenance")})
        for name, array in fields.items():
            _add_variable(file, name, array, compress, progress)


def export_hdf5(job: Job, target: Path, folder: Path, compress: bool, progress: Progress, remarks: Remarks) -> None:
    """Writes into `folder`: NAME-000010.h5, ..., and NAME.h5.series, which lists them."""
    del remarks
    used: set[str] = set()
    listed = []
    for slot in job.slots:
        name = file_of(target, slot.cycle, used)
        _write(folder / name, job.fields(slot), compress, progress)
        listed.append({"name": name, "time": slot.time, "cycle": slot.cycle, "iteration": slot.iteration})
    index = {"file-series-version": "1.0", "files": listed}
    (folder / f"{target.name}.series").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
