"""Import and export of particles in AMReX plotfiles, compared with the written values and with what yt reads."""

import os
from dataclasses import replace

import amrex_files
import numpy as np
import pytest
import sidestream
from amrex_files import Particles, Plot
from amrex_runs import imported, run
from optional_packages import needs

COUNTS = ((5, 0), (3, 17), (2,))  # numbers of particles by level and box of Plot()


def expected_of(plot, about):
    grids = [(level, grid) for level, counts in enumerate(about.count) for grid, n in enumerate(counts) if n]
    parts = [amrex_files.particles_of(plot, about, *one) for one in grids]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def check(plot, name, about, data, same_order=True):
    """Checks particles against the written ones. Without `same_order` they are sorted by mass, which differs."""
    opened = sidestream.open(data, iteration=0)
    order = slice(None) if same_order else np.argsort(np.asarray(opened[f"{name}_mass"].values))
    expected = expected_of(plot, about)
    as_expected = slice(None) if same_order else np.argsort(expected[-1][:, 0])
    places, ids, cpus, whole, reals = (column[as_expected] for column in expected)
    by_name = lambda suffix: np.asarray(opened[f"{name}_{suffix}"].values)[order]  # noqa: E731
    np.testing.assert_array_equal(by_name("position"), places)
    assert by_name("position").dtype == about.dtype
    if about.with_integers:
        np.testing.assert_array_equal(by_name("id"), ids)
        np.testing.assert_array_equal(by_name("cpu"), cpus)
        for n, column in enumerate(about.integers):
            np.testing.assert_array_equal(by_name(column), whole[:, n])
    np.testing.assert_array_equal(by_name("mass"), reals[:, 0])
    np.testing.assert_array_equal(by_name("drift"), reals[:, 1:])


FLAT = Plot(dimensions=2, boxes=((((0, 0, 0), (8, 8, 1)),), (((4, 4, 0), (12, 12, 1)),)), ratios=(2,))
DOUBLE = Particles(COUNTS)
SINGLE = Particles(COUNTS, version="Version_Two_Dot_Zero_single")
PACKED = Particles(COUNTS, version="Version_Two_Dot_One_double", integers=())


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("plot", "about"),
    [
        (Plot(), DOUBLE),
        (Plot(), SINGLE),
        (Plot(), PACKED),
        (Plot(), replace(PACKED, version="Version_Two_Dot_One_single", integers=("kind", "state"))),
        (Plot(), replace(DOUBLE, with_integers=False, digits=4)),
        (FLAT, Particles(((4,), (9,)), reals=("mass", "drift_x", "drift_y"))),
        (Plot(), replace(DOUBLE, count=((0, 1), (0, 0), (0,)))),
    ],
    ids=["double", "single", "packed", "packed-single", "without-ids", "2-D", "one-particle"],
)
def test_particles(plot, about, tmp_path):
    _, data, said = imported(replace(plot, particles=(("DM", about),)), tmp_path)
    check(plot, "DM", about, data)
    grids = sum(n > 0 for counts in about.count for n in counts)
    assert f"DM: {sum(map(sum, about.count))} particles in {grids} grids" in said
    assert "remark" not in said.replace("'Y(H2)'", "") or "DM" not in said.split("remark", 1)[1]


def test_several_kinds_on_three_processes(tmp_path):
    plot = replace(Plot(), particles=(("DM", DOUBLE), ("Tracer", SINGLE), ("none", replace(DOUBLE, count=((0, 0),)))))
    _, data, said = imported(plot, tmp_path, ranks=3)
    check(plot, "DM", DOUBLE, data)
    check(plot, "Tracer", SINGLE, data)
    assert "none: 0 particles" in said


def fields_in_yt(plotfile, name):
    """yt's particles of a folder, sorted by mass, which differs."""
    yt = needs("yt")
    yt.set_log_level(40)
    everything = yt.load(str(plotfile)).all_data()
    names = sorted(field for kind, field in everything.ds.field_list if kind == name)
    columns = {field: np.asarray(everything[name, field].d) for field in names}
    order = np.argsort(columns["particle_mass"])
    return {field: values[order] for field, values in columns.items()}


@pytest.mark.keep(1)
@pytest.mark.parametrize(("plot", "about"), [(Plot(), DOUBLE), (Plot(), SINGLE)], ids=["double", "single"])
def test_as_yt_has_them(plot, about, tmp_path):
    original, data, _ = imported(replace(plot, particles=(("DM", about),)), tmp_path)
    theirs, opened = fields_in_yt(original, "DM"), sidestream.open(data, iteration=0)
    mass = np.asarray(opened["DM_mass"].values)
    order = np.argsort(mass)
    assert len(mass) == len(theirs["particle_mass"]) == sum(map(sum, about.count))
    for axis, letter in enumerate("xyz"):
        for ours in ("position", "drift"):
            values = np.asarray(opened[f"DM_{ours}"].values)[order, axis]
            np.testing.assert_array_equal(values, theirs[f"particle_{ours}_{letter}"])
    for ours in ("id", "cpu", "kind", "mass"):
        np.testing.assert_array_equal(np.asarray(opened[f"DM_{ours}"].values)[order], theirs[f"particle_{ours}"])


@pytest.mark.test_all
@pytest.mark.parametrize("about", [DOUBLE, SINGLE, PACKED], ids=["double", "single", "packed"])
def test_there_and_back(about, tmp_path):
    """yt and we find the same particles in the export as in the original."""
    plot = replace(Plot(), particles=(("DM", about),))
    original, data, _ = imported(plot, tmp_path)
    done = run("export", data, tmp_path / "out.amrex")
    assert done.returncode == 0, done.stderr
    made = tmp_path / "out.amrex" / "plt000040"
    theirs, ours = fields_in_yt(original, "DM"), fields_in_yt(made, "DM")
    assert theirs.keys() == ours.keys()
    for name, values in theirs.items():
        np.testing.assert_array_equal(ours[name], values)
    again = run("import", "amrex", made, tmp_path / "again", "--no-fsync")
    assert again.returncode == 0, again.stderr
    check(plot, "DM", about, tmp_path / "again", same_order=False)  # particles of coarse boxes are now in finer boxes


def test_grids_of_particles(tmp_path):
    """Positions on borders, beyond the mesh, and NaN, compared with a search through all boxes."""
    from sidestream.exporters.amrex_particles import grids_of
    from sidestream.reader.database import chosen
    from sidestream.reader.levels.levels import Levels
    from sidestream.reader.levels.sources import OfDatabase
    from sidestream.reader.stored import Context

    plot = Plot()
    data = imported(plot, tmp_path)[1]
    levels = Levels(OfDatabase(Context(data, chosen(data)[0]), "grid"))
    boxes = [[b for b in levels.blocks if b.level == n] for n in range(3)]
    random = np.random.default_rng(1)
    low, spacing = np.array(plot.low), np.array(plot.spacing)
    places = np.concatenate(
        [
            low + spacing * random.uniform(-1, 9, (500, 3)),
            low + spacing / 8 * random.integers(-3, 70, (500, 3)),  # positions on borders of cells of the finest level
            [[np.nan, 0.1, 2.1], [np.inf, 0.1, 2.1]],
        ]
    )
    found = grids_of(places, levels.mesh, boxes)
    assert sorted(np.concatenate([rows for grids in found for rows in grids])) == list(range(len(places)))
    for row, place in enumerate(places):
        expected = (0, 0)
        for level in reversed(range(3)):
            with np.errstate(invalid="ignore"):
                cell = np.floor((place - low) / (spacing / [1, 2, 8][level]))
            inside = [n for n, b in enumerate(boxes[level]) if np.all(cell >= b.lo) and np.all(cell < b.hi)]
            if inside:
                expected = (level, inside[0])
                break
        assert row in found[expected[0]][expected[1]]


def broken(path, old, new):
    text = path.read_bytes()
    assert old in text, text
    path.write_bytes(text.replace(old, new, 1))


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda p: broken(p / "Header", b"Two_Dot_Zero_double", b"Two_Dot_Nine_double"),
            "expected Version_Two_Dot_Zero",
        ),
        (lambda p: broken(p / "Header", b"_double\n3\n", b"_double\n2\n"), "(dimensions): found 2, expected 3 to 3"),
        (lambda p: broken(p / "Header", b"\n27\n", b"\n28\n"), "grids have 27 particles, but the Header has 28"),
        (lambda p: broken(p / "Header", b"\n27\n", b"\n26\n"), "but the Header has 26"),
        (lambda p: broken(p / "Header", b"\n4\nmass", b"\n400000000000\nmass"), "(names of real numbers): found"),
        (lambda p: os.truncate(p / "Level_1/DATA_00000", 700), "it was cut off"),
        (lambda p: (p / "Level_2/DATA_00000").unlink(), "DATA_00000"),
        (lambda p: (p / "Header").write_bytes((p / "Header").read_bytes()[:-15]), "line"),
    ],
)
def test_errors(change, sentence, tmp_path):
    original = amrex_files.write_plot(replace(Plot(), particles=(("DM", DOUBLE),)), tmp_path / "plt")
    change(original / "DM")
    done = run("import", "amrex", original, tmp_path / "data", "--no-fsync")
    assert done.returncode == 1 and sentence in done.stderr, done.stderr
    assert not (tmp_path / "data").exists()


def test_not_read(tmp_path):
    original = amrex_files.write_plot(Plot(), tmp_path / "plt")
    (original / "Old").mkdir()
    (original / "Old/Header").write_text("Version_One_Dot_One_double\n3\n")
    said = run("import", "amrex", original, tmp_path / "data", "--no-fsync").stdout
    assert "'Old' is not read: its Header is not that of particles of version two of AMReX" in said
