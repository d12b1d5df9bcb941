"""Runs the analyses of refined_rows.py on the meshes of refined_twins.py, and reads their results."""

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest
import refined_twins
from optional_packages import needs
from refined_rows import ROWS, SUMS, filled
from refined_twins import DEEPEST, World

both = pytest.mark.parametrize("name", ["t", "u"])


@dataclass
class Twins:
    world: World
    folder: Path

    def read(self, name):
        with h5py.File(self.folder / name) as file:
            return {key: dataset[...] for key, dataset in file.items()}

    def rows(self, name):
        with (self.folder / name).open() as file:
            return list(csv.DictReader(file))


MADE = {}


def make_twins(dimensions, folders):
    """The results, in one of pytest's folders. Files of tests in one process share them: they take long."""
    if dimensions not in MADE:
        MADE[dimensions] = _make_twins(dimensions, folders.mktemp("twins"))
    return MADE[dimensions]


def _make_twins(dimensions, folder):
    world = World(dimensions)
    (folder / "sums.py").write_text(SUMS)
    tasks = ""
    for name in "tuf":
        tasks += "".join(filled(row.tasks, name, world) for row in ROWS.values() if not row.refused)
        tasks += "".join(filled(row.of_levels, name, world) for row in ROWS.values() if name != "f")
        for level in range(DEEPEST + 1) if name != "f" else []:
            tasks += f"  - statistics: {{name: {name}-{level}, variable: {name}, levels: {level}, "
            tasks += f"file: {name}-statistics-{level}.csv}}\n"
    tasks = tasks.replace("SCRIPT", str(folder / "sums.py"))
    refined_twins.run(world, folder / "results", tasks)
    return Twins(world, folder / "results")


def polygons(path):
    """Points, triangles and values at the points. A plane that cuts a mesh of two dimensions gives lines."""
    vtk = needs("vtk")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    cells, corners = (data.GetPolys(), 3) if data.GetNumberOfPolys() else (data.GetLines(), 2)
    array = data.GetPointData().GetArray(0)
    points = vtk_to_numpy(data.GetPoints().GetData()).astype(float)
    return points, vtk_to_numpy(cells.GetConnectivityArray()).reshape(-1, corners), vtk_to_numpy(array)


def measure_by_value(path):
    """The area of the triangles of each value, or the length of its lines."""
    points, cells, values = polygons(path)
    of = values[cells]
    assert (of == of[:, :1]).all()
    sides = points[cells[:, 1:]] - points[cells[:, :1]]
    sizes = np.linalg.norm(sides[:, 0], axis=1)
    if cells.shape[1] == 3:
        sizes = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
    found = defaultdict(float)
    for value, size in zip(of[:, 0], sizes, strict=True):
        found[float(value)] += size
    return {value: size for value, size in found.items() if size > 1e-12}


def check_measures(found, expected, tolerance):
    assert found.keys() == expected.keys()
    for value, size in expected.items():
        assert found[value] == pytest.approx(size, rel=tolerance, abs=tolerance)


def volume_by_value(path, name, dimensions):
    vtk = needs("vtk")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    sizes = vtk.vtkCellSizeFilter()
    sizes.SetInputConnection(reader.GetOutputPort())
    sizes.Update()
    data = sizes.GetOutput().GetCellData()
    found = defaultdict(float)
    volumes = vtk_to_numpy(data.GetArray("Volume" if dimensions == 3 else "Area"))
    for value, volume in zip(vtk_to_numpy(data.GetArray(name)), volumes, strict=True):
        found[float(value)] += volume
    return {value: volume for value, volume in found.items() if volume > 1e-9}
