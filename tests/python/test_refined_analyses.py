"""Every analysis on a refined field, as an octree and as patches. Results are compared with those on a uniform mesh of
the finest level. refined_rows.py has the comparisons and their tolerances, and docs/adaptive-meshes.md shows them as a
table. The test fails if the program has an analysis that is not in these rows. test_refined_like_yt.py compares with
yt.
"""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import refined_twins
import sidestream
from pairs import few
from refined_reading import both, check_measures, make_twins, measure_by_value, polygons, volume_by_value
from refined_rows import PLACES, ROWS, filled, table
from refined_twins import DEEPEST, ORIGIN, SPACING, SURFACE, World
from scipy import ndimage
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

TOOL = os.environ["SIDESTREAM_TOOL"]
PAGE = Path(__file__).parents[2] / "docs/adaptive-meshes.md"


@pytest.fixture(scope="module", params=few([3, 2]))
def twins(request, tmp_path_factory):
    return make_twins(request.param, tmp_path_factory)


# ---- the list


def kinds():
    text = subprocess.run([TOOL, "reference"], capture_output=True, text=True, check=True, timeout=60).stdout
    part = text[text.index("\n## Kinds of analyses") : text.index("\n## Kinds of outputs")]
    return re.findall(r"^### (\w+)$", part, re.MULTILINE)


def test_every_analysis_is_here():
    assert sorted(kinds()) == sorted(ROWS)


def test_the_page_has_the_table():
    assert table() in PAGE.read_text(), f"{PAGE.name} should have\n{table()}"


@pytest.mark.keep(2)
@pytest.mark.parametrize("kind", [kind for kind, row in ROWS.items() if row.refused])
@pytest.mark.parametrize("name", ["t", "u"])
def test_refused(kind, name, tmp_path):
    if kind not in kinds():
        pytest.fail(f"{kind} is no analysis of this build")
    world = World(3)
    with pytest.raises(sidestream.Error, match=ROWS[kind].refused[1]):
        refined_twins.run(world, tmp_path / "results", filled(ROWS[kind].tasks, name, world))


def test_the_fields(twins):
    """All levels have leaves, coarse cells lie beside fine ones, and the surface lies in finest cells."""
    world = twins.world
    levels = {level for level, _ in world.leaves}
    assert levels == set(range(DEEPEST + 1)) and len(world.patches()) > 20
    width = world.uniform(lambda level: level)
    crossed = np.abs(world.uniform() - SURFACE) < 0.15
    assert crossed.any() and (width[crossed] == DEEPEST).all()


# ---- against the uniform mesh


@both
def test_statistics(twins, name):
    (uniform,) = twins.rows("f-statistics.csv")
    (refined,) = twins.rows(f"{name}-statistics.csv")
    for column in ("minimum", "maximum"):
        assert refined[column] == uniform[column]
    cells, total, leaves = 0, 0.0, 0
    for level in range(DEEPEST + 1):
        (row,) = twins.rows(f"{name}-statistics-{level}.csv")
        finest = 2 ** (twins.world.dimensions * (DEEPEST - level))
        leaves += int(row["count"])
        cells += finest * int(row["count"])
        total += finest * float(row["sum"])
    assert leaves == int(refined["count"]) == len(twins.world.leaves)
    assert (cells, total) == (int(uniform["count"]), float(uniform["sum"]))


@both
def test_statistics_by_size(twins, name):
    """Statistics are the same on all meshes, and equal NumPy's."""
    (uniform,), (refined,) = twins.rows("f-size.csv"), twins.rows(f"{name}-size.csv")
    for column in ("minimum", "maximum", "sum", "mean", "variance", "standard_deviation", "size"):
        assert refined[column] == uniform[column], column
    assert int(refined["count"]) == len(twins.world.leaves) < int(uniform["count"])
    fine, volume = twins.world.uniform(), twins.world.volume(DEEPEST)
    assert float(refined["size"]) == pytest.approx(fine.size * volume, rel=1e-15)
    assert float(refined["sum"]) == pytest.approx(fine.sum() * volume, rel=1e-13)
    assert float(refined["mean"]) == pytest.approx(fine.mean(), rel=1e-13)
    assert float(refined["variance"]) == pytest.approx(fine.var(), rel=1e-12)


@both
def test_time_statistics(twins, name):
    """The mean over a window of one iteration is the variable itself."""
    (itself,), (over_time,) = twins.rows(f"{name}-size.csv"), twins.rows(f"{name}-over-time.csv")
    for column in ("count", "minimum", "maximum", "sum", "mean", "variance", "size"):
        assert over_time[column] == itself[column], column
    (uniform,) = twins.rows("f-over-time.csv")
    assert (over_time["sum"], over_time["size"]) == (uniform["sum"], uniform["size"])


@both
def test_histogram(twins, name):
    expected, found = twins.rows("f-histogram.csv"), twins.rows(f"{name}-histogram.csv")
    fine = twins.world.uniform()
    edges = np.linspace(0, 4, 17)
    exact = np.histogram(fine, edges)[0] * twins.world.volume(DEEPEST)
    column = "weight" if "weight" in expected[0] else next(c for c in expected[0] if "volume" in c)
    other = column if column in found[0] else next(c for c in found[0] if "volume" in c)
    np.testing.assert_array_equal([float(row[other]) for row in found], exact)
    np.testing.assert_array_equal([float(row[column]) for row in expected], exact)


@both
def test_histogram2d(twins, name):
    expected, found = twins.read("f-histogram2d.h5"), twins.read(f"{name}-histogram2d.h5")
    assert expected["weight"].sum() > 0
    np.testing.assert_array_equal(found["weight"], expected["weight"])


@pytest.mark.keep(4)
@both
@pytest.mark.parametrize("plane", ["cut", "oblique"])
def test_slice(twins, name, plane):
    expected = measure_by_value(twins.folder / f"f-{plane}.vtp")
    assert len(expected) > 10
    check_measures(measure_by_value(twins.folder / f"{name}-{plane}.vtp"), expected, 1e-12)


def lines(twins, name):
    """Points, values and names (line and number of step) of stream lines."""
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(twins.folder / f"{name}-lines.vtp"))
    reader.Update()
    data = reader.GetOutput().GetPointData()
    number, length, values = (vtk_to_numpy(data.GetArray(n)) for n in ("line", "arc_length", name))
    names = list(zip(number.astype(int), np.round(length / 0.03125).astype(int), strict=True))
    return vtk_to_numpy(reader.GetOutput().GetPoints().GetData()), values, names


@both
def test_streamlines(twins, name):
    points, values, names = lines(twins, name)
    expected = {key: place for place, key in zip(*lines(twins, "f")[::2], strict=True)}
    assert len(names) > 300 and {line for line, _ in names} == set(range(9))
    common = [n for n, key in enumerate(names) if key in expected]
    assert len(common) > 0.95 * max(len(names), len(expected))
    off = [np.linalg.norm(points[n] - expected[names[n]]) for n in common]
    assert max(off) < np.linalg.norm(SPACING[: twins.world.dimensions]) / 2
    if name == "t":
        fine, n = twins.world.uniform(), twins.world.dimensions
        cells = np.floor((points[:, :n] - ORIGIN[:n]) / (SPACING[:n] / 2**DEEPEST)).astype(int)
        cells = np.hstack([cells, np.zeros((len(cells), 3 - n), int)])
        inside = np.all(points[:, :n] < (ORIGIN + SPACING * twins.world.roots)[:n], axis=1)
        np.testing.assert_array_equal(values[inside], fine[tuple(cells[inside][:, ::-1].T)])


@both
def test_isosurface(twins, name):
    expected, found = (polygons(twins.folder / f"{which}-surface.vtp") for which in ("f", name))
    assert len(expected[0]) > 20 and len(found[1]) == len(expected[1])
    assert sorted(map(tuple, found[0])) == sorted(map(tuple, expected[0]))
    ours, theirs = (polygons(twins.folder / f"{which}-coarse.vtp")[0] for which in (name, "f"))
    coarse = np.linalg.norm(SPACING[: twins.world.dimensions])
    assert len(ours) > 10
    for some, others in ((ours, theirs), (theirs, ours)):
        inside = [p for p in some if not on_rim(p, twins.world)]
        assert max(np.linalg.norm(others - p, axis=1).min() for p in inside) < coarse


def on_rim(point, world):
    """Surfaces end half a cell before the mesh's faces, and cells there may be coarse or fine."""
    n = world.dimensions
    low, high = ORIGIN[:n], (ORIGIN + SPACING * world.roots)[:n]
    return ((point[:n] < low + SPACING[:n] / 2) | (point[:n] > high - SPACING[:n] / 2)).any()


@pytest.mark.keep(6)
@both
@pytest.mark.parametrize(("part", "tolerance"), [("part", 0), ("side", 1e-6), ("box", 1e-6)])
def test_threshold_and_clip(twins, name, part, tolerance):
    n = twins.world.dimensions
    expected = volume_by_value(twins.folder / f"f-{part}.vtu", "f", n)
    assert len(expected) > 20
    check_measures(volume_by_value(twins.folder / f"{name}-{part}.vtu", name, n), expected, tolerance)
    if part == "part":
        fine = twins.world.uniform()
        cells = np.count_nonzero((fine >= 0.5) & (fine <= 1.5))
        assert sum(expected.values()) == cells * twins.world.volume(DEEPEST)


@pytest.mark.keep(4)
@both
@pytest.mark.parametrize("picture", ["picture", "faces"])
def test_render(twins, name, picture):
    expected = np.asarray(sidestream.open(twins.folder / f"f-{picture}.png")["image"])
    found = np.asarray(sidestream.open(twins.folder / f"{name}-{picture}.png")["image"])
    assert len(np.unique(expected.reshape(-1, expected.shape[-1]), axis=0)) > 20
    # Samples on edges of a coarse face, or of fine ones there, may be rounded to either side.
    assert np.count_nonzero((found != expected).any(axis=-1)) <= 2e-4 * 320 * 240


@both
def test_projection(twins, name):
    expected = twins.read("f-integral.h5")["f"]
    # Multiples of 1/64 times powers of two are exact in any order.
    fine = twins.world.uniform()
    exact = fine.sum(axis=1) * SPACING[1] / 2**DEEPEST
    np.testing.assert_array_equal(expected, exact if twins.world.dimensions == 3 else exact[0])
    np.testing.assert_array_equal(twins.read(f"{name}-integral.h5")[name], expected)
    mean = twins.read("f-mean.h5")
    found = twins.read(f"{name}-mean.h5")
    for array, other in (("f", name), ("weight", "weight"), ("length", "length")):
        np.testing.assert_array_equal(found[other], mean[array])


def among_finest(twins):
    """True for each finest cell, [k, j, i], whose neighbours are all finest cells, too."""
    level = twins.world.uniform(lambda level: level)
    return ndimage.minimum_filter(level, size=3, mode="nearest") == DEEPEST


def cells_at(twins, rows):
    n = twins.world.dimensions
    places = np.array([[float(row[axis]) for axis in "xyz"[:n]] for row in rows])
    cells = np.floor((places - ORIGIN[:n]) / SPACING[:n] * 2**DEEPEST).astype(int)
    return tuple(cells.T[::-1]) if n == 3 else (np.zeros(len(rows), int), *cells.T[::-1])


@both
def test_probe(twins, name):
    rows = twins.rows(f"{name}-probe.csv")
    found = np.array([float(row[name]) for row in rows])
    assert len(found) == PLACES
    at = cells_at(twins, rows)
    np.testing.assert_array_equal(found, [float(row["f"]) for row in twins.rows("f-probe.csv")])
    np.testing.assert_array_equal(found, twins.world.uniform()[at])
    linear = np.array([float(row[name]) for row in twins.rows(f"{name}-linear.csv")])
    expected = np.array([float(row["f"]) for row in twins.rows("f-linear.csv")])
    inside = among_finest(twins)[at]
    assert 0 < inside.sum() < PLACES
    np.testing.assert_allclose(linear[inside], expected[inside], rtol=1e-15)
    assert (np.abs(linear - expected) <= np.linalg.norm(SPACING)).all()


@both
def test_resample(twins, name):
    for part in ("grid", "less"):
        expected, found = twins.read(f"f-{part}.h5"), twins.read(f"{name}-{part}.h5")
        np.testing.assert_array_equal(found[name], expected["f"])
    found, expected = twins.read(f"{name}-grid.h5"), twins.read("f-grid.h5")
    fine = twins.world.uniform()
    np.testing.assert_array_equal(found[name], fine if twins.world.dimensions == 3 else fine[0])
    for key, array in expected.items():
        np.testing.assert_array_equal(found[key.replace("f", name, 1) if key.startswith("f") else key], array)
    smooth, wanted = twins.read(f"{name}-smooth.h5")[name], twins.read("f-smooth.h5")["f"]
    inside = among_finest(twins).reshape(smooth.shape)
    assert inside.any() and not inside.all()
    np.testing.assert_allclose(smooth[inside], wanted[inside], rtol=1e-15)


@both
def test_places_on_levels(twins, name):
    """Positions whose finest cell is on another level have no value. Linear interpolation does not use such cells."""
    levels = twins.world.uniform(lambda level: level)
    rows = twins.rows(f"{name}-coarse-probe.csv")
    at = cells_at(twins, rows)
    chosen = levels[at] <= 1
    assert 0 < chosen.sum() < PLACES
    expected = np.where(chosen, twins.world.uniform()[at], np.nan)
    np.testing.assert_array_equal([float(row[name]) for row in rows], expected)
    middle, smooth = (twins.read(f"{name}-{which}.h5")[name] for which in ("middle", "middle-smooth"))
    chosen = ((levels >= 1) & (levels <= 2)).reshape(middle.shape)
    np.testing.assert_array_equal(middle, np.where(chosen, twins.world.uniform().reshape(middle.shape), np.nan))
    np.testing.assert_array_equal(np.isnan(smooth), ~chosen)
    whole = twins.read(f"{name}-smooth.h5")[name]
    inside = ndimage.minimum_filter(chosen, size=9, mode="nearest")  # the neighbours of a coarse cell reach so far
    assert inside.any() and (smooth != whole)[chosen].any()
    np.testing.assert_array_equal(smooth[inside], whole[inside])
    # Next to a cell that is not chosen, a position has its own cell's value.
    own = smooth == middle
    assert own[chosen & ~inside].any()
    if name == "u":
        np.testing.assert_array_equal(smooth, twins.read("t-middle-smooth.h5")["t"])


@pytest.mark.keep(4)
@both
@pytest.mark.parametrize(("table", "least"), [("halos", 1), ("peaks", 2)])
def test_halos(twins, name, table, least):
    expected, found = twins.rows(f"f-{table}.csv"), twins.rows(f"{name}-{table}.csv")
    assert len(expected) >= least
    volume = twins.world.volume(DEEPEST)
    # Tables of uniform meshes have numbers of cells instead of volumes.
    exact = sorted((float(row["peak_value"]), float(row["mass"]), int(row["cells"]) * volume) for row in expected)
    assert sorted((float(row["peak_value"]), float(row["mass"]), float(row["volume"])) for row in found) == exact


@both
def test_merge_tree(twins, name):
    trees = {}
    for which in (name, "f"):
        trees[which] = sidestream.MergeTree(*(twins.folder / f"{which}-tree{end}" for end in (".csv", "-cells.csv")))
    expected, found = ([tuple(pair)[1::2] for pair in trees[which].pairs(1e-9)] for which in ("f", name))
    assert len(expected) > 1 and sorted(found) == sorted(expected)
    volume = twins.world.volume(DEEPEST)
    for boundary in (1.6, 1.8, 2.2):
        fine, parts = (trees[which].halos(boundary, boundary) for which in ("f", name))
        exact = [(halo["peak_value"], halo["cells"] * volume, halo["sum"] * volume) for halo in fine]
        assert sorted((part["peak_value"], part["volume"], part["mass"]) for part in parts) == sorted(exact)


@both
def test_spectra(twins, name):
    """Spectra at the finest level are the same bits, and those at a coarser one are NumPy's of means in its cells."""
    for part in ("power", "rows", "flux"):
        expected, found = (twins.rows(f"{which}-{part}.csv") for which in ("f", name))
        assert len(expected) > 1 and [list(row.values()) for row in found] == [list(row.values()) for row in expected]
    fine, n = twins.world.uniform(), twins.world.dimensions
    width = 2 ** (DEEPEST - 1)
    shape = [m for extent in fine.shape[-n:] for m in (extent // width, width)]
    means = fine.reshape(shape).mean(axis=tuple(range(1, 2 * n, 2)))
    volume, cells = twins.world.volume(1), means.size
    power = np.abs(np.fft.fftn(means / means.mean() - 1)) ** 2 * volume / cells
    lengths = np.array(means.shape) * (SPACING[:n] / 2)[::-1]
    modes = np.meshgrid(
        *(np.fft.fftfreq(m, 1 / m) / side for m, side in zip(means.shape, lengths, strict=True)), indexing="ij"
    )
    k = 2 * np.pi * np.sqrt(sum(mode**2 for mode in modes))
    rows = twins.rows(f"{name}-mean-power.csv")
    assert len(rows) > 2
    for row in rows:
        inside = (k >= float(row["k_lower"])) & (k < float(row["k_upper"]))
        assert inside.sum() == int(row["modes"])
        assert float(row["power"]) == pytest.approx(power[inside].mean(), rel=1e-12)


@both
def test_python(twins, name):
    exact = twins.world.uniform().sum() * twins.world.volume(DEEPEST)
    for which in (name, "f"):
        assert sum(float(row["sum"]) for row in twins.rows(f"{which}-python.csv")) == exact


def test_edges_of_cells_look_alike(tmp_path):
    """On a slice of equal cells all lines along an axis are equally dark, wherever they lie between pixels."""
    world = World(2)
    task = "  - render: {slice: {variable: f, axis: z, edges: true, cells: own, range: [-2, -1]}, size: [413, 397],\n"
    task += "             camera: {view: [0, 0, -1], projection: parallel}, caption: none, colour_bar: false,\n"
    task += "             outline: false, file: edges.png}\n"
    refined_twins.run(world, tmp_path / "results", task)
    picture = np.asarray(sidestream.open(tmp_path / "results" / "edges.png")["image"]).astype(int)[..., 0]
    columns = np.median(picture[100:300, 60:350], axis=0)
    dark = columns != np.median(columns)
    assert dark.sum() > 30 and len(set(columns[dark])) == 1 and np.diff(np.flatnonzero(dark)).min() > 6
