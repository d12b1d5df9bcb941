"""Derivatives in the cells of an unstructured mesh, in several placements, compared with VTK's filter."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import parts
import pytest
import shapes
from test_parts import arrays, read
from test_sampling import solid
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkFiltersGeneral import vtkCellDerivatives

PROGRAM = Path(parts.__file__)
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
CONFIGURATION = """\
placement: PLACEMENT
output: {directory: DIRECTORY}
derived:
  flow: "vector(n * x, n * n - y, n * z * x)"
  slope: gradient(n)
  rise: gradient(flow)
  turn: curl(flow)
  spread: divergence(flow)
  swirl: q_criterion(flow)
  middle: cell_mean(flow)
  both: {expression: t * magnitude(curl(flow)), type: float32}
analyses:
  - threshold: {variable: spread, minimum: -1e300, fields: [slope, rise, turn, swirl, both, middle],
               file: "slopes-{index}.vtu"}
  - isosurface: {variable: swirl, values: 0.1, file: "swirl-{index}.vtp"}
  - statistics: {variable: magnitude(turn), file: turn.csv}
  - histogram: {variable: spread, bins: 8, range: [-1, 1], file: "spread-{index}.csv", when: max(swirl) > 0}
"""


def run(folder, placement, ranks):
    folder.mkdir(exist_ok=True)
    file, results = folder / "run.yaml", folder / "results"
    file.write_text(CONFIGURATION.replace("PLACEMENT", placement).replace("DIRECTORY", str(results)))
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return run(tmp_path_factory.mktemp("alone"), "inline", 1)


def derivatives(grid, scalars, vectors):
    """VTK's derivatives in each cell: three numbers, and nine, for each component those along x, y and z."""
    for array, add in ((scalars, "SetScalars"), (vectors, "SetVectors")):
        values = numpy_to_vtk(np.ascontiguousarray(array), deep=True)
        values.SetName(add)
        getattr(grid.GetPointData(), add)(values)
    found = vtkCellDerivatives()
    found.SetInputData(grid)
    found.SetVectorModeToComputeGradient()
    found.SetTensorModeToComputeGradient()
    found.Update()
    data = found.GetOutput().GetCellData()
    return vtk_to_numpy(data.GetVectors()), vtk_to_numpy(data.GetTensors()).reshape(-1, 3, 3)


@pytest.mark.parametrize("step", range(shapes.STEPS))
def test_like_vtk(alone, step):
    data = read(alone / f"slopes-{step}.vtu").GetCellData()
    ours = {
        name: vtk_to_numpy(data.GetArray(name))
        for name in ("spread", "slope", "rise", "turn", "swirl", "both", "middle")
    }
    n, (x, y, z) = shapes.at_points(step), shapes.points(step).T
    slope, rise = derivatives(solid(step), n, np.stack([n * x, n * n - y, n * z * x], -1))
    assert len(slope) == len(shapes.cells()) == len(ours["slope"])
    wedges = np.array([kind == shapes.WEDGE for kind, _ in shapes.cells()])
    for found, theirs in ((ours["slope"], slope), (ours["rise"].reshape(-1, 3, 3), rise)):
        difference = np.abs(found - theirs).reshape(len(found), -1).max(axis=1) / np.abs(theirs).max()
        assert difference[~wedges].max() < 1e-13
        assert difference[wedges].max() < 1e-5  # VTK has the centre of a wedge at 0.333333
    rise = ours["rise"].reshape(-1, 3, 3)
    turn = np.stack([rise[:, 2, 1] - rise[:, 1, 2], rise[:, 0, 2] - rise[:, 2, 0], rise[:, 1, 0] - rise[:, 0, 1]], -1)
    np.testing.assert_array_equal(ours["turn"], turn)
    np.testing.assert_array_equal(ours["spread"], rise[:, 0, 0] + rise[:, 1, 1] + rise[:, 2, 2])
    swirl = -0.5 * np.einsum("nij,nji->n", rise, rise)
    np.testing.assert_allclose(ours["swirl"], swirl, rtol=0, atol=1e-12 * np.abs(swirl).max())
    flow = np.stack([n * x, n * n - y, n * z * x], -1)
    middle = [sum(flow[list(corners)]) / len(corners) for _, corners in shapes.cells()]
    np.testing.assert_allclose(ours["middle"], middle, rtol=1e-14, atol=1e-15)
    both = shapes.in_cells(step) * np.linalg.norm(turn, axis=1)
    np.testing.assert_allclose(ours["both"], both, rtol=1e-6)
    with (alone / "turn.csv").open() as file:
        row = list(csv.DictReader(file))[step]
    assert float(row["maximum"]) == pytest.approx(np.linalg.norm(turn, axis=1).max(), rel=1e-14)
    with (alone / f"spread-{step}.csv").open() as file:
        counts = [int(row["count"]) for row in csv.DictReader(file)]
    assert counts == list(np.histogram(ours["spread"], 8, (-1, 1))[0])


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "ranks"),
    [
        ("{mode: nodes, buffer: 32 MiB, servers: 2, partitioner: regrid}", 5),
        ("{mode: cores, buffer: 32 MiB, per_node: 2}", 5),
        ("inline", 5),
    ],
)
def test_same_everywhere(alone, tmp_path, placement, ranks):
    results = run(tmp_path / "run", placement, ranks)
    names = sorted(path.name for path in alone.glob("*-?.*"))
    assert len(names) == 3 * shapes.STEPS
    for name in [*names, "turn.csv"]:
        if name.endswith(".vtu"):
            assert arrays(results / name) == arrays(alone / name), name
        else:
            assert (results / name).read_bytes() == (alone / name).read_bytes(), name
