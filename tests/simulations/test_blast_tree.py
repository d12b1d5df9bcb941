"""The octree that the blast publishes: leaves, their parents and the neighbours of these in each block."""

import itertools

import numpy as np
import sidestream
from blasting import COUPLED, Leaves, dump, succeed

PROBLEM = ["octant", "--least", 2, "--most", 5, "--end", 1]
CONFIGURATION = """
placement: inline
output: {{directory: {directory}}}
outputs:
  - database: {{directory: data, kind: post, variables: [refined, owned, density, velocity, pressure]}}
"""


def levels_of(folder, ranks, steps):
    file = folder / f"{ranks}.yaml"
    file.write_text(CONFIGURATION.format(directory=folder / str(ranks)))
    arguments = [*PROBLEM, "--steps", steps, "--every", steps, "--sidestream", file]
    assert "2 delivered" in succeed(ranks, *arguments, program=COUPLED)
    return sidestream.open(folder / str(ranks) / "data", into="levels", mesh="tree", cycle=steps)


def test_leaves_are_those_of_the_dump(tmp_path):
    leaves, levels = Leaves(dump(tmp_path, 1, *PROBLEM, "--steps", 12)), levels_of(tmp_path, 3, 12)
    assert sum(np.sum(~level["refined"] & (level["owner"] >= 0)) for level in levels) == len(leaves.level)
    assert {owner for level in levels for owner in level["owner"]} == {-1, 0, 1, 2}
    for number, level in enumerate(levels):
        counted, here = ~level["refined"] & (level["owner"] >= 0), leaves.level == number
        assert (level["owner"] >= 0)[~level["refined"]].all(), "every place is somebody's"
        places = np.stack([level[name][counted] for name in "ijk"], axis=1)
        np.testing.assert_array_equal(places, leaves.at[here])  # both in Morton order
        np.testing.assert_array_equal(level["density"][counted], leaves.density[here])
        np.testing.assert_array_equal(level["velocity"][counted], leaves.velocity[here])
        np.testing.assert_allclose(level["pressure"][counted], leaves.pressure[here], rtol=1e-9)
    assert (leaves.level == 2).any() and (leaves.level == 5).any()


def test_parents_have_the_means_of_their_children(tmp_path):
    levels = levels_of(tmp_path, 3, 12)
    assert levels[0]["refined"].all() and len(levels[0]["density"]) == 1
    for parent, child in itertools.pairwise(levels):
        # In Morton order the eight children of a refined cell are contiguous.
        refined = parent["refined"]
        density, velocity = (child[name].reshape(-1, 8, *child[name].shape[1:]) for name in ("density", "velocity"))
        np.testing.assert_allclose(parent["density"][refined], density.mean(axis=1), rtol=1e-14)
        momentum = (density[..., None] * velocity).mean(axis=1)
        exact = momentum / density.mean(axis=1)[:, None]
        np.testing.assert_allclose(parent["velocity"][refined], exact, rtol=1e-9, atol=1e-12)


def cells_of(refined):
    """The cells of a block's list, level by level."""
    cells = [(0, 0, 0, 0)]
    for number in range(len(refined)):
        level, i, j, k = cells[number]
        if refined[number]:
            cells += [(level + 1, 2 * i + x, 2 * j + y, 2 * k + z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    assert len(cells) == len(refined)
    return cells


def test_each_block_has_the_same_bits_in_cells_of_others(tmp_path):
    whole = levels_of(tmp_path, 1, 12)
    exact = {}
    for number, level in enumerate(whole):
        for i, j, k, *values in zip(*(level[name] for name in ("i", "j", "k", "density", "pressure")), strict=True):
            exact[number, i, j, k] = values
    levels = levels_of(tmp_path, 5, 12)
    foreign = 0
    for block in levels.blocks:
        refined, owned, density, pressure = (
            levels.source.read(name, block).ravel() for name in ("refined", "owned", "density", "pressure")
        )
        cells = cells_of(refined)
        assert [list(values) for values in zip(density, pressure, strict=True)] == [exact[cell] for cell in cells]
        assert not (refined.astype(bool) & owned.astype(bool)).any()
        foreign += np.sum((refined == 0) & (owned == 0))
    assert len(levels.blocks) == 5 and foreign > 5
