"""Levels of trees and patches that Python opens, compared with cells that are counted one by one."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import h5py
import numpy as np
import pytest
import refined
import sidestream
import trees
from pairs import few

PROGRAM = Path(refined.__file__)
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
RUNS = [
    ("cores-3", "{mode: cores, buffer: 32 MiB}", 3, 5),
    ("nodes-3", "{mode: nodes, buffer: 32 MiB, servers: 1}", 3, 6),
    ("inline-1", "{mode: inline}", 1, 1),
    ("inline-5", "{mode: inline}", 5, 3),  # ranks without blocks
]


@pytest.fixture(scope="module", params=few(map(list, RUNS)), ids=[run[0] for run in RUNS])
def results(request, tmp_path_factory):
    _, placement, ranks, blocks = request.param
    place = tmp_path_factory.mktemp("levels") / "results"
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), str(place), placement, str(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def opened(results, source, mesh, step):
    if source == "database":
        return sidestream.open(results / "data", into="levels", mesh=mesh, iteration=step)
    return sidestream.open(results / "fields.h5.series", into="levels", mesh=mesh, cycle=10 * step)


SOURCES = ("database", "hdf5")


def patch_leaves(step):
    """Level and index of the finest cell at each position, cell by cell on the finest level."""
    shape = np.array(refined.CELLS) * refined.RATIOS[2]
    level = np.zeros(shape, int)
    for n, lo, hi in refined.fine_boxes(step):
        ratio = np.array(refined.RATIOS[2]) // refined.RATIOS[n]
        part = tuple(slice(a * r, b * r) for a, b, r in zip(lo, hi, ratio, strict=True))
        level[part] = np.maximum(level[part], n)
    return level


def patch_values(step, of):
    level = patch_leaves(step)
    index = np.indices(level.shape)
    found = np.zeros(level.shape)
    for n, ratio in enumerate(refined.RATIOS):
        own = index // (np.array(refined.RATIOS[2]) // ratio).reshape(3, 1, 1, 1)
        found = np.where(level == n, of(n, *own, step), found)
    return found  # [i, j, k]


def block_means(values, ratio):
    i, j, k = (n // r for n, r in zip(values.shape, ratio, strict=True))
    return values.reshape(i, ratio[0], j, ratio[1], k, ratio[2]).mean((1, 3, 5))


@pytest.mark.parametrize(("source", "step"), list(product(SOURCES, (0, 1))))
def test_tree_has_each_leaf_once(results, source, step):
    levels = opened(results, source, "tree", step)
    found = {}
    for level in levels:
        counted = ~level["refined"] & (level["owner"] >= 0)
        index = np.stack([level[axis] for axis in "ijk"], axis=1)[counted]
        for cell, value in zip(index.tolist(), level["leaf"][counted], strict=True):
            assert (level.number, *cell) not in found
            found[(level.number, *cell)] = value
        keys = level["morton"]
        assert np.all(np.diff(keys.astype(np.int64)) > 0), "in order, none twice"
        assert keys.tolist() == [
            sum((int(n) >> b & 1) << 3 * b + a for b in range(12) for a, n in enumerate(cell))
            for cell in np.stack([level[axis] for axis in "ijk"], axis=1)
        ]
    leaves = trees.leaves(step)
    assert set(found) == set(leaves)
    assert all(found[leaf] == trees.value(leaf) for leaf in leaves)
    assert len(levels[-1]["i"]) == len(levels[len(levels) - 1]["i"])


@pytest.mark.parametrize(("source", "level"), list(product(SOURCES, (0, 1, 2, 5))))
def test_tree_at_one_resolution(results, source, level):
    """Fills in every cell of the grid by brute force over all leaves."""
    levels = opened(results, source, "tree", 1)
    grid = levels.covering_grid("leaf", level)
    sums, weights = np.zeros(grid.shape), np.zeros(grid.shape)
    for leaf in trees.leaves(1):
        n, *index = leaf
        if n >= level:
            at = tuple(m >> n - level for m in index)[::-1]
            sums[at] += trees.value(leaf) / 8 ** (n - level)
            weights[at] += 1 / 8 ** (n - level)
        else:
            part = tuple(slice(m << level - n, (m + 1) << level - n) for m in index)[::-1]
            sums[part], weights[part] = trees.value(leaf), 1
    assert np.all(weights == 1)
    np.testing.assert_allclose(grid.values, sums, rtol=1e-13)
    np.testing.assert_allclose(grid["x"].values[[0, -1]], [-1 + 1 / 2**level, 3 - 1 / 2**level])
    part = levels.covering_grid("leaf", level, ((1, 0, 0), (2, 1, 1)))
    np.testing.assert_array_equal(part.values, grid.values[:1, :1, 1:2])
    sample = levels.covering_grid("leaf", level, finer="sample").values
    known = np.array([[*trees.bounds(leaf)[0], *trees.bounds(leaf)[1], trees.value(leaf)] for leaf in trees.leaves(1)])
    every = max(1, sample.size // 300)
    for at in list(np.ndindex(sample.shape))[::every]:
        centre = trees.ORIGIN + np.array(trees.SPACING) / 2**level * (np.array(at[::-1]) + 0.5)
        inside = np.all((known[:, :3] <= centre) & (centre < known[:, 3:6]), axis=1)
        assert sample[at] == known[inside, 6].item()


@pytest.mark.parametrize("source", SOURCES)
def test_tree_of_two_dimensions(results, source):
    levels = opened(results, source, "flat", 1)
    found = {}
    for level in levels:
        leaf = ~level["refined"]
        cells = zip(level["i"][leaf], level["j"][leaf], level["height"][leaf], strict=True)
        found |= {(level.number, int(i), int(j)): tuple(value) for i, j, value in cells}
        assert set(level["owner"]) == {0} and "k" not in level
    assert found == {leaf: refined.flat_value(*leaf) for leaf in refined.flat_leaves(1)}
    grid = levels.covering_grid("height", 3)
    assert grid.dims == ("y", "x", "component_2") and grid.shape == (16, 24, 2) and grid.dtype == np.float32
    for level, i, j in refined.flat_leaves(1):
        n = 3 - level
        part = grid.values[j << n : (j + 1) << n, i << n : (i + 1) << n]
        assert np.all(part == refined.flat_value(level, i, j))


@pytest.mark.parametrize(("source", "step"), list(product(SOURCES, (0, 1))))
def test_patches(results, source, step):
    levels = opened(results, source, "patches", step)
    assert len(levels) == 3 and levels.variables["density"].unit == "kg"
    exact, finest = patch_leaves(step), np.array(refined.RATIOS[2])
    for level in levels:
        ratio = finest // refined.RATIOS[level.number]
        index = np.stack([level[axis] for axis in "ijk"], axis=1)
        assert len(np.unique(level["morton"])) == len(index), "none twice"
        finer = exact > level.number
        whole = [finer[tuple(slice(n * r, (n + 1) * r) for n, r in zip(c, ratio, strict=True))].all() for c in index]
        np.testing.assert_array_equal(level["refined"], whole)
        np.testing.assert_array_equal(level["density"], refined.density(level.number, *index.T, step))
        np.testing.assert_array_equal(level["rank"], refined.rank_of(level.number, *index.T, step))
    assert [len(level["i"]) for level in levels][:2] == [8 * 6 * 4, 8 * 6 * 4]


@pytest.mark.parametrize(("source", "step"), list(product(SOURCES, (0, 1))))
def test_patches_at_one_resolution(results, source, step):
    levels = opened(results, source, "patches", step)
    exact = patch_values(step, refined.density)
    np.testing.assert_array_equal(levels.covering_grid("density", 2).values.T, exact)
    for level in (0, 1):
        ratio = np.array(refined.RATIOS[2]) // refined.RATIOS[level]
        grid = levels.covering_grid("density", level)
        np.testing.assert_allclose(grid.values.T, block_means(exact, ratio), rtol=1e-13)
        assert grid.attrs["units"] == "kg"
    numbers = levels.covering_grid("rank", 0, ((1, 1, 1), (7, 5, 3)), finer="sample")
    assert numbers.dtype == np.int32
    centres = patch_values(step, refined.rank_of)[4::8, 2::4, 1::2]
    np.testing.assert_array_equal(numbers.values.T, centres[1:7, 1:5, 1:3])


def test_a_region_reads_no_block_without_it(results, monkeypatch):
    levels = opened(results, "database", "patches", 0)
    read, original = [], type(levels.source).read
    spy = lambda self, name, block, *part: read.append(block.id) or original(self, name, block, *part)  # noqa: E731
    monkeypatch.setattr(type(levels.source), "read", spy)
    levels.covering_grid("density", 1, ((4, 4, 4), (5, 5, 5)))
    assert len(read) == 1, "one patch of level 2 has all of it"


def test_datasets(results):
    found = opened(results, "database", "patches", 1)[1].dataset()
    assert found["density"].attrs["units"] == "kg" and found.attrs["level"] == 1
    np.testing.assert_array_equal(found["z"], 3 + 1 * (found["k"] + 0.5))


def test_files_without_ratios(results, tmp_path):
    for path in results.glob("fields-000010*.h5"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with h5py.File(tmp_path / "fields-000010.h5", "a") as file:
        file["meshes/patches"].attrs.pop("refinement", None)
    with pytest.raises(sidestream.Error, match="has blocks on level 2 and 0 refinements"):
        len(sidestream.open(tmp_path / "fields-000010.h5", into="levels", mesh="patches"))


def test_errors(results):
    with pytest.raises(sidestream.Error, match=r"say mesh=\.\.\., there are: even, flat, patches, tree"):
        sidestream.open(results / "data", into="levels")
    with pytest.raises(sidestream.Error, match="the mesh 'trees' is no octree"):
        sidestream.open(results / "data", into="levels", mesh="trees")
    with pytest.raises(sidestream.Error, match="the last ones are"):
        sidestream.open(results / "fields.h5.series", into="levels", mesh="tree", cycle=7)
    levels = opened(results, "database", "patches", 0)
    with pytest.raises(sidestream.Error, match="expected 'mean' or 'sample'"):
        levels.covering_grid("density", 0, finer="maximum")
    with pytest.raises(sidestream.Error, match="level 3, expected 0 to 2"):
        levels.covering_grid("density", 3)
    with pytest.raises(sidestream.Error, match=r"expected \(lo, hi\) with 3 numbers each"):
        levels.covering_grid("density", 0, ((0, 0), (1, 1)))
    with pytest.raises(sidestream.Error, match="no variable 'pressure' in cells, but density, rank"):
        levels.covering_grid("pressure", 0)
