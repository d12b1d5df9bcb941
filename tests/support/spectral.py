"""Spectral elements on a deformed box, which programs in several languages publish, and what analyses must say of them.

3 x 2 x 2 elements of order 3. Their places are (i, j, k), stretched and sheared; u is a polynomial in these places.
"""

import csv
import os
import subprocess
import xml.etree.ElementTree as ET

import numpy as np

ORDER, SHAPE = 3, (3, 2, 2)
GLL = np.array([-1, -np.sqrt(0.2), np.sqrt(0.2), 1])
WEIGHTS = np.array([1, 5, 5, 1]) / 6
CONFIGURATION = """\
placement: {PLACEMENT}
output: {directory: DIRECTORY, existing: replace}
variables:
  u: {mesh: elements, centering: node}
analyses:
  - statistics: {variable: u, file: u.csv}
  - statistics: {variable: elements_mass, file: mass.csv}
  - statistics: {variable: u * elements_mass, file: integral.csv}
  - isosurface: {variable: u, values: [2.5], file: surface.vtp}
  - slice: {variable: u, axis: x, position: 1.3, file: slice.vtp}
outputs:
  - hdf5: {variables: [u, elements_mass]}
"""


def places():
    """Positions of the points by element and point, the first axis fastest."""
    found = []
    for e in range(np.prod(SHAPE)):
        corner = e % 3, e // 3 % 2, e // 6
        x, y, z = (c + 0.5 * (GLL + 1) for c in corner)
        z, y, x = np.meshgrid(z, y, x, indexing="ij")
        found.append(np.stack([x + 0.1 * y * z, y + 0.05 * x, z + 0.02 * x * x]).reshape(3, -1))
    return np.stack(found)


def field(place):
    return place[0] + place[1] ** 2 + 0.3 * place[2] * place[0]


def owners(ranks):
    """The rank of each element; with many ranks the last one has none."""
    return np.arange(np.prod(SHAPE)) * 7 % (ranks - 1 if ranks > 3 else ranks)


def integral_of(function):
    """An integral over the box by a quadrature that is exact, from the exact Jacobian."""
    points, weights = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for e in range(np.prod(SHAPE)):
        corner = e % 3, e // 3 % 2, e // 6
        x, y, z = (c + 0.5 * (points + 1) for c in corner)
        z, y, x = np.meshgrid(z, y, x, indexing="ij")
        w = np.einsum("i,j,k->ijk", weights, weights, weights) / 8
        jacobian = np.array(
            [[1 + 0 * x, 0.1 * z, 0.1 * y], [0.05 + 0 * x, 1 + 0 * x, 0 * x], [0.04 * x, 0 * x, 1 + 0 * x]]
        )
        size = np.linalg.det(np.moveaxis(jacobian, (0, 1), (-2, -1)))
        place = np.stack([x + 0.1 * y * z, y + 0.05 * x, z + 0.02 * x * x])
        total += (w * size * function(place)).sum()
    return total


def rows_of(results, name):
    (row,) = csv.DictReader((results / f"{name}.csv").open())
    return {key: float(value) for key, value in row.items()}


def check(results):
    place = np.moveaxis(places(), 1, 0).reshape(3, -1)
    _, first = np.unique(place.T.round(9), axis=0, return_index=True)
    u = rows_of(results, "u")
    assert u["count"] == len(first) == 10 * 7 * 7
    np.testing.assert_allclose(u["sum"], field(place)[first].sum(), rtol=1e-13)
    np.testing.assert_allclose(rows_of(results, "mass")["sum"], integral_of(lambda p: 1 + 0 * p[0]), rtol=1e-12)
    np.testing.assert_allclose(rows_of(results, "integral")["sum"], integral_of(field), rtol=2e-3)


def counts_of(path):
    """Numbers of points and triangles."""
    piece = ET.parse(path).getroot().find(".//Piece")
    return int(piece.get("NumberOfPoints")), int(piece.get("NumberOfPolys"))


def run(folder, command, ranks, placement):
    """Runs `command`, which publishes u once. Returns the bytes of tables and surfaces."""
    results = folder / "results"
    text = CONFIGURATION.replace("{PLACEMENT}", placement).replace("DIRECTORY", str(results))
    (folder / "run.yaml").write_text(text)
    mpirun = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
    full = [mpirun, "-n", str(ranks), *map(str, command), str(folder / "run.yaml")]
    done = subprocess.run(full, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check(results)
    points, triangles = counts_of(results / "surface.vtp")
    assert 0 < points < triangles, "triangles share their corners"
    return [(results / name).read_bytes() for name in ("u.csv", "mass.csv", "integral.csv", "surface.vtp", "slice.vtp")]
