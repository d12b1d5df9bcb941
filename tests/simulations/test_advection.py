"""The advection by itself: known solutions, its patches, and the same bits on any number of ranks."""

import math

import numpy as np
import pytest
from advecting import CELL, Cells, dump, run
from pairs import without

START, VELOCITY = np.array([0.3, 0.3, 0.3]), np.array([1, 0.5, 0.25])


def cells_after(folder, *arguments, cells=32, dimensions=2, ratio=2, ranks=2):
    shape = ["--cells", cells, "--dimensions", dimensions, "--ratio", ratio]
    return Cells(dump(folder, ranks, *arguments, *shape), cells, dimensions, ratio)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("dimensions", "ratio"), [(2, 2), (2, 4), (3, 2)])
def test_patches(tmp_path, dimensions, ratio):
    arguments = ["cylinder", "--levels", 3, "--steps", 20, "--largest", 16]
    found = cells_after(tmp_path, *arguments, cells=16, dimensions=dimensions, ratio=ratio)
    assert set(found.level) == {0, 1, 2}
    assert found.volume[found.counted].sum() == pytest.approx(1, rel=1e-12)
    for level in range(3):
        here = found.level == level
        at, width = found.at[here], found.width[here][0]
        assert len(np.unique(found.numbers(at, level))) == len(at), "no cell is in two patches"
        for patch in np.unique(found.patch[here]):
            box = found.at[here & (found.patch == patch)]
            lo, hi = box.min(axis=0), box.max(axis=0) + 1
            assert len(box) == np.prod(hi - lo), "patches are boxes"
            assert (lo[:dimensions] % 8 == 0).all() and (hi[:dimensions] % 8 == 0).all() and (hi - lo).max() <= 16
        if level == 0:
            continue
        # The coarser level covers each fine cell and all that its ghosts need.
        coarse = set(found.numbers(found.at[found.level == level - 1], level - 1))
        for far in (-2 - ratio, 0, 1 + ratio):
            shift = np.zeros(3, int)
            shift[:dimensions] = far
            beside = at + shift
            beside[:, :dimensions] %= width
            assert set(found.numbers(beside // found.ratio, level - 1)) <= coarse


@pytest.mark.test_all
@pytest.mark.parametrize("arguments", [
    ["gaussian", "--cells", 32, "--steps", 60],
    ["cylinder", "--cells", 32, "--flow", "swirl", "--steps", 50, "--ratio", 4, "--levels", 2],
    ["cylinder", "--dimensions", 3, "--cells", 16, "--largest", 16, "--steps", 12, "--limiter", "minmod"],
])  # fmt: skip
def test_the_same_bits_on_any_number_of_ranks(tmp_path, arguments):
    alone = dump(tmp_path, 1, *arguments)
    assert len(np.unique(np.frombuffer(alone, CELL)["density"])) > 100
    for ranks in without([2, 5], [2, 3, 5, 8]):
        assert dump(tmp_path, ranks, *arguments) == alone, ranks


def test_ranks_without_patches(tmp_path):
    arguments = ["--cells", 16, "--levels", 2, "--largest", 16, "--steps", 10]
    assert dump(tmp_path, 9, *arguments) == dump(tmp_path, 1, *arguments)


@pytest.mark.keep(1)
@pytest.mark.parametrize("flow", ["translation", "swirl"])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_mass_is_kept(tmp_path, flow, dimensions):
    arguments = ["cylinder", "--flow", flow, "--levels", 3 if dimensions == 2 else 2, "--end", 0.5]
    mass = []
    for steps in (0, 40):
        found = cells_after(tmp_path, *arguments, "--steps", steps, cells=32, dimensions=dimensions)
        mass.append(math.fsum((found.volume * found.density)[found.counted]))
    assert mass[1] == pytest.approx(mass[0], rel=2e-15)


def test_no_new_extremes_in_a_translation(tmp_path):
    found = cells_after(tmp_path, "cylinder", "--levels", 3, "--end", 0.25, "--limiter", "minmod")
    assert found.density.min() > -1e-2 and found.density.max() < 1 + 1e-2


def test_where_the_density_is_uniform_every_bit_stays(tmp_path):
    found = cells_after(tmp_path, "cylinder", "--background", 2, "--levels", 3, "--steps", 5, cells=64)
    # A step moves by less than a cell, and slopes reach two cells further.
    far = np.linalg.norm(found.away(START), axis=1) > 0.15 + 5 * 4 / found.width.max()
    assert set(found.level[far & found.counted]) == {0, 1, 2}, "seams of all levels are among them"
    assert (found.density[far & found.counted] == 2).all() and (found.density[~far] != 2).any()


def translation_error(folder, cells, levels, end=0.5, **options):
    # With half as many cells the threshold is doubled, so that the same regions are refined.
    arguments = ["gaussian", "--levels", levels, "--end", end, "--refine", 0.02 * 32 / cells]
    found = cells_after(folder, *arguments, cells=cells, **options)
    return found.error(found.gaussian(START + end * VELOCITY))


def test_an_exact_solution(tmp_path):
    """The coarse half of the convergence tests: a hump that is advected. Patches show it better."""
    alone, refined = translation_error(tmp_path, 32, 1), translation_error(tmp_path, 32, 2)
    assert alone < 0.0035 and alone > 3.5 * refined


@pytest.mark.test_all
def test_the_order_of_the_method(tmp_path):
    alone = [translation_error(tmp_path, cells, 1) for cells in (32, 64, 128)]
    assert alone[0] > 3.5 * alone[1] > 12.25 * alone[2]
    # Patches are as accurate as cells of that size everywhere, and keep the order.
    refined = [translation_error(tmp_path, cells, 2) for cells in (32, 64)]
    assert refined[0] < 1.1 * alone[1] and refined[1] < 1.2 * alone[2] and refined[0] > 3.5 * refined[1]
    assert translation_error(tmp_path, 32, 2, ratio=4) < 1.2 * alone[2]
    assert translation_error(tmp_path, 32, 3) < 1.2 * alone[2]


@pytest.mark.test_all
def test_the_order_in_three_dimensions(tmp_path):
    errors = [translation_error(tmp_path, cells, 2, end=0.1, dimensions=3) for cells in (16, 32)]
    assert errors[0] > 3 * errors[1]


@pytest.mark.test_all
def test_a_swirl_comes_back(tmp_path):
    errors = []
    for cells in (32, 64):
        arguments = ["gaussian", "--flow", "swirl", "--levels", 2, "--end", 0.75, "--refine", 0.02 * 32 / cells]
        found = cells_after(tmp_path, *arguments, cells=cells)
        errors.append(found.error(found.gaussian([0.5, 0.75, 0.5])))
    assert errors[0] > 3.5 * errors[1] and errors[1] < 3e-4
    # Halfway the hump is somewhere else.
    half = cells_after(tmp_path, *arguments[:-1], 0.01, "--steps", 100, cells=64)
    assert half.error(half.gaussian([0.5, 0.75, 0.5])) > 100 * errors[1]


@pytest.mark.test_all
def test_a_cylinder_is_carried(tmp_path):
    errors = []
    for cells in (32, 64):
        found = cells_after(tmp_path, "cylinder", "--levels", 2, "--end", 0.5, cells=cells)
        inside = (found.away(START + 0.5 * VELOCITY)[:, :2] ** 2).sum(axis=1) < 0.15**2
        errors.append(found.error(inside.astype(float)))
    # A discontinuity is smeared over a width that shrinks as h^(2/3).
    assert 1.4 < errors[0] / errors[1] < 2 and errors[1] < 0.01


def test_patches_follow(tmp_path):
    before, after = (set(map(tuple, cells_after(tmp_path, "--steps", n).at)) for n in (0, 100))
    assert before - after and after - before


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tile", "6", "--ratio", "4"], "--tile: found 6; expected a multiple of --ratio, 4"),
        (["--cells", "36"], "--cells: found 36; expected a multiple of --tile, 8"),
        (["--largest", "20"], "--largest: found 20"),
        (["--cells", "1048576", "--levels", "8", "--ratio", "4"], "--levels: found 8; expected fewer"),
        (["square"], "square"),
        (["--dump", "/nowhere/cells"], "--dump /nowhere/cells: the file cannot be written"),
        (["--sidestream", "run.yaml"], "built without Sidestream"),
        (["--restart", "data"], "--restart needs the program that was built with Sidestream"),
    ],
)
def test_mistakes(arguments, said):
    done = run(2, "--steps", 1, *arguments)
    assert done.returncode != 0
    assert done.stderr.count(said) == 1, done.stderr
