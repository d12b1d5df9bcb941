"""Plotfiles in the forms of Nyx, Castro, IAMR, PeleLM and WarpX, and every way in which VisMF stores boxes. They are
imported, and analysed directly, and compared with the written values and with yt. All are made by hand: amrex_files.py.
"""

import csv
from dataclasses import replace

import amrex_files
import numpy as np
import pytest
import sidestream
from amrex_files import BIG, IEEE32, LITTLE32, NATIVE, Particles, Plot
from amrex_runs import run
from optional_packages import needs

FLAT = Plot(
    dimensions=2, ratios=(2,), boxes=((((0, 0, 0), (8, 3, 1)), ((0, 3, 0), (8, 8, 1))), (((4, 4, 0), (12, 12, 1)),))
)
LINE = Plot(
    dimensions=1, ratios=(2,), boxes=((((0, 0, 0), (3, 1, 1)), ((3, 0, 0), (8, 1, 1))), (((4, 0, 0), (10, 1, 1)),))
)
CASES = {
    # Nyx has particles of several kinds, each in its own folder, and comoving_a and the parameters beside the Header.
    "nyx": Plot(
        names=("density", "xmom", "ymom", "zmom", "rho_E", "Temp", "Ne", "particle_mass_density"),
        format=LITTLE32,
        particles=(("DM", Particles(((5, 0), (3, 7), (2,)), "Version_Two_Dot_One_single", ("mass", "xvel"), ())),),
    ),
    "castro": Plot(names=("density", "rho_E", "X(He4)", "Temp", "MachNumber"), boxes=Plot().boxes[:1], ratios=()),
    "iamr": replace(FLAT, code="NavierStokes-V1.1", names=("x_velocity", "y_velocity", "density", "mag_vort")),
    "pelelm": Plot(names=("rho.Y(CH4)", "Y(N-C12H26)", "I_R(H2O2)", "avg pressure", "T [K]", "HeatRelease")),
    "names-that-are-alike": Plot(names=("Y/Z", "Y_Z", "Y_Z_")),
    "names-in-utf-8": Plot(names=("ρ", "vitesse (x) é", "b")),
    "warpx": Plot(names=("Ex", "Ey", "Bz", "jx", "part_per_cell"), files=2),
    "amrvis": Plot(code="AmrVis-V1.1", time=0.0, step=0),
    "1-D": LINE,
    "2-D": FLAT,
    "many-files": Plot(files=3),
    "one-file": Plot(files=1, ghosts=1, ghost_text="(1,1,1)"),
    "bare": Plot(version=2, files=2),
    "bare-minmax": Plot(version=3, ghosts=1, format=BIG),
    "bare-minmax-of-all": Plot(version=4, format=IEEE32, ghosts=2, ghost_text="(2,2,2)"),
    "orders-by-box": Plot(formats=(NATIVE, BIG), files=2),
    "single-orders-by-box": Plot(formats=(IEEE32, LITTLE32), format=IEEE32),
    "moving-window": Plot(low=(3.5, -1.0, 2.0), first=(12, 0, 0), ratios=(), boxes=((((12, 0, 0), (20, 8, 4)),),)),
}


def beside(name, place):
    """Adds other files that codes leave in a plotfile, which must not matter."""
    (place / "job_info").write_text("=====\n Job Information\n")
    if name == "nyx":
        (place / "comoving_a").write_text("0.02\n")
        (place / "the_parameters").write_text("nyx.h = 0.7\n")
    if name == "castro":
        (place / "Castro_source").write_text("")
    if name == "warpx":
        amrex_files.write_field(CASES[name], place / "raw_fields/Level_0", "Ex_fp", np.array([0, 1, 1]))


def ours(names):
    """Each byte that is not printable ASCII, and each slash, becomes _. Then names are made unique."""
    made = []
    for name in names:
        made.append("".join(chr(b) if 32 <= b < 127 and b != ord("/") else "_" for b in name.encode()))
        while made[-1] in made[:-1]:
            made[-1] += "_"
    return made


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    place = amrex_files.write_plot(CASES[request.param], folder / "plt00040")
    beside(request.param, place)
    return CASES[request.param], place


@pytest.mark.keep(1)
def test_imported(case, tmp_path):
    plot, place = case
    done = run("import", "amrex", place, tmp_path / "data", "--no-fsync")
    assert done.returncode == 0, done.stderr
    levels = sidestream.open(tmp_path / "data", into="levels", mesh="grid")
    names = ours(plot.names)
    assert set(names) <= set(levels.variables)
    amrex_files.check_cells(plot, levels, names)


@pytest.mark.test_all
def test_like_yt(case):
    """The samples are real plotfiles, because yt reads the same values from them."""
    yt = needs("yt")
    yt.set_log_level(40)
    plot, place = case
    if plot.version > 1 or plot.formats or plot.ghosts:
        pytest.skip("NOT TESTED with yt: it reads boxes without ghosts, all with headers in one form")
    seen = 0
    dataset = yt.load(str(place))
    for grid in dataset.index.grids:
        level, first = int(grid.Level), np.asarray(grid.get_global_startindex())[: plot.dimensions]
        lo = list(map(int, first))
        hi = [int(a + b) for a, b in zip(lo, grid.ActiveDimensions, strict=False)]
        for number, name in enumerate(plot.names):
            values = np.asarray(grid["boxlib", name].d).reshape(np.subtract(hi, lo)).T
            np.testing.assert_array_equal(values, plot.value(number, level, lo, hi))
        seen += 1
    assert seen == sum(map(len, plot.boxes))


@pytest.mark.keep(1)
def test_analysed(case, tmp_path):
    """The same cells count without an import."""
    plot, place = case
    tasks = "".join(
        f"  - statistics: {{variable: '{name}', file: s{n}.csv}}\n" for n, name in enumerate(ours(plot.names))
    )
    (tmp_path / "run.yaml").write_text(f"output: {{directory: {tmp_path / 'results'}}}\nanalyses:\n{tasks}")
    done = run("analyse", place, "--config", tmp_path / "run.yaml")
    assert done.returncode == 0, done.stderr
    expected = np.array(list(amrex_files.cells_of(plot).values()))
    for n in range(len(plot.names)):
        with (tmp_path / "results" / f"s{n}.csv").open() as file:
            (row,) = csv.DictReader(file)
        assert int(row["count"]) == len(expected)
        assert (float(row["minimum"]), float(row["maximum"])) == (expected[:, n].min(), expected[:, n].max())
        np.testing.assert_allclose(float(row["sum"]), expected[:, n].sum(), rtol=1e-14)
