"""Import and export of AMReX plotfiles, compared with the written values and with yt, which shares no code with
ours."""

import os
from dataclasses import replace

import amrex_files
import numpy as np
import pytest
import sidestream
from amrex_files import Plot
from amrex_runs import imported, run
from optional_packages import needs

FLAT = Plot(
    dimensions=2,
    boxes=(
        (((0, 0, 0), (8, 3, 1)), ((0, 3, 0), (8, 8, 1))),
        (((4, 4, 0), (12, 12, 1)),),
        (((24, 24, 0), (40, 28, 1)),),
    ),
)
NAMES = {"density": 0, "x_velocity": 1, "Y(H2)": 2}


def check_cells(plot, levels):
    amrex_files.check_cells(plot, levels, NAMES)


@pytest.mark.keep(3)
@pytest.mark.parametrize(
    "plot",
    [
        Plot(),
        Plot(format=amrex_files.BIG, ghosts=2),
        Plot(format=amrex_files.IEEE32),
        Plot(format=amrex_files.LITTLE32, ghosts=1, ghost_text="(1,1,1)"),
        Plot(version=2),
        Plot(version=3, format=amrex_files.IEEE32),
        Plot(code="NavierStokes-V1.1", ratios=(2,), boxes=Plot().boxes[:2]),
        Plot(boxes=Plot().boxes[:1], ratios=()),
        FLAT,
        replace(FLAT, first=(-4, 2, 0), boxes=((((-4, 2, 0), (4, 10, 1)),), (((0, 8, 0), (4, 12, 1)),)), ratios=(2,)),
    ],
    ids=[
        "native",
        "big-endian",
        "ieee32",
        "little32",
        "bare",
        "bare-minmax",
        "iamr",
        "one-level",
        "2-D",
        "2-D-shifted",
    ],
)
def test_cells(plot, tmp_path):
    _, data, said = imported(plot, tmp_path)
    levels = sidestream.open(data, into="levels", mesh="grid")
    assert levels.variables["density"].dtype == np.dtype(amrex_files.ORDERS[plot.format][1:])
    assert (levels.attrs["cycle"], levels.attrs["time"]) == (40, 0.5)
    used = plot.dimensions
    np.testing.assert_array_equal(levels.mesh.spacing[:used], plot.spacing[:used])
    np.testing.assert_array_equal(
        levels.mesh.origin + levels.mesh.spacing * levels.mesh.lo, [*plot.low[:used], *[0] * (3 - used)]
    )
    check_cells(plot, levels)
    counts = [line.split() for line in said.splitlines()[1 : 1 + len(plot.boxes)]]
    assert [int(c[1]) for c in counts] == [len(boxes) for boxes in plot.boxes]


def test_ranks(tmp_path):
    plot = Plot()
    check_cells(plot, sidestream.open(imported(plot, tmp_path, ranks=3)[1], into="levels", mesh="grid"))


def grids_of(dataset, names):
    """Maps (level, first cell) to the arrays of each of yt's grids."""
    found = {}
    for grid in dataset.index.grids:
        arrays = [np.asarray(grid["boxlib", name].d) for name in names]
        found[int(grid.Level), tuple(int(n) for n in np.asarray(grid.get_global_startindex()))] = arrays
    return found


@pytest.mark.keep(1)
@pytest.mark.parametrize("plot", [Plot(), Plot(format=amrex_files.LITTLE32), FLAT], ids=["3-D", "single", "2-D"])
def test_there_and_back(plot, tmp_path):
    """yt finds the same grids in the export as in the original, bit for bit."""
    yt = needs("yt")
    yt.set_log_level(40)
    original, data, _ = imported(plot, tmp_path)
    done = run("export", data, tmp_path / "out.amrex")
    assert done.returncode == 0, done.stderr
    made = tmp_path / "out.amrex" / "plt000040"
    first, second = yt.load(str(original)), yt.load(str(made))
    assert float(first.current_time) == float(second.current_time) == 0.5
    np.testing.assert_array_equal(first.domain_left_edge.d, second.domain_left_edge.d)
    np.testing.assert_array_equal(first.domain_right_edge.d, second.domain_right_edge.d)
    np.testing.assert_array_equal(first.domain_dimensions, second.domain_dimensions)
    assert first.max_level == second.max_level == len(plot.boxes) - 1
    ours, theirs = grids_of(second, NAMES), grids_of(first, NAMES)
    assert ours.keys() == theirs.keys() and len(ours) == sum(map(len, plot.boxes))
    for key, arrays in theirs.items():
        for a, b in zip(arrays, ours[key], strict=True):
            np.testing.assert_array_equal(a, b)
    again = run("import", "amrex", made, tmp_path / "again", "--no-fsync")
    assert again.returncode == 0, again.stderr
    check_cells(plot, sidestream.open(tmp_path / "again", into="levels", mesh="grid"))


@pytest.mark.test_all
def test_times_of_levels(tmp_path):
    """The times of a plotfile between two synchronisations arrive in the database, and are exported again."""
    times = (0.5, 0.625, 0.6875)
    _, data, said = imported(Plot(level_times=times), tmp_path)
    assert "remark: level" not in said
    levels = sidestream.open(data, into="levels", mesh="grid")
    assert tuple(level.time for level in levels) == times and levels.attrs["time"] == 0.5
    assert run("export", data, tmp_path / "out.amrex").returncode == 0
    again = run("import", "amrex", tmp_path / "out.amrex" / "plt000040", tmp_path / "again", "--no-fsync")
    assert again.returncode == 0, again.stderr
    assert tuple(level.time for level in sidestream.open(tmp_path / "again", into="levels", mesh="grid")) == times
    one = sidestream.open(imported(Plot(), tmp_path / "one")[1], into="levels", mesh="grid")
    assert "level_times" not in one.attrs and [level.time for level in one] == [0.5] * 3


def test_grids_in_yt(tmp_path):
    """load_amr_grids of the imported database, with one ratio for all levels, as yt needs it."""
    needs("yt")
    plot = Plot(ratios=(2,), boxes=Plot().boxes[:2])
    levels = sidestream.open(imported(plot, tmp_path)[1], into="levels", mesh="grid")
    dataset = levels.to_yt()  # kept: what it gives has only a weak reference to it
    everything = dataset.all_data()
    expected = amrex_files.cells_of(plot)
    assert len(everything["stream", "density"]) == len(expected)
    exact = sum(v[0] * np.prod(np.array(plot.spacing) / 2**level) for (level, _), v in expected.items())
    np.testing.assert_allclose((everything["stream", "density"].d * everything["index", "cell_volume"].d).sum(), exact)


def broken(place, name, old, new):
    path = place / name
    text = path.read_bytes()
    assert old in text, text
    path.write_bytes(text.replace(old, new, 1))


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda p: broken(p, "Header", b"\n0\n0\n0 2 ", b"\n1\n0\n0 2 "), "the coordinates are cylindrical"),
        (lambda p: broken(p, "Header", b"HyperCLaw-V1.1", b"plain text"), "expected a name like HyperCLaw-V1.1"),
        (lambda p: broken(p, "Header", b"\n3\n0.5\n", b"\n4\n0.5\n"), "line 6 (dimensions): found 4"),
        (lambda p: broken(p, "Header", b"\n2 4 \n", b"\n2 3 \n"), "domain of level 2 is not that of the level before"),
        (lambda p: (p / "Header").write_bytes((p / "Header").read_bytes()[:-20]), "the file has ended"),
        (lambda p: broken(p, "Level_0/Cell_H", b"(2 0", b"(3 0"), "(box): found ')"),
        (lambda p: broken(p, "Level_0/Cell_D_00000", b"(64 11", b"(64 12"), "not IEEE 754 of 32 or 64 bits"),
        (
            lambda p: broken(p, "Level_0/Cell_D_00000", b"FAB ((8", b"FAB: ((8"),
            "expected FAB with numbers in binary form",
        ),
        (
            lambda p: broken(p, "Level_1/Cell_H", b"FabOnDisk: Cell_D", b"FabOnDisk: ../Cell_D"),
            "expected one beside Cell_H",
        ),
        (lambda p: os.truncate(p / "Level_1/Cell_D_00000", 500), "it was cut off"),
        (lambda p: (p / "Level_2/Cell_H").unlink(), "Level_2/Cell_H"),
    ],
)
def test_errors(change, sentence, tmp_path):
    original = amrex_files.write_plot(Plot(), tmp_path / "plt")
    change(original)
    done = run("import", "amrex", original, tmp_path / "data", "--no-fsync")
    assert done.returncode == 1 and sentence in done.stderr, done.stderr
    assert not (tmp_path / "data").exists()


def test_a_directory_that_is_no_plotfile(tmp_path):
    """A folder with plotfiles in it, as after an export, one without any, and one that does not exist."""
    original = amrex_files.write_plot(Plot(), tmp_path / "all" / "plt000000")
    (tmp_path / "bare").mkdir()
    for name, sentence in (
        ("all", f"is no plotfile, but has some in it; name one of them: '{original}'"),
        ("bare", "is no plotfile: it has no file 'Header'"),
        ("nowhere", "is no directory; name a plotfile of AMReX"),
    ):
        done = run("import", "amrex", tmp_path / name, tmp_path / "data", "--no-fsync")
        assert done.returncode == 1 and sentence in done.stderr, done.stderr


def test_not_read(tmp_path):
    original = amrex_files.write_plot(Plot(), tmp_path / "plt")
    (original / "extra").mkdir()
    said = run("import", "amrex", original, tmp_path / "data", "--no-fsync").stdout
    assert "'extra' is not read: it is none of the levels" in said


def test_nothing_to_export(tmp_path):
    import ramses_files

    output = ramses_files.write_output(ramses_files.Sample(), tmp_path)
    assert run("import", "ramses", output, tmp_path / "data", "--no-fsync").returncode == 0
    with pytest.raises(sidestream.Error, match="nothing that a plotfile can hold"):
        sidestream.export(tmp_path / "data", tmp_path / "all.amrex")
