"""Slices, pictures, projections, probes, resampling and sums of an octree, and of the same cells as patches. They
have the same bytes in every placement, and are compared with a recursion over all cells, and slices with VTK's of
hyper tree grids."""

import csv
import io
import os
import subprocess
import sys
import uuid
from collections import defaultdict

import h5py
import numpy as np
import pytest
from optional_packages import needs
from pairs import pairs
from programs import built
from scipy import ndimage
from support import run_beside
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersHyperTree import vtkHyperTreeGridPlaneCutter
from vtkmodules.vtkIOXML import vtkXMLHyperTreeGridReader, vtkXMLPolyDataReader

PROGRAM = built("SIDESTREAM_ADAPTIVE_PROGRAM")
TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS, DEEPEST = 3, 4
ORIGIN, SPACING = np.array([-1, 0.5, 2]), np.array([2, 1, 1.5])
ROOTS = {2: np.array([3, 2, 1]), 3: np.array([3, 2, 1])}

DECLARATIONS = {
    3: """\
meshes:
  tree: {type: octree, size: [3, 2, 1], origin: [-1, 0.5, 2], spacing: [2, 1, 1.5], refined: split, owned: mine}
  patch: {type: uniform, size: [3, 2, 1], origin: [-1, 0.5, 2], spacing: [2, 1, 1.5], refinement: [2, 2, 2, 2]}
""",
    2: """\
meshes:
  tree: {type: octree, size: [3, 2], origin: [-1, 0.5], spacing: [2, 1], refined: split, owned: mine}
  patch: {type: uniform, size: [3, 2], origin: [-1, 0.5], spacing: [2, 1], refinement: [2, 2, 2, 2]}
""",
}
VARIABLES = """\
events: [synchronised]
variables:
  split: {mesh: tree, type: uint8}
  mine: {mesh: tree, type: uint8}
  t: {mesh: tree}
  u: {mesh: patch}
"""
PLANES = {
    3: {
        "x": "axis: x, position: 1",
        "z": "axis: z, position: 2.6",
        "oblique": "normal: [1, 2, 0.7], origin: [2, 1.4, 2.5]",
    },
    2: {"x": "axis: x, position: 1", "z": "axis: z", "oblique": "normal: [1, 2, 0], origin: [2, 1.4, 0]"},
}


def analyses(variable, dimensions):
    text = ""
    for name, plane in PLANES[dimensions].items():
        edges = "true" if dimensions == 3 or name == "z" else "false"
        text += f"  - slice: {{name: {variable}-{name}, variable: {variable}, {plane}, edges: {edges}, "
        text += f"precision: double, file: '{variable}-{name}-{{index}}.vtp'}}\n"
    ends = ["-0.9137, 0.6113, 2.1071", "4.7913, 2.4071, 3.3913"]
    line = "from: [{}], to: [{}]".format(*(", ".join(end.split(", ")[:dimensions]) for end in ends))
    box = "[0, 0, 0, 3, 2, 3]" if dimensions == 3 else "[0, 0, 3, 2]"
    text += f"""\
  - slice: {{name: {variable}-some, variable: {variable}, {PLANES[dimensions]["z"]}, levels: [1, 2], box: {box},
            file: '{variable}-some-{{index}}.vtp'}}
  - render: {{name: {variable}-picture, slice: {{variable: {variable}, {PLANES[dimensions]["z"]}, edges: true}},
             size: [160, 120], caption: none, file: '{variable}-frame-{{index}}.png'}}
  - projection: {{name: {variable}-projection, variable: {variable}, axis: y, level: 4,
                 file: '{variable}-projection-{{index}}.h5'}}
  - resample: {{name: {variable}-grid, variables: {variable}, level: 4, file: '{variable}-grid-{{index}}.h5'}}
  - probe: {{name: {variable}-probe, variables: {variable}, line: {{{line}, samples: 40}},
            file: '{variable}-probe.csv'}}
  - resample: {{name: {variable}-linear, variables: {variable}, level: 3, method: linear,
               file: '{variable}-linear-{{index}}.h5'}}
  - statistics: {{name: {variable}-one-time, variable: {variable}, on: synchronised,
                 file: '{variable}-one-time.csv'}}
  - statistics: {{name: {variable}-all, variable: {variable}, file: '{variable}-all.csv'}}
  - statistics: {{name: {variable}-levels, variable: {variable}, levels: [1, 3], file: '{variable}-levels.csv'}}
  - histogram: {{name: {variable}-box, variable: {variable}, box: {box}, bins: 8, file: '{variable}-box-{{index}}.csv'}}
  - halos: {{name: {variable}-halos, variable: {variable}, boundary: 1.03, halo: 1.05, units: mean, connectivity: 6,
            file: '{variable}-halos-{{index}}.csv', history: {{file: '{variable}-history.csv'}},
            labels: {{file: '{variable}-labels-{{index}}.h5'}},
            profile: {{file: '{variable}-profiles-{{index}}.csv', radius: 2, bins: 4, overdensities: 1.02}}}}
"""
    return text


def configure(folder, placement, dimensions, outputs=""):
    text = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n"
    text += DECLARATIONS[dimensions] + VARIABLES + "analyses:\n"
    text += analyses("t", dimensions) + analyses("u", dimensions) + outputs
    path = folder / "run.yaml"
    path.write_text(text)
    return path


def simulate(folder, path, ranks, dimensions, blocks, beside=None):
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(path), f"blocks={blocks}", f"steps={STEPS}"]
    run_beside(folder, [*command, f"dimensions={dimensions}"], STEPS, beside, timeout=300)
    return folder / "results"


def contents(results):
    """The arrays that analyses wrote."""
    return {path.name: path.read_bytes() for path in results.iterdir() if path.name.startswith(("t-", "u-"))}


# ---- by recursion


def leaves(step, dimensions):
    """Level, indices and value of each leaf."""

    def refined(level, index):
        i, j, k = index
        return level < DEEPEST and (3 * i + 5 * j + 7 * k + level + step) % (level + 2) == 0

    def below(level, index):
        if not refined(level, index):
            i, j, k = index
            yield level, index, float(i + 64 * (j + 64 * k) + 1000000 * level + 10000000 * step)
            return
        for n in range(1 << dimensions):
            yield from below(level + 1, tuple(2 * x + (n >> a & 1) for a, x in enumerate(index)))

    for k in range(ROOTS[dimensions][2]):
        for j in range(2):
            for i in range(3):
                yield from below(0, (i, j, k))


def box_of(level, index, dimensions):
    size = SPACING / 2**level
    low = ORIGIN + size * np.array(index)
    return low[:dimensions], (low + size)[:dimensions]


def finest(step, dimensions):
    """The value of each cell of the finest level, as [z, y, x]."""
    n = ROOTS[dimensions] * [2**DEEPEST, 2**DEEPEST, 2**DEEPEST if dimensions > 2 else 1]
    grid = np.full(n[::-1], np.nan)
    for level, index, value in leaves(step, dimensions):
        width = 2 ** (DEEPEST - level)
        at = tuple(slice(x * width, (x + 1) * width) for x in index[:dimensions])
        grid[(*at, slice(None))[::-1] if dimensions == 2 else at[::-1]] = value
    assert not np.isnan(grid).any()
    return grid if dimensions == 3 else grid[0]


def read_surface(path):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def area_by_value(surface, name):
    """The area of the triangles of each value. All points of a triangle have the same value."""
    points = vtk_to_numpy(surface.GetPoints().GetData()).astype(float)
    triangles = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    values = vtk_to_numpy(surface.GetPointData().GetArray(name))[triangles]
    assert (values == values[:, :1]).all()
    a, b, c = points[triangles].transpose(1, 0, 2)
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    result = defaultdict(float)
    for value, area in zip(values[:, 0], areas, strict=True):
        result[value] += area
    return dict(result)


def check_slices(results, variable, step, dimensions):
    surface = read_surface(results / f"{variable}-z-{step}.vtp")
    found = area_by_value(surface, variable)
    expected = {}
    for level, index, value in leaves(step, dimensions):
        low, high = box_of(level, index, dimensions)
        if dimensions == 2 or low[2] < 2.6 <= high[2]:
            expected[value] = np.prod((high - low)[:2])
    assert found.keys() == expected.keys()
    for value, area in expected.items():
        assert found[value] == pytest.approx(area, rel=1e-12)
    assert surface.GetNumberOfLines() == 4 * len(expected)
    if dimensions == 3:  # planes on faces of cells
        total = sum(area_by_value(read_surface(results / f"{variable}-x-{step}.vtp"), variable).values())
        assert total == pytest.approx(2 * 1.5)


def read(results, name):
    with h5py.File(results / name) as file:
        return {key: dataset[...] for key, dataset in file.items()}


def check(results, dimensions):
    for step in range(STEPS):
        grid = finest(step, dimensions)
        for variable in "tu":
            check_slices(results, variable, step, dimensions)
            np.testing.assert_array_equal(read(results, f"{variable}-grid-{step}.h5")[variable], grid)
            # Whole numbers times a power of two are exact.
            along = grid.sum(axis=-2) / 2**DEEPEST
            np.testing.assert_array_equal(read(results, f"{variable}-projection-{step}.h5")[variable], along)
            with (results / f"{variable}-probe.csv").open() as file:
                rows = [row for row in csv.DictReader(file) if int(row["iteration"]) == step]
            assert len(rows) == 40
            for row in rows:
                place = np.array([float(row[a]) for a in "xyz"[:dimensions]])
                n = ((place - ORIGIN[:dimensions]) / SPACING[:dimensions] * 2**DEEPEST).astype(int)
                assert float(row[variable]) == grid[tuple(n[::-1])]
            for name, chosen in (("all", range(9)), ("levels", range(1, 4))):
                values = [value for level, _, value in leaves(step, dimensions) if level in chosen]
                with (results / f"{variable}-{name}.csv").open() as file:
                    row = next(row for row in csv.DictReader(file) if int(row["iteration"]) == step)
                assert (int(row["count"]), float(row["sum"])) == (len(values), sum(values))
            middles = [np.add(*box_of(level, i, dimensions)) / 2 for level, i, _ in leaves(step, dimensions)]
            high = np.array([3, 2, 3][:dimensions])
            with (results / f"{variable}-box-{step}.csv").open() as file:
                counts = [int(row["count"]) for row in csv.DictReader(file)]
            assert sum(counts) == sum((m >= 0).all() and (m < high).all() for m in middles)
            with (results / f"{variable}-one-time.csv").open() as file:
                steps = [int(row["iteration"]) for row in csv.DictReader(file)]
            assert steps == list(range(0, STEPS, 2))
        tree, patches = (read(results, f"{variable}-linear-{step}.h5")[variable] for variable in "tu")
        np.testing.assert_array_equal(tree, patches)
        assert not np.isnan(tree).any()
        # Results of the tree and of the patches differ only in the variable's name.
        for name in [*PLANES[dimensions], "some"]:
            t, u = (results / f"{v}-{name}-{step}.vtp" for v in "tu")
            assert t.read_bytes().replace(b'Name="t"', b'Name="u"') == u.read_bytes()


# ---- runs


@pytest.fixture(scope="module", params=[2, 3])
def reference(request, tmp_path_factory):
    dimensions = request.param
    folder = tmp_path_factory.mktemp("reference")
    results = simulate(folder, configure(folder, "inline", dimensions), 1, dimensions, 1)
    check(results, dimensions)
    return dimensions, contents(results)


PLACEMENTS = [
    ("inline", 3, 5), ("inline", 8, 8), ("{mode: cores, per_node: 1, buffer: 8 MiB}", 3, 3),
    ("{mode: cores, per_node: 3, buffer: 8 MiB}", 8, 7), ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5, 6),
    ("{mode: nodes, servers: 3, buffer: 8 MiB, partitioner: regrid}", 5, 4),
    ("{mode: nodes, servers: 2, buffer: 8 MiB, forward: blocks}", 6, 5),
]  # fmt: skip


def check_same(results, reference):
    found = contents(results)
    assert found.keys() == reference.keys()
    for name, data in reference.items():
        assert found[name] == data, name


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("reference", "placement", "ranks", "blocks"), pairs([2, 3], PLACEMENTS, strength=1), indirect=["reference"]
)
def test_placements(tmp_path, reference, placement, ranks, blocks):
    dimensions, expected = reference
    check_same(simulate(tmp_path, configure(tmp_path, placement, dimensions), ranks, dimensions, blocks), expected)


def test_halos_like_scipy(reference):
    dimensions, expected = reference
    found = 0
    for step in range(STEPS):
        grid = finest(step, dimensions)
        labels, count = ndimage.label(grid >= 1.03 * grid.mean())
        index = np.arange(1, count + 1)
        peaks = ndimage.maximum(grid, labels, index)
        taken = index[peaks >= 1.05 * grid.mean()]
        assert expected[f"t-halos-{step}.csv"] == expected[f"u-halos-{step}.csv"]
        table = list(csv.DictReader(expected[f"t-halos-{step}.csv"].decode().splitlines()))
        cell = np.prod(SPACING[:dimensions] / 2**DEEPEST)
        wanted = sorted(
            (peaks[n - 1], grid[labels == n].sum() * cell, np.count_nonzero(labels == n) * cell) for n in taken
        )
        had = sorted((float(row["peak_value"]), float(row["mass"]), float(row["volume"])) for row in table)
        np.testing.assert_allclose(had, wanted, rtol=1e-12)
        found += len(had)
    assert found > STEPS


def test_labels_and_histories_like_scipy(reference):
    """Labels of two iterations and their overlaps, in cells of the finest level, whose number is proportional to the
    volume."""
    dimensions, expected = reference
    for name in ("history.csv", "profiles-1.csv"):
        assert expected[f"t-{name}"] == expected[f"u-{name}"]
    cell = np.prod(SPACING[:dimensions] / 2**DEEPEST)
    history = list(csv.DictReader(expected["t-history.csv"].decode().splitlines()))
    before, checked = None, 0
    for step in range(STEPS):
        grid = finest(step, dimensions)
        labels = label_grid(expected[f"t-labels-{step}.h5"], dimensions)
        np.testing.assert_array_equal(label_grid(expected[f"u-labels-{step}.h5"], dimensions), labels)
        theirs, _ = ndimage.label(grid >= 1.03 * grid.mean())
        table = list(csv.DictReader(expected[f"t-halos-{step}.csv"].decode().splitlines()))
        assert set(np.unique(labels)) == set(range(-1, len(table)))
        for number, row in enumerate(table):
            own = theirs[labels == number]
            assert (own == own[0]).all()
            assert np.count_nonzero(theirs == own[0]) == len(own) == round(float(row["volume"]) / cell)
        rows = [row for row in history if int(row["iteration"]) == step]
        for row in rows if before is not None else []:
            now = int(row["halo"])
            if now < 0:
                continue
            checked += 1
            counts = np.bincount(before[labels == now] + 1, minlength=2)[1:]
            shared = round(float(row["shared"]) / cell)
            # Compared with its heaviest progenitor or, if it split off, with the one of which it has the largest part.
            if row["event"] == "birth":
                assert counts.sum() == shared == 0
            else:
                assert shared > 0
                assert shared in counts if row["event"] != "split" else shared == counts.max()
        before = labels
    assert checked > 0


def label_grid(data, dimensions):
    """Labels of the leaves as a grid of the finest level, [z, y, x]."""
    n = ROOTS[dimensions][:dimensions] * 2**DEEPEST
    grid = np.full(n[::-1], -1)
    with h5py.File(io.BytesIO(data)) as file:
        level, halo = file["level"][...], file["halo"][...]
        index = np.stack([file[a][...] for a in "ijk"[:dimensions]], 1)
    for on, label, at in zip(level, halo, index, strict=True):
        width = 2 ** (DEEPEST - on)
        part = tuple(slice(x * width, (x + 1) * width) for x in at[::-1])
        assert (grid[part] == -1).all()
        grid[part] = label
    return grid


def test_labels_beside_levels(tmp_path):
    """Python opens labels as an array over the cells of each level."""
    sidestream = needs("sidestream")
    outputs = "outputs: [database: {directory: data, variables: [t, u]}]\n"
    results = simulate(tmp_path, configure(tmp_path, "inline", 2, outputs), 3, 2, 4)
    for step in range(STEPS):
        expected = label_grid((results / f"t-labels-{step}.h5").read_bytes(), 2)
        assert expected.max() > 0
        for mesh, variable in (("tree", "t"), ("patch", "u")):
            levels = sidestream.open(results / "data", into="levels", mesh=mesh, iteration=step)
            found = sidestream.halo_labels(levels, results / f"{variable}-labels-{step}.h5")
            assert len(found) == len(levels)
            grid = np.full(expected.shape, -1)
            for number, labels in enumerate(found):
                level = levels[number]
                assert len(labels) == len(level["i"])
                assert (labels[level["refined"]] == -1).all()
                width = 2 ** (DEEPEST - number)
                for i, j, label in zip(level["i"], level["j"], labels, strict=True):
                    if label >= 0:
                        grid[j * width : (j + 1) * width, i * width : (i + 1) * width] = label
            np.testing.assert_array_equal(grid, expected)
        with pytest.raises(sidestream.Error, match="no label of levels"):
            sidestream.halo_labels(levels, results / f"t-grid-{step}.h5")


@pytest.mark.keep(1)
def test_sidecar(tmp_path, reference):
    dimensions, expected = reference
    placement = f"{{mode: sidecar, session: test-{uuid.uuid4().hex[:12]}, buffer: 8 MiB, when_full: wait}}"
    path = configure(tmp_path, placement, dimensions)
    check_same(simulate(tmp_path, path, 3, dimensions, 4, [TOOL, "serve", str(path)]), expected)


@pytest.mark.keep(1)
def test_job(tmp_path, reference):
    dimensions, expected = reference
    path = configure(
        tmp_path,
        f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}",
        dimensions,
    )
    beside = [MPIRUN, "-n", "2", TOOL, "endpoint", str(path)]
    check_same(simulate(tmp_path, path, 4, dimensions, 5, beside), expected)


def test_only_blocks_that_are_met_move(tmp_path):
    """Trees with even numbers have known bounds; the others have not."""
    moved = {}
    for name, analysis in (
        ("slice", "slice: {variable: t, axis: x, position: 4.9}"),
        ("box", "statistics: {variable: t, box: [4, 0, 0, 5, 9, 9]}"),
        ("all", "statistics: {variable: t}"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        text = f"placement: {{mode: nodes, servers: 1, buffer: 8 MiB}}\noutput: {{directory: {folder / 'results'}}}\n"
        path = folder / "run.yaml"
        path.write_text(text + DECLARATIONS[3] + VARIABLES + f"analyses:\n  - {analysis}\n")
        results = simulate(folder, path, 4, 3, 6)
        with (results / "movement.csv").open() as file:
            rows = list(csv.DictReader(file))
        moved[name] = sum(int(row["bytes"]) for row in rows)
    assert 0 < moved["slice"] < moved["all"]
    assert 0 < moved["box"] < moved["all"]


@pytest.mark.test_all
def test_like_vtk(tmp_path):
    """VTK cuts the hyper tree grid of the same tree with planes."""
    needs("sidestream")
    outputs = "outputs: [database: {directory: data, variables: [t]}]\n"
    results = simulate(tmp_path, configure(tmp_path, "inline", 3, outputs), 3, 3, 4)
    export = [sys.executable, "-m", "sidestream", "export", str(results / "data"), str(tmp_path / "all.pvd")]
    subprocess.run(export, check=True, timeout=100)
    files = sorted(tmp_path.rglob("*.htg"))
    assert len(files) == STEPS
    for step in range(STEPS):
        for name, normal, origin in (("z", (0, 0, 1), (0, 0, 2.6)), ("oblique", (1, 2, 0.7), (2, 1.4, 2.5))):
            expected = defaultdict(float)
            add_vtk(files[step], normal, origin, expected)
            found = area_by_value(read_surface(results / f"t-{name}-{step}.vtp"), "t")
            expected = {value: area for value, area in expected.items() if area > 1e-12}
            found = {value: area for value, area in found.items() if area > 1e-12}
            assert found.keys() == expected.keys()
            for value, area in expected.items():
                assert found[value] == pytest.approx(area, rel=1e-5, abs=1e-6)  # VTK's points are in single precision


def add_vtk(path, normal, origin, areas):
    reader = vtkXMLHyperTreeGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    cutter = vtkHyperTreeGridPlaneCutter()
    cutter.SetInputData(grid)
    length = np.linalg.norm(normal)
    cutter.SetPlane(*(n / length for n in normal), np.dot(normal, origin) / length)
    cutter.SetDual(False)
    cutter.Update()
    cut = cutter.GetOutput()
    values = vtk_to_numpy(cut.GetCellData().GetArray("t"))
    points = vtk_to_numpy(cut.GetPoints().GetData()).astype(float)
    for n in range(cut.GetNumberOfCells()):
        ids = cut.GetCell(n).GetPointIds()
        corners = points[[ids.GetId(i) for i in range(ids.GetNumberOfIds())]]
        # VTK's polygons are convex, and their corners are in no order.
        from_middle = corners - corners.mean(axis=0)
        u = np.cross(normal, from_middle[np.argmax(np.linalg.norm(from_middle, axis=1))])
        v = np.cross(normal, u) / length
        corners = corners[np.argsort(np.arctan2(from_middle @ v, from_middle @ u))]
        sides = corners[1:] - corners[0]
        areas[values[n]] += 0.5 * np.linalg.norm(np.cross(sides[:-1], sides[1:]).sum(axis=0))


@pytest.mark.test_all
def test_like_yt(tmp_path):
    """Slices and projections of yt's own octree of the same leaves."""
    yt = needs("yt")
    sidestream = needs("sidestream")
    yt.set_log_level(40)
    outputs = "outputs: [database: {directory: data, variables: [t]}]\n"
    results = simulate(tmp_path, configure(tmp_path, "inline", 3, outputs), 3, 3, 4)
    for step in range(STEPS):
        theirs = sidestream.open(results / "data", into="levels", mesh="tree", iteration=step).to_yt()
        cut = theirs.slice("z", theirs.quan(2.6, "code_length"))
        expected = defaultdict(float)
        for value, half_x, half_y in zip(cut["stream", "t"].d, cut["pdx"].d, cut["pdy"].d, strict=True):
            expected[value] += 4 * half_x * half_y
        found = area_by_value(read_surface(results / f"t-z-{step}.vtp"), "t")
        assert found.keys() == expected.keys()
        for value, area in expected.items():
            assert found[value] == pytest.approx(area, rel=1e-12)
        # For the axis y, yt's axes are z and x.
        ours = read(results, f"t-projection-{step}.h5")["t"]
        along = theirs.proj(("stream", "t"), "y")
        seen = np.zeros(ours.shape, bool)
        edge = SPACING / 2**DEEPEST
        for z, x, half_z, half_x, value in zip(
            along["px"].d, along["py"].d, along["pdx"].d, along["pdy"].d, along["stream", "t"].d, strict=True
        ):
            low = np.round((np.array([z - half_z, x - half_x]) - ORIGIN[[2, 0]]) / edge[[2, 0]]).astype(int)
            high = np.round((np.array([z + half_z, x + half_x]) - ORIGIN[[2, 0]]) / edge[[2, 0]]).astype(int)
            part = (slice(low[0], high[0]), slice(low[1], high[1]))
            np.testing.assert_allclose(ours[part], value, rtol=1e-12)
            seen[part] = True
        assert seen.all()
