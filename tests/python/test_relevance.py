"""The analysis `relevance` in several placements, compared with NumPy and opened by VTK."""

import csv
import subprocess
import sys
from os import environ
from pathlib import Path

import numpy as np
import pytest
import relevant
from pairs import few
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPUnstructuredGridReader, vtkXMLUnstructuredGridReader

PROGRAM = Path(relevant.__file__)
MPIRUN = environ.get("SIDESTREAM_MPIEXEC", "mpirun")
VTK_TYPES = {1: 3, 2: 8, 3: 11}
HEAD = 16 + 104  # bytes of a block besides its values: its rank, its head
BINS = 64
# Tasks by name: mesh, metric, number of blocks to keep of `n`, factor, options.
TASKS = {
    "variance": ("grid", "variance", lambda n: -(-n // 4), 2, ""),
    "gradient": ("grid", "gradient", lambda n: min(n, 3), 3, "keep_blocks: 3"),
    "flat": ("plane", "entropy", lambda n: -(-n * 4 // 10), 4, "keep: 0.4"),
    "bins": ("plane", "entropy", lambda n: 0, 2, "keep: 0, range: [-0.5, 0.5]"),
    "thin": ("line", "range", lambda n: -(-n // 4), 2, ""),
    "stretched": ("column", "gradient", lambda n: n // 2, 2, "keep: 0.5"),
}


def configuration(placement, folder):
    lines = [f"placement: {placement}", f"output: {{directory: {folder}}}", "analyses:"]
    for name, (mesh, metric, _, factor, more) in TASKS.items():
        of = f"variable: {mesh[0]}, metric: {metric}, factor: {factor}" + (f", {more}" if more else "")
        files = f'file: "{name}-{{index}}.vtu", table: {name}.csv'
        lines.append(f"  - relevance: {{name: {name}, {of}, {files}}}")
    lines.append('  - relevance: {name: pieces, variable: g, pieces: true, file: "pieces-{index}.vtu", table: p.csv}')
    lines.append("  - relevance: {name: maker, variable: g, makes: mixed}")
    lines.append("  - histogram: {variable: mixed_g, weight: mixed_joined, bins: 9, file: histogram.csv}")
    lines.append("  - statistics: {variable: mixed_joined, file: joined.csv}")
    lines.append('  - isosurface: {variable: mixed_g, values: 0.3, file: "surface-{index}.vtp"}')
    return "\n".join(lines) + "\n"


def run(folder, placement, ranks):
    file, results = folder / "run.yaml", folder / "results"
    folder.mkdir(exist_ok=True)
    file.write_text(configuration(placement, results))
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


def rows_of(path):
    with path.open() as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def read(path):
    reader, said = (vtkXMLPUnstructuredGridReader if path.suffix == ".pvtu" else vtkXMLUnstructuredGridReader)(), []
    for event in ("ErrorEvent", "WarningEvent"):
        reader.AddObserver(event, lambda _, name: said.append(name))
    reader.SetFileName(str(path))
    reader.Update()
    assert not said, path
    return reader.GetOutput()


class Twin:
    """Metric, ranking, coarsening and errors of one iteration, by NumPy."""

    def __init__(self, name, step):
        self.mesh, self.metric, to_keep, self.factor, self.options = TASKS[name]
        self.blocks = relevant.blocks(self.mesh, step)
        self.values = {n: relevant.part(relevant.values(self.mesh, step), box) for n, box in self.blocks.items()}
        finite = [v.astype("f8") for v in self.values.values() if np.isfinite(v).all()]
        self.range = (min(v.min() for v in finite), max(v.max() for v in finite)) if finite else (0, 0)
        if "range:" in self.options:
            self.range = (-0.5, 0.5)
        self.metrics = {n: self.measure(n) for n in self.blocks}
        order = sorted(self.blocks, key=lambda n: (-self.metrics[n], n))
        self.not_finite = sum(np.isinf(m) for m in self.metrics.values())
        self.kept = order[: max(to_keep(len(order)), self.not_finite)]
        self.threshold = self.metrics[self.kept[-1]] if self.kept else np.nan

    def measure(self, number):
        v = self.values[number].astype("f8")
        if not np.isfinite(v).all():
            return np.inf
        if self.metric == "variance":
            return v.var()
        if self.metric == "range":
            return v.max() - v.min()
        if self.metric == "gradient":
            return np.sqrt(sum(self.mean_square_slope(number, v, axis) for axis in range(v.ndim)))
        low, high = self.range
        places = np.clip(((v - low) / (high - low) * BINS).astype(int), 0, BINS - 1)
        share = np.bincount(places.ravel()) / v.size
        return -(share[share > 0] * np.log2(share[share > 0])).sum()

    def mean_square_slope(self, number, v, axis):
        x = relevant.nodes(self.mesh, axis)
        centres = (0.5 * (x[1:] + x[:-1]))[self.blocks[number][0][axis] : self.blocks[number][1][axis]]
        if len(centres) < 2:
            return 0.0
        differences = np.diff(v, axis=v.ndim - 1 - axis)
        lengths = np.diff(centres).reshape([-1 if a == v.ndim - 1 - axis else 1 for a in range(v.ndim)])
        return ((differences / lengths) ** 2).mean()

    def cells(self):
        """Cells of the result, in order: bounds, value, block, and number of the mesh's cells."""
        self.errors, rows = [], []
        for number, (low, high) in self.blocks.items():
            step = 1 if number in self.kept else self.factor
            starts = [range(lo, hi, step) for lo, hi in zip(low, high, strict=True)]
            for lo in np.array(np.meshgrid(*starts[::-1], indexing="ij")).reshape(len(low), -1).T[:, ::-1]:
                hi = np.minimum(lo + step, high)
                group = relevant.part(self.values[number], (lo - low, hi - low)).astype("f8")
                value = self.mean(group, lo, hi)
                if step > 1:
                    self.errors.append(np.abs(group - value).ravel())
                ends = [relevant.nodes(self.mesh, a)[[lo[a], hi[a]]] for a in range(len(low))]
                rows.append((ends, value, number, group.size))
        self.errors = np.concatenate([[0.0], *self.errors]) if self.errors else np.zeros(1)
        return rows

    def mean(self, group, lo, hi):
        if group.size == 1:
            return group.item()
        weights = np.ones(group.shape)
        if self.mesh == "column":
            for a in range(group.ndim):
                shape = [-1 if b == group.ndim - 1 - a else 1 for b in range(group.ndim)]
                weights = weights * np.diff(relevant.nodes(self.mesh, a)[lo[a] : hi[a] + 1]).reshape(shape)
        mean = (group * weights).sum() / weights.sum()
        return float(np.float32(mean)) if relevant.TYPES[self.mesh] == "f4" else mean


@pytest.fixture(scope="module")
def inline(tmp_path_factory):
    """One rank, which is client and server."""
    return run(tmp_path_factory.mktemp("inline"), "inline", 1)


def check_cells(data, twin):
    rows = twin.cells()
    dimensions = len(relevant.MESHES[twin.mesh][0])
    assert data.GetNumberOfCells() == len(rows)
    ends = np.array([np.array(row[0]) for row in rows])
    for n in range(len(rows)):
        assert data.GetCellType(n) == VTK_TYPES[dimensions]
        bounds = np.array(data.GetCell(n).GetBounds()).reshape(3, 2)
        assert (bounds[:dimensions] == ends[n]).all()
    arrays = {name: vtk_to_numpy(data.GetCellData().GetArray(name)) for name in (twin.mesh[0], "block", "joined")}
    np.testing.assert_allclose(arrays[twin.mesh[0]], [row[1] for row in rows], rtol=1e-6, atol=1e-9)
    assert arrays["block"].tolist() == [row[2] for row in rows]
    assert arrays["joined"].tolist() == [row[3] for row in rows]
    points = vtk_to_numpy(data.GetPoints().GetData())
    assert len(np.unique(points, axis=0)) == len(points)
    return len(rows)


@pytest.mark.parametrize("name", TASKS)
def test_like_numpy(inline, name):
    rows = {int(row["iteration"]): row for row in rows_of(inline / f"{name}.csv")}
    mesh = TASKS[name][0]
    with_blocks = [step for step in range(relevant.STEPS) if step != relevant.ABSENT and relevant.blocks(mesh, step)]
    assert set(with_blocks) <= set(rows)
    assert relevant.ABSENT not in rows
    for step in with_blocks:
        twin, row = Twin(name, step), rows[step]
        written = check_cells(read(inline / f"{name}-{step}.vtu"), twin)
        cells = sum(v.size for v in twin.values.values())
        size, kept = np.dtype(relevant.TYPES[mesh]).itemsize, sum(twin.values[n].size for n in twin.kept)
        moved = kept * size + (written - kept) * (4 if size == 4 else 8)
        assert row["blocks"] == len(twin.blocks)
        assert row["kept"] == len(twin.kept)
        assert row["not_finite"] == twin.not_finite
        assert (row["cells"], row["cells_moved"]) == (cells, written)
        assert (row["bytes_full"], row["bytes_moved"]) == (cells * size, moved + HEAD * len(twin.blocks))
        np.testing.assert_allclose(row["threshold"], twin.threshold, rtol=1e-9)
        thinned = max(1, cells - kept)
        np.testing.assert_allclose(row["largest_error"], twin.errors.max(), rtol=1e-5, atol=1e-15)
        np.testing.assert_allclose(row["rms_error"], np.sqrt((twin.errors**2).sum() / thinned), rtol=1e-5, atol=1e-15)


def test_cases_are_met():
    """Rough and calm blocks, and those that are always kept, are in the runs above."""
    assert Twin("variance", 1).not_finite == 2
    assert Twin("stretched", 2).threshold == 0
    assert 0 < len(Twin("flat", 0).kept) < len(relevant.blocks("plane", 0))
    assert any(np.prod(np.subtract(high, low)) == 1 for low, high in relevant.blocks("line", 0).values())


def test_users_of_the_mesh(inline):
    """The made mesh has the cells of the file, and its `joined` weighs them."""
    rows = rows_of(inline / "joined.csv")
    for row in rows:
        data = read(inline / f"variance-{int(row['iteration'])}.vtu")
        joined = vtk_to_numpy(data.GetCellData().GetArray("joined"))
        assert row["count"] == len(joined)
        np.testing.assert_allclose(row["mean"], joined.mean())
    assert [row["iteration"] for row in rows] == [0, 1, 2, 4]
    counted = {}
    for row in rows_of(inline / "histogram.csv"):
        counted[row["iteration"]] = counted.get(row["iteration"], 0) + row["weight"]
    expected = sum(box.size for box in Twin("variance", 0).values.values())
    assert counted[0] == expected
    assert (inline / "surface-0.vtp").exists()
    assert not list(inline.glob("relevance*"))


def test_pieces(inline):
    whole, pieces = (read(inline / name) for name in ("variance-0.vtu", "pieces-0.pvtu"))
    for name in ("g", "block", "joined"):
        arrays = [vtk_to_numpy(data.GetCellData().GetArray(name)) for data in (whole, pieces)]
        assert (arrays[0] == arrays[1]).all()


PLACES = [
    (2, "inline"),
    (3, "inline"),
    (5, "inline"),
    (8, "inline"),
    (3, "{mode: cores, per_node: 1}"),
    (5, "{mode: cores, per_node: 2}"),
    (5, "{mode: nodes, servers: 2, buffer: 8 MiB}"),
    (6, "{mode: nodes, servers: 2, buffer: 8 MiB, forward: blocks}"),
    (6, "{mode: nodes, servers: 2, buffer: 8 MiB, forward: partials}"),
]


@pytest.mark.parametrize(("ranks", "placement"), few(PLACES, kept=[PLACES[1], *PLACES[5:7], PLACES[8]]))
def test_same_everywhere(inline, tmp_path, ranks, placement):
    results = run(tmp_path / "run", placement, ranks)
    names = {path.name for path in inline.iterdir() if path.suffix in (".vtu", ".vtp", ".csv")}
    names -= {"timings.csv", "iterations.csv", "movement.csv"}
    names = {name for name in names if not name.startswith("pieces")}
    assert len(names) > 25
    for name in sorted(names):
        assert (results / name).read_bytes() == (inline / name).read_bytes(), name
    pieces, whole = read(results / "pieces-0.pvtu"), read(inline / "variance-0.vtu")
    for name in ("g", "block", "joined"):
        arrays = [vtk_to_numpy(data.GetCellData().GetArray(name)) for data in (whole, pieces)]
        assert (arrays[0] == arrays[1]).all()
