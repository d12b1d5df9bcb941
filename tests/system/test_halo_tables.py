"""Merge trees and tables of halos, read in Python after the run, compared with SciPy, pandas and the files."""

import subprocess
import sys

import h5py
import numpy as np
import pandas
import pytest
import sidestream
from scipy import ndimage
from support import run

KEPT = 0.2
TASKS = f"""\
analyses:
  - halos: {{variable: t, boundary: 0.35, halo: 0.9, connectivity: 6, file: "halos-{{index}}.csv",
            mass_function: {{bins: 4, file: "mass-{{index}}.csv"}}, history: {{}}}}
  - merge_tree: {{variable: t, connectivity: 6, file: "tree-{{index}}.csv",
                 cells: {{above: {KEPT}, file: "cells-{{index}}.h5"}}}}
  - merge_tree: {{name: in-pieces, variable: t, connectivity: 6, file: "tree-{{index}}.h5", pieces: true,
                 cells: {{above: {KEPT}, file: "listed-{{index}}.csv"}}}}
outputs:
  - hdf5: {{variables: [t], file: "fields-{{index}}.h5"}}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    done = run(
        tmp_path_factory.mktemp("halos"),
        4,
        "{mode: nodes, buffer: 32 MiB, servers: 2}",
        TASKS,
        ["steps=2", "blocks=3", "n=24"],
    )
    assert done.status == 0, done.text
    return done.results


@pytest.fixture(scope="module")
def field(results):
    with h5py.File(results / "fields-1.h5") as file:
        return file["variables/t"][...].transpose()  # [x, y, z]


def trees(results):
    yield sidestream.MergeTree(results / "tree-1.csv", results / "cells-1.h5")
    yield sidestream.MergeTree(results / "tree-1.h5", results / "listed-1.pieces")


def test_halos_are_those_that_scipy_finds(results, field):
    most = 0
    for tree in trees(results):
        saddles = tree.death[tree.death > KEPT]
        asked = [(d, d) for d in (*saddles, *np.nextafter(saddles, np.inf))]
        for boundary, halo in (*asked, (0.35, 0.9), (KEPT + 0.01, 0.3), (0.8, 0.8), (5, 5)):
            labels, count = ndimage.label(field >= boundary)
            index = np.arange(1, count + 1)
            peaks = ndimage.maximum(field, labels, index) if count else np.empty(0)
            taken = [n + 1 for n in range(count) if peaks[n] >= halo]
            found = tree.halos(boundary, halo)
            expected = sorted(
                (int(np.ravel_multi_index(ndimage.maximum_position(field, labels, n), field.shape)), n) for n in taken
            )
            assert [row["peak_index"] for row in found] == [peak for peak, _ in expected]
            for row, (_, n) in zip(found, expected, strict=True):
                assert row["cells"] == np.count_nonzero(labels == n)
                assert row["sum"] == pytest.approx(field[labels == n].sum(), rel=1e-12)
            most = max(most, len(found))
    assert most > 1


def swept(field, folder):
    """The tree of a field with few distinct values, found by a sweep over its cells from the highest down."""
    flat, top, top_at, rows = field.ravel(), {}, {}, {}
    for cell in sorted(
        (n for n in range(flat.size) if not np.isnan(flat[n])), key=lambda n: (flat[n], n), reverse=True
    ):
        place = np.array(np.unravel_index(cell, field.shape))
        beside = (place + step for axis in np.eye(3, dtype=int) for step in (axis, -axis))
        near = {int(np.ravel_multi_index(p, field.shape)) for p in beside if np.all((p >= 0) & (p < field.shape))}
        tops = {top[n] for n in near if n in top}
        best = max(tops, key=lambda n: (flat[n], n), default=cell)
        rows.setdefault(best, (-1, -np.inf, -1))
        for other in tops - {best}:
            rows[other] = (cell, flat[cell], best)
            top |= {n: best for n, of in top.items() if of == other}
        top[cell] = top_at[cell] = best
    lines = ["birth_index,birth,saddle_index,death,into_index"]
    lines += [f"{n},{flat[n]},{saddle},{death},{into}" for n, (saddle, death, into) in sorted(rows.items())]
    (folder / "tree.csv").write_text("\n".join(lines) + "\n")
    lines = ["cell_index,value,top_index", *(f"{n},{flat[n]},{of}" for n, of in sorted(top_at.items()))]
    (folder / "cells.csv").write_text("\n".join(lines) + "\n")
    return sidestream.MergeTree(folder / "tree.csv", folder / "cells.csv")


@pytest.mark.keep(3)
@pytest.mark.parametrize("seed", range(5))
def test_plateaus_and_ties_and_places_that_are_none(tmp_path, seed):
    random = np.random.default_rng(seed)
    field = random.integers(0, 6, (5, 4, 6)).astype(float)
    field[field == 5] = random.choice([5, np.nan, np.inf], np.count_nonzero(field == 5))
    tree = swept(field, tmp_path)
    flat = field.ravel()
    for level in range(6):
        labels, count = ndimage.label(field >= level)
        found = tree.halos(level, level)
        assert len(found) == count
        peaks = [max((flat[n], n) for n in np.flatnonzero(labels.ravel() == part))[1] for part in range(1, count + 1)]
        assert sorted(peaks) == found["peak_index"].tolist()
        assert [np.count_nonzero(labels == labels.ravel()[peak]) for peak in sorted(peaks)] == found["cells"].tolist()
        for a, b in random.integers(0, flat.size, (60, 2)):
            joined = labels.ravel()[a] == labels.ravel()[b] != 0
            assert tree.connected(a, b, level) == joined
            assert (tree.highest(a, b) >= level) == joined


def test_places_hang_together_just_where_a_way_leads(results, field):
    random = np.random.default_rng(3)
    flat = field.ravel()
    answers = set()
    for tree in trees(results):
        for _ in range(150):
            a, b = (int(n) for n in random.integers(0, flat.size, 2))
            level = float(random.uniform(KEPT, 1.7))
            labels = ndimage.label(field >= level)[0].ravel()
            joined = bool(labels[a] == labels[b] != 0)
            answers.add(joined)
            assert tree.connected(a, b, level) == joined
            highest = tree.highest(a, b)
            if highest == -np.inf:
                continue
            labels = ndimage.label(field >= highest)[0].ravel()
            assert labels[a] == labels[b] != 0
            labels = ndimage.label(field > highest)[0].ravel()
            assert labels[a] != labels[b] or labels[a] == 0
    assert answers == {True, False}


def test_a_simplified_tree_has_the_persistent_pairs(results):
    tree = next(trees(results))
    pairs = tree.pairs()
    assert len(pairs) == len(tree) == len(tree.maxima)
    assert np.all(np.diff(pairs["persistence"][1:]) <= 0)
    least = float(np.median(pairs["persistence"]))
    few = tree.simplify(least)
    assert 0 < len(few) < len(tree) and few.pairs().tolist() == tree.pairs(least).tolist()
    level = 0.35
    kept = [n for n, m in enumerate(tree.maxima) if m in few.maxima]
    same = tree.component(tree.maxima[kept], level)
    highest_left = [m in few.maxima for m in same]
    np.testing.assert_array_equal(few.component(tree.maxima[kept], level)[highest_left], same[highest_left])
    assert few.simplify(2 * least).halos(level, level)["cells"].sum() == tree.halos(level, level)["cells"].sum()


def test_what_a_tree_cannot_say_is_a_sentence(results, tmp_path):
    tree = next(trees(results))
    alone = sidestream.MergeTree(results / "tree-1.csv")
    with pytest.raises(sidestream.Error, match="no maximum of this tree"):
        alone.connected(int(tree.maxima[0]), next(n for n in range(len(tree) + 1) if n not in tree.maxima), 0.5)
    assert alone.halos(0.35, 0.9).dtype.names == ("peak_index", "peak_value")
    assert alone.connected(int(tree.maxima[0]), int(tree.maxima[0]), float(tree.birth[0]))
    with pytest.raises(sidestream.Error, match="lowest cell that was kept"):
        tree.halos(KEPT - 0.1, 1)
    with pytest.raises(sidestream.Error, match="no column 'birth_index'"):
        sidestream.MergeTree(results / "halos-1.csv")
    with pytest.raises(sidestream.Error, match="no such file"):
        sidestream.MergeTree(tmp_path / "tree.csv")
    missing = tmp_path / "part.csv"
    missing.write_text("birth_index,birth,saddle_index,death,into_index,persistence\n5,2,3,1,7,1\n")
    with pytest.raises(sidestream.Error, match="leads to 7"):
        sidestream.MergeTree(missing)


@pytest.mark.test_all
def test_tables_as_parquet(results, tmp_path, monkeypatch):
    table = sidestream.open(results / "halos-1.csv")
    sidestream.to_parquet(results / "halos-1.csv", tmp_path / "halos.parquet")
    frame = pandas.read_parquet(tmp_path / "halos.parquet")
    assert list(frame) == list(table.dtype.names) and frame["peak_index"].dtype == np.int64
    pandas.testing.assert_frame_equal(frame, pandas.DataFrame(table))
    for source in ("halo-history.csv", "tree-1.h5", "listed-1.pieces", "halos-{index}.csv.series"):
        path = results / source
        if not path.exists():  # the index is named after the pattern
            (path,) = results.glob("halos*.series")
        target = tmp_path / f"{path.name}.parquet"
        command = [sys.executable, "-m", "sidestream", "export", str(path), str(target)]
        subprocess.run(command, check=True, capture_output=True)
        frame = pandas.read_parquet(target)
        whole = sidestream.open(path, into="numpy")
        columns = whole.dtype.names if hasattr(whole, "dtype") else tuple(whole)
        assert list(frame) == list(columns) and len(frame) > 0
        for name in columns:
            np.testing.assert_array_equal(frame[name].to_numpy(), np.asarray(whole[name]))
    with pytest.raises(sidestream.Error, match="is there"):
        sidestream.to_parquet(table, tmp_path / "halos.parquet")
    with pytest.raises(sidestream.Error, match="this is no table"):
        sidestream.to_parquet(results / "fields-1.h5", tmp_path / "fields.parquet")
    monkeypatch.setattr("sidestream.exporters.parquet.find_spec", lambda name: None)
    with pytest.raises(sidestream.Error, match="pyarrow is not installed"):
        sidestream.to_parquet(table, tmp_path / "again.parquet")


def test_the_mass_function_is_that_of_the_analysis(results, tmp_path):
    masses = sidestream.open(results / "halos-1.csv")["mass"]
    expected = sidestream.open(results / "mass-1.csv")
    found = sidestream.mass_function(masses, 1.0, 4)
    for name in found.dtype.names:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
    axes = sidestream.plot_mass_function({"run": results / "mass-1.csv", "again": found}, tmp_path / "mass.png", "g")
    assert axes.get_xlabel() == "mass [g]" and len(axes.containers) == 2
    assert sidestream.open(tmp_path / "mass.png", into="numpy")["image"].shape[2] in (3, 4)
    assert len(sidestream.mass_function([], 1.0)) == 20
