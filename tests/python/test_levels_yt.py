"""Levels in yt: yt's sums, grids and projections agree with ours."""

import subprocess
import sys

import numpy as np
import pytest
import refined
import sidestream
import trees
from optional_packages import all_need, needs
from test_levels import MPIRUN, PROGRAM

pytestmark = all_need("yt")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    place = tmp_path_factory.mktemp("yt")
    command = [MPIRUN, "-n", "3", sys.executable, str(PROGRAM), str(place / "run"), "{mode: inline}", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    needs("yt").set_log_level(40)
    return place / "run/data"


@pytest.mark.test_all
@pytest.mark.parametrize("step", [0, 1])
def test_octree(data, step):
    levels = sidestream.open(data, into="levels", mesh="tree", iteration=step)
    dataset = levels.to_yt()  # kept: what it gives has only a weak reference to it
    everything = dataset.all_data()
    centres = np.stack([everything["index", axis].d for axis in "xyz"], axis=1)
    half = np.stack([everything["index", f"d{axis}"].d / 2 for axis in "xyz"], axis=1)
    found = {tuple(row) for row in np.hstack([centres - half, everything["stream", "leaf"].d[:, None]]).tolist()}
    expected = {(*trees.bounds(leaf)[0], trees.value(leaf)) for leaf in trees.leaves(step) if leaf[0] > 0}
    assert expected <= found
    volume = np.prod(2 * half, axis=1)
    np.testing.assert_allclose(volume.sum(), np.prod(np.array(trees.ROOTS) * trees.SPACING))
    exact = sum(trees.value(leaf) * np.prod(np.subtract(*trees.bounds(leaf)[::-1])) for leaf in trees.leaves(step))
    np.testing.assert_allclose((everything["stream", "leaf"].d * volume).sum(), exact)


def test_patches(data):
    levels = sidestream.open(data, into="levels", mesh="even")
    found = levels.to_yt(length_unit="cm")
    assert (found.max_level, found.refine_by) == (2, 2)
    for level in range(3):
        # yt never fills in means of finer cells: a covering grid has the cells of its own level.
        grid = found.covering_grid(level, left_edge=found.domain_left_edge, dims=found.domain_dimensions * 2**level)
        theirs = grid["stream", "heat"].d
        ours = levels.covering_grid("heat", level).values.T
        covered = ours != levels.covering_grid("heat", level, finer="sample").values.T
        np.testing.assert_array_equal(theirs[~covered], ours[~covered])
        assert covered.any() == (level < 2)
    everything = found.all_data()
    assert everything["index", "cell_volume"].d.sum() == 4**3, "each place once, also below patches over two others"
    sums = found.proj(("stream", "heat"), "z").to_frb(4, 16)["stream", "heat"].d
    finest = levels.covering_grid("heat", 2).values
    np.testing.assert_allclose(sums, finest.sum(axis=0) / 4)
    assert refined.heat(0, 0, 0, 0) == finest[0, 0, 0]


def test_errors(data):
    levels = sidestream.open(data, into="levels", mesh="patches")
    with pytest.raises(sidestream.Error, match=r"refined by \[1, 2, 4\], but yt wants one ratio"):
        levels.to_yt()
    with pytest.raises(sidestream.Error, match="has 2 dimensions, but yt's octrees have three"):
        sidestream.open(data, into="levels", mesh="flat").to_yt()
