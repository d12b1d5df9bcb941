"""Analyses on a refined field, as an octree and as patches, compared with yt on the same patches; see
refined_rows.py."""

from collections import defaultdict

import numpy as np
import pytest
import refined_twins
from optional_packages import all_need
from pairs import few
from refined_reading import both, check_measures, make_twins, measure_by_value, volume_by_value
from refined_rows import BOX_HIGH, BOX_LOW
from refined_twins import DEEPEST, ORIGIN, SPACING

pytestmark = all_need("yt")


@pytest.fixture(scope="module", params=few([3, 2]))
def twins(request, tmp_path_factory):
    return make_twins(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def theirs(twins):
    return refined_twins.yt_grids(twins.world)


@pytest.mark.test_all
@both
def test_statistics_like_yt(twins, theirs, name):
    everything = theirs.all_data()
    (row,) = twins.rows(f"{name}-statistics.csv")
    least, most = everything.quantities.extrema(("stream", "u"))
    assert (float(row["minimum"]), float(row["maximum"])) == (float(least), float(most))
    assert len(everything["stream", "u"]) == int(row["count"])
    mean = float(everything.quantities.weighted_average_quantity(("stream", "u"), ("index", "cell_volume")))
    (by_size,) = twins.rows(f"{name}-size.csv")
    assert mean == pytest.approx(float(by_size["mean"]), rel=1e-13)
    variance = everything.quantities.weighted_standard_deviation(("stream", "u"), ("index", "cell_volume"))[0] ** 2
    assert float(variance) == pytest.approx(float(by_size["variance"]), rel=1e-12)


@both
def test_histogram_like_yt(twins, theirs, name):
    everything = theirs.all_data()
    depth = 1.0 if twins.world.dimensions == 2 else None
    sums = np.histogram(
        everything["stream", "u"].d, np.linspace(0, 4, 17), weights=everything["index", "cell_volume"].d
    )[0]
    rows = twins.rows(f"{name}-histogram.csv")
    column = next(c for c in rows[0] if "volume" in c or c == "weight")
    np.testing.assert_allclose([float(row[column]) for row in rows], sums / (depth or 1), rtol=1e-13)


@both
def test_slice_like_yt(twins, theirs, name):
    cut = theirs.slice("z", 2.6 if twins.world.dimensions == 3 else 0.5)
    expected = defaultdict(float)
    for value, half_x, half_y in zip(cut["stream", "u"].d, cut["pdx"].d, cut["pdy"].d, strict=True):
        expected[float(value)] += 4 * half_x * half_y
    check_measures(measure_by_value(twins.folder / f"{name}-cut.vtp"), dict(expected), 1e-12)


@both
def test_threshold_and_clip_like_yt(twins, theirs, name):
    n = twins.world.dimensions
    everything = theirs.all_data()
    inside = everything.cut_region("(obj['stream', 'u'] >= 0.5) & (obj['stream', 'u'] <= 1.5)")
    volume = float(inside["index", "cell_volume"].sum())
    assert sum(volume_by_value(twins.folder / f"{name}-part.vtu", name, n).values()) == pytest.approx(volume, rel=1e-13)
    clipped = volume_by_value(twins.folder / f"{name}-box.vtu", name, n)
    # yt takes whole cells whose centres are in a region, so that this cuts them by hand.
    centre = np.stack([everything["index", a].d for a in "xyz"[:n]], axis=1)
    half = np.stack([everything["index", "d" + a].d for a in "xyz"[:n]], axis=1) / 2
    common = np.clip(np.minimum(centre + half, BOX_HIGH[:n]) - np.maximum(centre - half, BOX_LOW[:n]), 0, None)
    expected = defaultdict(float)
    for value, size in zip(everything["stream", "u"].d, np.prod(common, axis=1), strict=True):
        if size > 1e-9:
            expected[float(value)] += size
    check_measures(clipped, dict(expected), 1e-6)


@both
def test_projection_like_yt(twins, theirs, name):
    if twins.world.dimensions == 2:
        # yt cannot project along an axis that a flat mesh uses, so that this adds up its cells by hand.
        ray = theirs.covering_grid(DEEPEST, theirs.domain_left_edge, twins.world.size)
        along = (ray["stream", "u"].d[..., 0].sum(axis=1) * SPACING[1] / 2**DEEPEST,)
        np.testing.assert_allclose(twins.read(f"{name}-integral.h5")[name], along[0], rtol=1e-12)
        return
    along = theirs.proj(("stream", "u"), "y")
    ours, seen = twins.read(f"{name}-integral.h5")[name], 0
    edge = (SPACING / 2**DEEPEST)[[2, 0]]
    for z, x, half_z, half_x, value in zip(
        along["px"].d, along["py"].d, along["pdx"].d, along["pdy"].d, along["stream", "u"].d, strict=True
    ):
        low = np.round((np.array([z - half_z, x - half_x]) - ORIGIN[[2, 0]]) / edge).astype(int)
        high = np.round((np.array([z + half_z, x + half_x]) - ORIGIN[[2, 0]]) / edge).astype(int)
        part = ours[low[0] : high[0], low[1] : high[1]]
        np.testing.assert_allclose(part, value, rtol=1e-12)
        seen += part.size
    assert seen == ours.size


@both
def test_probe_and_resample_like_yt(twins, theirs, name):
    n = twins.world.dimensions
    grid = theirs.covering_grid(DEEPEST, theirs.domain_left_edge, twins.world.size)["stream", "u"].d.T
    np.testing.assert_array_equal(twins.read(f"{name}-grid.h5")[name], grid if n == 3 else grid[0])
    rows = twins.rows(f"{name}-probe.csv")
    places = [[float(row[a]) for a in "xyz"[:n]] + [0.5] * (3 - n) for row in rows]
    found = [theirs.find_field_values_at_point([("stream", "u")], place)[0] for place in places]
    np.testing.assert_array_equal([float(row[name]) for row in rows], np.array(found, float).ravel())
