"""Halos, merge trees and halo histories have the same bytes in every placement, and agree with SciPy's `label`."""

import csv

import h5py
import numpy as np
import pytest
from scipy import ndimage
from support import results_of, run, without_charts

STEPS = 3
BOUNDARY, HALO = 0.35, 0.9
TASKS = f"""\
analyses:
  - halos: {{variable: t, boundary: {BOUNDARY}, halo: {HALO}, connectivity: 6, minimum_cells: 2,
            file: "halos-{{index}}.csv",
            mass_function: {{bins: 5, file: "mass-{{index}}.csv",
                             image: {{file: "mass-{{index}}.png", size: [160, 120]}}}},
            history: {{image: {{file: "tree-{{index}}.png", size: [160, 120]}}}},
            profile: {{radius: [0.05, 0.4], bins: 3, file: "profiles-{{index}}.csv", fields: t, overdensities: 2}},
            labels: {{file: "labels-{{index}}.h5", pieces: true}}}}
  - halos: {{name: own, variable: t, boundary: {BOUNDARY}, halo: {HALO}, file: "own-{{index}}.csv",
            profile: {{radius: 0.3, of: halo, about: mass, file: "own-profiles-{{index}}.csv"}}}}
  - halos: {{name: means, variable: t, boundary: 2, halo: 2.5, units: mean, connectivity: 18,
            file: "means-{{index}}.h5"}}
  - merge_tree: {{variable: t, connectivity: 6, file: "pairs-{{index}}.csv", halos_file: "all-{{index}}.csv",
                 cells: {{above: 0.5, file: "cells-{{index}}.csv"}},
                 halos: [{{boundary: {BOUNDARY}, halo: {HALO}, minimum_cells: 2}},
                         {{boundary: 3, halo: 4, units: mean}}],
                 connected_file: "connected-{{index}}.csv",
                 connected: {{from: [0.1, 0.1, 0.1], to: [0.9, 0.9, 0.9], above: -2}}}}
"""
MEANS = """\
  - halos: {name: plain, variable: t, boundary: 2, halo: 2.5, units: mean, connectivity: 18, file: "means-{index}.csv"}
"""
FIELDS = 'outputs:\n  - hdf5: {variables: [t], file: "fields-{index}.h5"}\n'


def rows(file):
    with file.open() as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One client, one block, inline."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", without_charts(TASKS), [f"steps={STEPS}"])
    assert done.status == 0, done.text
    return results_of(done)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "placement"),
    [
        (3, "inline"),
        (5, "{mode: cores, per_node: 2, buffer: 8 MiB}"),
        (6, "{mode: nodes, servers: 3, buffer: 8 MiB}"),
        (8, "{mode: nodes, buffer: 32 MiB, servers: 5}"),
        (6, "{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}"),
        (6, "{mode: nodes, servers: 2, buffer: 32 MiB, forward: partials, per_node: 2}"),
    ],
)
def test_the_same_bytes_in_every_placement(tmp_path, reference, ranks, placement):
    done = run(tmp_path, ranks, placement, without_charts(TASKS), [f"steps={STEPS}", "blocks=3", "ghosts=1"])
    assert done.status == 0, done.text
    files = results_of(done)
    assert sorted(files) == sorted(reference) and len(reference) > 2 * STEPS
    assert (done.results / "means-0.h5").is_file()
    for name, content in reference.items():
        assert files[name] == content, f"{name} differs"


@pytest.mark.test_all
def test_charts(tmp_path):
    """Fewer steps than above, because to draw takes longer than all else."""
    found = []
    for ranks, placement in ((1, "inline"), (4, "{mode: nodes, servers: 2, buffer: 8 MiB}")):
        done = run(tmp_path / str(ranks), ranks, placement, TASKS, ["steps=2", "blocks=3"])
        assert done.status == 0, done.text
        found.append(results_of(done, (".png",)))
    assert found[0] == found[1] and len(found[0]) == 4


def test_what_scipy_finds(tmp_path):
    done = run(
        tmp_path,
        3,
        "{mode: nodes, buffer: 32 MiB, servers: 1}",
        without_charts(TASKS) + MEANS + FIELDS,
        [f"steps={STEPS}", "blocks=2"],
    )
    assert done.status == 0, done.text
    for step in range(STEPS):
        with h5py.File(done.results / f"fields-{step}.h5") as file:
            field = file["variables/t"][...].transpose()  # [x, y, z]
        labels, count = ndimage.label(field >= BOUNDARY)
        index = np.arange(1, count + 1)
        cells = ndimage.sum_labels(np.ones_like(field), labels, index).astype(int)
        peaks = ndimage.maximum(field, labels, index)
        taken = [n for n in range(count) if peaks[n] >= HALO and cells[n] >= 2]
        table = rows(done.results / f"halos-{step}.csv")
        assert len(table) == len(taken) > 0
        volume = 1 / field.size
        masses = ndimage.sum_labels(field, labels, index) * volume
        centres = ndimage.center_of_mass(field, labels, index)
        found = {int(row["peak_index"]): row for row in table}
        for n in taken:
            place = ndimage.maximum_position(field, labels, n + 1)
            row = found[int(np.ravel_multi_index(place, field.shape))]
            assert int(row["cells"]) == cells[n]
            assert float(row["peak_value"]) == peaks[n]
            np.testing.assert_allclose(float(row["mass"]), masses[n], rtol=1e-12)
            centre = [float(row[f"mass_{axis}"]) for axis in "xyz"]
            np.testing.assert_allclose(centre, (np.array(centres[n]) + 0.5) / field.shape, rtol=1e-9)
        with h5py.File(done.results / f"labels-{step}.h5") as file:
            numbers = file["halo"][...].transpose()
        for row in table:
            own = labels == labels[tuple(int(row[f"peak_{axis}"]) for axis in "ijk")]
            assert np.all((numbers == int(row["halo"])) == own)
        asked = [row for row in rows(done.results / f"all-{step}.csv") if row["query"] == "0"]
        assert [(r["peak_index"], r["cells"], r["mass"]) for r in asked] == [
            (r["peak_index"], r["cells"], r["mass"]) for r in table
        ]
        with h5py.File(done.results / f"means-{step}.h5") as file, (done.results / f"means-{step}.csv").open() as text:
            plain = list(csv.reader(text))
            assert list(file) and set(file) == set(plain[0])
            for name, column in zip(plain[0], zip(*plain[1:], strict=True), strict=True):
                assert file[name].dtype.kind == ("f" if name.endswith(("_x", "_y", "_z", "value", "mass")) else "i")
                np.testing.assert_array_equal(file[name][...], np.array(column, file[name].dtype))
    history = rows(done.results / "halo-history.csv")
    assert {row["event"] for row in history if row["iteration"] == "0"} == {"first"}
    assert len(history) >= STEPS
