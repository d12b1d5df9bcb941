"""Charts of tables that analyses have written: the drawn data, the labels of axes, and that no text is cut."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import h5py
import matplotlib
import numpy as np
import pytest
import sidestream
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image
from plot_command import command
from sidestream.charts import plotting

HERE = Path(__file__).parent
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
SIZES = [(320, 240), (640, 480), (2000, 1500)]
CONFIGURATION = """\
placement: inline
output: {directory: results}
drain_limit: 1e18
meshes:
  grid: {type: uniform, size: [$n, $n, $n], spacing: 0.5, periodic: [x, y, z]}
variables:
  density: {mesh: grid, type: float64, unit: g/cm^3}
  temperature: {mesh: grid, type: float64, unit: K, label: gas temperature}
analyses:
  - statistics: {variable: temperature, file: statistics.csv}
  - histogram: {variable: temperature, bins: 20, file: linear.csv}
  - histogram: {name: weighed, variable: density, weight: density, scale: logarithmic, bins: 12, normalise: density,
                file: "weighed-{index}.csv"}
  - histogram: {name: in-hdf5, variable: density, bins: 12, file: "in-hdf5-{index}.h5"}
  - histogram: {name: pieces, variable: temperature, bins: 20, file: "parts-{index}.csv", pieces: true}
  - histogram2d: {x: {variable: density, scale: logarithmic, bins: 24}, y: {variable: temperature, bins: 16},
                  file: "phase-{index:02}.h5"}
  - power_spectrum: {variable: density, file: "spectrum-{index}.csv"}
  - power_spectrum: {name: pair, variable: density, with: temperature, of: difference, file: pair.csv}
  - power_spectrum: {name: lines, variable: temperature, along: [x, y, z], file: lines.csv}
  - lyman_alpha: {hydrogen: density, temperature: temperature, redshift: 3, mean_flux: 0.7, file: means.csv,
                  pdf_file: flux.csv}
  - halos: {variable: density, boundary: 1.6, halo: 2.2, connectivity: 6, file: "halos-{index}.csv",
            mass_function: {bins: 6, file: "masses-{index}.csv"}, history: {file: history.csv}}
"""
# The labels of the axes of each table, and the logarithmic axes.
LABELS = {
    "linear.csv": ("gas temperature [10⁷ K]", "number of points", "y"),
    "weighed-3.csv": ("density [g/cm³]", "density [1/(g/cm³)]", "xy"),
    "in-hdf5-3.h5": ("density [g/cm³]", "number of points", "y"),
    "parts-3.pieces": ("gas temperature [10⁷ K]", "number of points", "y"),
    "spectrum-3.csv": ("wave number k [1/mesh unit]", "power P(k) [mesh units³]", "xy"),
    "pair.csv": ("wave number k [1/mesh unit]", "power P(k) [(g/cm³)² mesh units³]", "xy"),
    "lines.csv": ("wave number k [1/mesh unit]", "power P(k) [mesh units]", "xy"),
    "flux.csv": ("transmitted flux F", "probability density of F", "y"),
    "masses-3.csv": ("halo mass M [g/cm³ × mesh unit³]", "number of halos", "xy"),
    "history.csv": ("time", "track of a halo", ""),
    "statistics.csv": ("time", "gas temperature [10⁷ K]", ""),
    "timings.csv": ("time [s]", "cumulative distribution", "x"),
    "phase-03.h5": ("density [g/cm³]", "gas temperature [10⁷ K]", "x"),
}
CAPTION = "A caption that says so much of the run, of its parameters and of who made it, that one line is too short"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("charted")
    (folder / "run.yaml").write_text(CONFIGURATION)
    command = [MPIRUN, "-n", "2", sys.executable, str(HERE / "charted.py"), "run.yaml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results"


def rows(path, iteration=None):
    with path.open(newline="") as file:
        found = list(csv.DictReader(file))
    return [row for row in found if iteration is None or row["iteration"] == str(iteration)]


def numbers(path, column, iteration=None):
    return np.array([float(row[column]) for row in rows(path, iteration)])


def drawn_texts(figure):
    """Returns all visible texts and their boxes, measured with a new canvas."""
    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent()) for text in texts]


def said(text):
    return re.sub(r"\s+", "", text)


@pytest.mark.keep(2)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LABELS)
def test_no_text_is_cut_or_lies_on_another(results, name, size, tmp_path):
    figure = sidestream.plot(results / name, tmp_path / "a.png", size=size, caption=CAPTION)
    texts = drawn_texts(figure)
    for text, box in texts:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= size[0] and box.y1 <= size[1], (text, box)
    for n, (text, a) in enumerate(texts):
        for other, b in texts[:n]:
            apart = a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0
            assert apart, (text, other)
    whole = "".join(said(text) for text, _ in texts)
    for wanted in (CAPTION, *LABELS[name][:2]):
        assert said(wanted) in whole
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == size
        pixels = np.asarray(image.convert("L"))
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert np.all(edge == 255), "something goes beyond the picture"
    assert np.any(pixels < 200)


@pytest.mark.keep(2)
@pytest.mark.parametrize("name", LABELS)
def test_axes(results, name):
    figure = sidestream.plot(results / name)
    axes = figure.axes[0]
    across, up, logarithmic = LABELS[name]
    assert said(axes.get_xlabel()) == said(across) and said(axes.get_ylabel()) == said(up)
    assert (axes.get_xscale() == "log", axes.get_yscale() == "log") == ("x" in logarithmic, "y" in logarithmic)
    for axis in (axes.xaxis, axes.yaxis):
        assert len([t for t in axis.get_ticklabels() if t.get_text()]) >= 2 or name == "history.csv"


@pytest.mark.keep(1)
@pytest.mark.parametrize("size", [(40, 30), (64, 48), (120, 90), (1200, 160), (160, 1200)])
def test_what_has_no_room_is_left_out_and_told(results, size, tmp_path, monkeypatch):
    pages, draw = [], plotting._drawn
    monkeypatch.setattr(plotting, "_drawn", lambda *how: pages.append(draw(*how)) or pages[-1])
    told = ("--size", f"{size[0]}x{size[1]}", "--caption", CAPTION)
    done = command(results / "pair.csv", "-o", tmp_path / "a.png", *told)
    assert done.returncode == 0, done.stderr
    (page,) = pages
    texts = drawn_texts(page.figure)
    assert all(b.x0 >= 0 and b.y0 >= 0 and b.x1 <= size[0] and b.y1 <= size[1] for _, b in texts), texts
    whole = "".join(said(text) for text, _ in texts)
    assert (said(CAPTION) in whole) != ("the caption: no room" in done.stderr)
    assert (said("power P(k) [(g/cm³)² mesh units³]") in whole) != ("labels of axes: no room" in done.stderr)
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == size


def test_a_histogram_has_the_counts_of_numpy(results):
    from charted import gas

    *_, (_, temperature) = gas(16, 4)
    line = sidestream.plot(results / "linear.csv").axes[0].lines[0]
    edges = np.append(numbers(results / "linear.csv", "lower", 3), temperature.max())
    counts, _ = np.histogram(temperature, edges)
    np.testing.assert_allclose(line.get_xdata(), np.repeat(edges, 2)[1:-1])
    np.testing.assert_array_equal(np.nan_to_num(line.get_ydata()), np.repeat(counts, 2))


def test_iterations(results):
    first = sidestream.plot(results / "linear.csv", iteration=0).axes[0].lines[0]
    shown = np.nan_to_num(first.get_ydata()[::2])
    np.testing.assert_array_equal(shown, numbers(results / "linear.csv", "count", 0))
    for table in (results / "linear.csv", sidestream.open(results / "linear.csv")):
        with pytest.raises(sidestream.Error, match="no iteration 9"):
            sidestream.plot(table, iteration=9)
    text = sidestream.plot(results / "linear.csv", iteration=1).texts[0].get_text()
    assert "gas temperature: distribution" in text and "time 0.25" in text and "cycle 10" in text


def test_quantities_and_logarithms(results):
    axes = sidestream.plot(results / "weighed-3.csv", quantity="weight", log="none").axes[0]
    assert axes.get_xscale() == axes.get_yscale() == "linear"
    assert said(axes.get_ylabel()).startswith("sumofdensity[")
    np.testing.assert_array_equal(axes.lines[0].get_ydata()[::2], numbers(results / "weighed-3.csv", "weight"))
    with pytest.raises(sidestream.Error, match="no quantity 'mass' to draw, but count, weight, density"):
        sidestream.plot(results / "weighed-3.csv", quantity="mass")
    with pytest.raises(sidestream.Error, match="log is 'z', expected one of none, x, y, xy"):
        sidestream.plot(results / "weighed-3.csv", log="z")


def test_spectra(results):
    figure = sidestream.plot(results / "pair.csv")
    first, second = figure.axes[0].lines
    np.testing.assert_array_equal(first.get_ydata(), numbers(results / "pair.csv", "power", 3))
    np.testing.assert_array_equal(second.get_ydata(), numbers(results / "pair.csv", "second", 3))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["density", "gas temperature"]
    figure = sidestream.plot(results / "lines.csv", quantity="dimensionless")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["along x", "along y", "along z"]
    mine = [row for row in rows(results / "lines.csv", 3) if row["axis"] == "y"]
    np.testing.assert_array_equal(figure.axes[0].lines[1].get_xdata(), [float(row["k"]) for row in mine])


def test_a_mass_function_has_bars_of_all_halos(results):
    masses = numbers(results / "halos-3.csv", "mass")
    axes = sidestream.plot(results / "masses-3.csv").axes[0]
    edges = np.geomspace(masses.min(), masses.max(), 7)
    counts, _ = np.histogram(np.log10(masses), np.log10(edges[0]) + np.arange(7) * np.log10(edges[-1] / edges[0]) / 6)
    tops = {round(np.log10(bar.get_x()), 6): bar.get_y() + bar.get_height() for bar in axes.patches if bar.get_height()}
    expected = {round(np.log10(edge), 6): count for edge, count in zip(edges, counts, strict=False) if count}
    assert tops == pytest.approx(expected)


def test_a_history_has_a_dot_for_each_halo_and_a_lane_for_each_track(results):
    axes = sidestream.plot(results / "history.csv").axes[0]
    (dots,) = axes.collections
    lanes = {float(t): int(text.get_text()) for t, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    heaviest = {}
    for row in rows(results / "history.csv"):
        track = int(row["track"])
        heaviest[track] = max(heaviest.get(track, 0.0), float(row["mass"] or "nan") if int(row["halo"]) >= 0 else 0.0)
    chosen = sorted(heaviest, key=lambda track: (-heaviest[track], track))[:24]
    assert sorted(lanes.values()) == sorted(chosen)
    wanted = sorted(
        (float(row["time"]), int(row["track"]))
        for row in rows(results / "history.csv")
        if int(row["halo"]) >= 0 and int(row["track"]) in chosen
    )
    assert sorted((float(x), lanes[float(y)]) for x, y in dots.get_offsets()) == wanted
    assert len(sidestream.plot(results / "history.csv", tracks=2).axes[0].get_yticks()) == 2


def test_a_history_that_a_later_run_goes_on_with(results, tmp_path):
    """The chart begins with the first iteration of the resumed run, whose tracks have the same numbers."""
    lines = (results / "history.csv").read_text().splitlines()
    later = [
        [str(int(line.split(",")[0]) + 4), "0", "9.5", *line.split(",")[3:]] for line in lines[1:] if ",first," in line
    ]
    (tmp_path / "history.csv").write_text("\n".join([*lines, *(",".join(row) for row in later)]) + "\n")
    (dots,) = sidestream.plot(tmp_path / "history.csv").axes[0].collections
    assert len(later) == len(dots.get_offsets()) and {float(x) for x, _ in dots.get_offsets()} == {9.5}


def test_a_table_that_grows_meanwhile(results, tmp_path):
    """The last row is incomplete: the iteration before it is drawn, and no other is read."""
    text = (results / "linear.csv").read_text()
    (tmp_path / "linear.csv").write_text(text + "4,40,1.0,0,not a nu")
    for iteration in (2, None):
        line = sidestream.plot(tmp_path / "linear.csv", iteration=iteration).axes[0].lines[0]
        counts = numbers(results / "linear.csv", "count", 3 if iteration is None else 2)
        np.testing.assert_array_equal(np.nan_to_num(line.get_ydata()[::2]), counts)
    (tmp_path / "linear.csv").write_text(text + "4,not,right\n")
    sidestream.plot(tmp_path / "linear.csv", iteration=2)
    with pytest.raises(sidestream.Error, match="has 3 entries"):
        sidestream.plot(tmp_path / "linear.csv")


TABLES_OF_NOTHING = {
    "history": ("iteration,cycle,time,track,event,halo,mass,other_track", []),
    "masses": ("bin,lower,upper,count,above,dn_dlog10m,outside", ["0,1,10,0,0,0,0", "1,10,100,0,0,0,0"]),
    "spectrum": ("k_lower,k_upper,k,modes,power,dimensionless", ["1,10,nan,0,nan,nan"]),
    "outside": ("bin,lower,upper,count,below,above,nan", ["0,1,10,0,3,0,0"]),
    "empty": ("bin,lower,upper,count,below,above,nan", []),
}


@pytest.mark.keep(1)
@pytest.mark.parametrize("name", TABLES_OF_NOTHING)
def test_tables_of_nothing(tmp_path, name):
    header, lines = TABLES_OF_NOTHING[name]
    (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    sidestream.plot(tmp_path / f"{name}.csv", tmp_path / "a.png", size=(200, 150))
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (200, 150)


def test_colours_are_the_counts_of_a_2d_histogram(results):
    figure = sidestream.plot(results / "phase-03.h5", colour_scale="logarithmic", colours="grey")
    (mesh,) = figure.axes[0].collections
    with h5py.File(results / "phase-03.h5") as file:
        found = []
        file.visititems(lambda path, thing: found.append(thing) if path.split("/")[-1] == "count" else None)
        counts = found[0][...]
    np.testing.assert_array_equal(np.ma.filled(mesh.get_array(), 0).reshape(counts.shape), counts)
    assert isinstance(mesh.norm, matplotlib.colors.LogNorm) and mesh.norm.vmax == counts.max()
    figure = sidestream.plot(results / "phase-03.h5", range=(1, 9))
    assert (figure.axes[0].collections[0].norm.vmin, figure.axes[0].collections[0].norm.vmax) == (1, 9)


@pytest.mark.test_all
def test_formats_of_tables(results, tmp_path):
    """Parquet, a list of pieces, and a table in memory give the same curve."""
    reference = sidestream.plot(results / "linear.csv", log="none").axes[0].lines[0].get_xydata()
    sidestream.to_parquet(results / "linear.csv", tmp_path / "linear.parquet")
    for table in (tmp_path / "linear.parquet", results / "parts-3.pieces", sidestream.open(results / "linear.csv")):
        np.testing.assert_array_equal(sidestream.plot(table, log="none").axes[0].lines[0].get_xydata(), reference)
    with h5py.File(results / "in-hdf5-3.h5") as file:
        found = []
        file.visititems(lambda path, thing: found.append(thing) if path.split("/")[-1] == "count" else None)
        counts = found[0][...]
    line = sidestream.plot(results / "in-hdf5-3.h5", log="none").axes[0].lines[0]
    np.testing.assert_array_equal(line.get_ydata()[::2], counts)


def test_without_a_record_there_are_no_units(results, tmp_path):
    (tmp_path / "linear.csv").write_bytes((results / "linear.csv").read_bytes())
    axes = sidestream.plot(tmp_path / "linear.csv").axes[0]
    assert said(axes.get_xlabel()) == said("value [10⁷]")
    (tmp_path / "run.yaml").write_text("configuration: '{'\n")
    assert said(sidestream.plot(tmp_path / "linear.csv").axes[0].get_xlabel()) == said("value [10⁷]")


@pytest.mark.keep(1)
@pytest.mark.parametrize(("ending", "begins"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_formats_of_pictures(results, tmp_path, ending, begins):
    """Names are not parsed as mathematics, and the same table gives the same bytes."""
    for name in ("a", "b"):
        sidestream.plot(results / "linear.csv", tmp_path / f"{name}{ending}", caption="costs $3 and a_b^c$ <&>")
    first, second = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("a", "b"))
    assert first == second and first.startswith(begins)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a{ending}", f"b{ending}"]


def test_what_cannot_be_drawn(results, tmp_path):
    with pytest.raises(sidestream.Error, match=r"no chart of a table with the columns iteration, cycle, .*histogram2d"):
        sidestream.plot(results / "iterations.csv")
    with pytest.raises(sidestream.Error, match=r"expected a name that ends in one of \.png, \.pdf, \.svg"):
        sidestream.plot(results / "linear.csv", tmp_path / "a.jpg")
    with pytest.raises(sidestream.Error, match="no such file"):
        sidestream.plot(results / "nothing.csv")
    assert not list(tmp_path.iterdir())


def test_the_command(results, tmp_path):
    table = tmp_path / "linear.csv"
    table.write_bytes((results / "linear.csv").read_bytes())
    line = [sys.executable, "-m", "sidestream", "plot", str(table), "--size", "320x240", "--log", "none"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with Image.open(tmp_path / "linear.png") as image:
        assert image.size == (320, 240)
    assert command(table, "-o", tmp_path / "new" / "a.svg").returncode == 0
    assert (tmp_path / "new" / "a.svg").is_file()
    done = command(table, "--size", "wide")
    assert done.returncode == 1 and "the size 'wide', expected width and height" in done.stderr
    assert command(table, "--log", "z").returncode == 2
    done = command(tmp_path / "nothing.csv")
    assert done.returncode == 1 and done.stderr.startswith("sidestream: ") and "no such file" in done.stderr


def test_without_matplotlib(results, tmp_path):
    code = "import sys; sys.modules['matplotlib'] = None\n"
    code += "import importlib.util as u; real = u.find_spec\n"
    code += "u.find_spec = lambda name, *more: None if name == 'matplotlib' else real(name, *more)\n"
    code += f"from sidestream.charts.plotting import main; sys.exit(main([{str(results / 'linear.csv')!r}]))\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "matplotlib is not installed" in done.stderr and "pip install" in done.stderr


def plot(*arguments, **more):
    """Runs `sidestream plot`, with this interpreter and the package that was built along with it."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["SIDESTREAM_PYTHON"] = sys.executable
    line = [os.environ["SIDESTREAM_TOOL"], "plot", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, env=environment | more, check=False)


def test_the_program_draws_several_tables(results, tmp_path):
    both = plot(*[results / "timings.csv"] * 2, "-o", tmp_path / "b.png", "--names", "one,two")
    assert both.returncode == 0 and (tmp_path / "b.png").exists(), both.stderr


@pytest.mark.test_all
def test_the_program(results, tmp_path):
    done = plot(results / "phase-03.h5", "-o", tmp_path / "a.png", "--size=320x240", "--range=1,9", "--caption", "")
    assert done.returncode == 0, done.stderr
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (320, 240)
    wrong = plot(results / "phase-03.h5", "--lgo", "x")
    assert wrong.returncode == 2 and "did you mean '--log'" in wrong.stderr
    nobody = plot(results / "phase-03.h5", SIDESTREAM_PYTHON="/nowhere")
    assert nobody.returncode == 1 and "name an interpreter with NumPy, h5py and matplotlib" in nobody.stderr
