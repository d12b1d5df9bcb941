"""Export as VTKHDF, a file for each mesh and context: octrees as HyperTreeGrid, levels as OverlappingAMR."""

import json
from pathlib import Path
from typing import Any

from ..errors import Error
from .hdf5 import file_of
from .parts import Job, Progress, Remarks
from .vtk import Mesh, meshes_of
from .vtk_levels import why_not, write_levels
from .vtk_tree_hdf import write_tree_hdf


def _left_out(mesh: Mesh) -> str:
    """The reason why a mesh is not written, as the end of a sentence; empty if it is."""
    kind = mesh.about["type"]
    if kind not in ("octree", "uniform"):
        return f"is {kind}, and these files have octrees and uniform meshes; export to .pvd"
    if not mesh.cell_data:
        return "has no values in cells; export to .pvd"
    if kind == "uniform" and (why := why_not(mesh.refined())):
        return f"{why}; export to .h5, .nc or .zarr"
    return ""


def _write(mesh: Mesh, path: Path, remarks: Remarks) -> None:
    levels = mesh.refined()
    for name in mesh.point_data:
        remarks.say(f"'{name}' is left out: these files have values in cells; export to .h5, .nc or .zarr")
    write = write_tree_hdf if mesh.about["type"] == "octree" else write_levels
    write(path, levels, [name for name in levels.variables if name in mesh.cell_data])


def export_vtkhdf(job: Job, target: Path, folder: Path, compress: bool, progress: Progress, remarks: Remarks) -> None:
    """Writes into `folder`: NAME-MESH-000010.vtkhdf, ..., and NAME-MESH.vtkhdf.series, which lists them. They are not
    compressed: VTK reads them tree by tree."""
    del compress
    used, listed = set[str](), dict[str, list[dict[str, Any]]]()
    for slot in job.slots:
        for mesh in meshes_of(job, slot, remarks):
            if why := _left_out(mesh):
                remarks.say(f"the mesh '{mesh.name}' is left out: it {why}")
                continue
            pattern = target.with_name(f"{target.stem}-{mesh.name}{target.suffix}")
            name = file_of(pattern, slot.cycle, used)
            _write(mesh, folder / name, remarks)
            progress.add(sum(array.size * array.dtype.itemsize for array in mesh.cell_data.values()))
            entry = {"name": name, "time": slot.time, "cycle": slot.cycle, "iteration": slot.iteration}
            listed.setdefault(pattern.name, []).append(entry)
    for name, files in listed.items():
        index = {"file-series-version": "1.0", "files": files}
        (folder / f"{name}.series").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    if not listed:
        why = "".join(f"; {sentence}" for sentence in remarks.said)
        raise Error(f"export: there is nothing that a .vtkhdf file can hold: values in cells of trees and levels{why}")
