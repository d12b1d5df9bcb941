"""Charts of odd tables: values that axes cannot show, names that look like mathematics, many curves, and settings of
the user. No text is cut or lies on another, and mistakes become a sentence."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import sidestream
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfFile, RendererPdf
from matplotlib.text import Text
from pairs import pairs
from PIL import Image
from plot_command import command
from sidestream.charts.fonts import families_of, printable
from sidestream.charts.titles import pretty

INF, NAN = float("inf"), float("nan")


def histogram(edges, counts):
    edges = np.asarray(edges, float)
    zero = np.zeros(len(counts), int)
    return {
        "lower": edges[:-1],
        "upper": edges[1:],
        "count": np.array(counts),
        "below": zero,
        "above": zero,
        "nan": zero,
    }


def spectrum(k, power, second=None):
    k, power = np.asarray(k, float), np.asarray(power, float)
    columns = {"k_lower": k, "k_upper": k, "k": k, "modes": np.ones(len(k), int)}
    columns |= {"power": power, "dimensionless": power}
    return columns if second is None else {**columns, "second": np.asarray(second, float)}


def statistics(values, components=1):
    values = np.repeat(np.asarray(values, float), components)
    time = np.repeat(np.arange(len(values) // components) * 0.5, components)
    component = np.tile(np.arange(components), len(values) // components)
    return {"time": time, "component": component, "minimum": -values, "maximum": values, "mean": np.zeros(len(values))}


def masses(edges, counts):
    edges, counts = np.asarray(edges, float), np.asarray(counts)
    return {"lower": edges[:-1], "upper": edges[1:], "count": counts, "above": counts, "dn_dlog10m": 1.0 * counts}


def history(all_masses):
    count = len(all_masses)
    columns = {"time": np.zeros(count), "track": np.arange(count), "event": np.full(count, "first")}
    return {**columns, "halo": np.arange(count), "mass": np.array(all_masses), "other_track": np.full(count, -1)}


def test_values_that_matplotlib_refuses(monkeypatch):
    def refuses(page):
        raise ValueError("no such thing")

    monkeypatch.setattr("sidestream.charts.page.Page.fit", refuses)
    with pytest.raises(sidestream.Error, match=r"its values cannot be drawn \(no such thing\)"):
        sidestream.plot(histogram([0, 1, 2], [3, 4]))


def colours(x, y):
    return {"x_edges": np.array(x), "y_edges": np.array(y), "count": np.full((len(y) - 1, len(x) - 1), 3)}


TABLES = {
    "equal edges": histogram([3, 3], [7]),
    "edges close together": histogram(1e6 + 1e-10 * np.arange(6), [1, 2, 3, 4, 5]),
    "infinite edges": histogram([-INF, 0, 1, INF], [1, 2, 3]),
    "edges of all sizes": histogram(np.geomspace(1e-300, 1e300, 12), np.arange(1, 12)),
    "powers of all sizes": spectrum([1, 2, 3, 4], [1e308, 1e-308, 5e-324, 0]),
    "no power": spectrum([1, 2], [NAN, NAN]),
    "negative power": spectrum([1, 2], [-1, -2]),
    "huge statistics": statistics([1e308, 1.7e308]),
    "tiny statistics": statistics([5e-324, 1e-320]),
    "infinite statistics": statistics([INF, 2, NAN]),
    "masses of one halo": masses([5, 5], [1]),
    "masses from zero": masses([0, 1, 2], [1, 2]),
    "masses without a number": masses([NAN, NAN], [0]),
    "halos without a mass": history([NAN, 0.0, -1.0, INF]),
    "colours of all sizes": colours([-1e308, 0, 1e308], [1e-320, 1, 2]),
    "colours without edges": colours([NAN, NAN, NAN], [0.0, 1.0, 2.0]),
}


def check_texts(figure, size):
    """Every text is inside the figure and apart from all others. Returns all texts."""
    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    for n, (text, a) in enumerate(boxes):
        assert a.x0 >= 0 and a.y0 >= 0 and a.x1 <= size[0] and a.y1 <= size[1], text
        for other, b in boxes[:n]:
            assert a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0, (text, other)
    return [text for text, _ in boxes]


@pytest.mark.keep(1)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", TABLES)
def test_values_that_axes_cannot_show(name, tmp_path):
    size = (320, 240)
    figure = sidestream.plot(TABLES[name], tmp_path / "a.png", size=size)
    check_texts(figure, size)
    assert np.all(np.isfinite([*figure.axes[0].get_xlim(), *figure.axes[0].get_ylim()]))
    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
        assert len([t for t in axis.get_ticklabels() if t.get_text()]) >= 2


def test_a_histogram_without_a_width_is_visible():
    line = sidestream.plot(histogram([3, 3], [7])).axes[0].lines[0]
    assert line.get_marker() == "o" and set(line.get_xdata()) == {3.0} and set(line.get_ydata()) == {7.0}
    assert sidestream.plot(histogram([3, 4], [7])).axes[0].lines[0].get_marker() == "None"


@pytest.mark.keep(1)
@pytest.mark.parametrize("first", [0.0, NAN])
def test_a_spectrum_stays_logarithmic_if_a_bin_has_no_wave_number(first):
    axes = sidestream.plot(spectrum([first, 1, 2], [9, 3, 1])).axes[0]
    assert axes.get_xscale() == "log"
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [NAN, 1, 2])


def test_narrow_bars_have_no_edges():
    wide = sidestream.plot(masses(np.geomspace(1, 10, 7), np.arange(1, 7))).axes[0].patches
    narrow = sidestream.plot(masses(np.geomspace(1, 10, 301), np.arange(1, 301))).axes[0].patches
    assert all(bar.get_linewidth() > 0 for bar in wide) and not any(bar.get_linewidth() for bar in narrow)


def test_ticks_of_a_small_part_of_large_numbers():
    figure = sidestream.plot(spectrum(np.arange(1, 11), 1e6 + 1e-7 * np.arange(10)), log="none")
    axes = figure.axes[0]
    assert axes.get_ylabel() == "power P(k) − 1000000 [10⁻⁷]"
    texts = [label.get_text() for label in axes.get_yticklabels()]
    assert len(texts) >= 3 and all(re.fullmatch(r"−?\d", text) for text in texts), texts


def test_halos_without_a_mass():
    figure = sidestream.plot(history([NAN, -1.0, 0.0, INF]))
    (dots,) = figure.axes[0].collections
    assert len(dots.get_offsets()) == 4 and np.all(dots.get_sizes() > 0)
    assert not figure.legends
    texts = [text.get_text() for text in sidestream.plot(history([NAN, 6.4e12, INF])).legends[0].get_texts()]
    assert texts == ["mass 6.4×10¹²", "mass 10¹¹"]


@pytest.mark.keep(1)
@pytest.mark.parametrize("size", [(320, 240), (1024, 768)])
def test_dots_of_the_legend_are_apart(size):
    figure = sidestream.plot(history([1.0, 2.0]), size=size)
    check_texts(figure, size)
    legend = figure.legends[0]
    dots = [line.get_window_extent() for line in legend.get_lines()]
    centres = [((d.x0 + d.x1) / 2, (d.y0 + d.y1) / 2, line.get_markersize() / 0.72 / 2) for d, line in
               zip(dots, legend.get_lines(), strict=True)]  # fmt: skip
    (a, b), caption = centres, figure.texts[0].get_window_extent()
    assert np.hypot(a[0] - b[0], a[1] - b[1]) > a[2] + b[2]
    assert all(x - radius >= 0 and y + radius <= caption.y0 for x, y, radius in centres)


NAMES = [
    r"_x_$y^2$ 50% \frac{1}{2}",
    "Gasdichte über dem Mittel ρ/ρ̄ − und so weiter, " * 4,
    "x" * 200,
    "Größe\tmit\nZeilen\x07",
]


@pytest.mark.keep(1)
@pytest.mark.parametrize(("size", "name"), pairs([((320, 240),), ((1024, 768),)], NAMES, strength=1))
def test_names(name, size):
    said = {"title": {"variable": name, "with": f"_{name}"}, "unit": {"variable": "g/cm³"}}
    told = re.sub(r"\s", "", printable(name))
    figure = sidestream.plot(histogram([0, 1, 2], [3, 4]), size=size, said=said)
    check_texts(figure, size)
    assert re.sub(r"\s", "", figure.axes[0].get_xlabel()) == f"{told}[g/cm³]"
    figure = sidestream.plot(spectrum([1, 2], [3, 4], [5, 6]), size=size, said=said)
    check_texts(figure, size)
    legend = [re.sub(r"\s", "", text.get_text()) for text in figure.legends[0].get_texts()]
    assert legend == [told, f"_{told}"]


@pytest.mark.test_all
def test_many_curves():
    size = (320, 240)
    figure = sidestream.plot(statistics([1, 2], components=8), size=size)
    assert len(figure.legends[0].get_texts()) == 24
    looks = {(line.get_color(), str(line.get_linestyle()), line._dash_pattern[1] and tuple(line._dash_pattern[1]))
             for line in figure.axes[0].lines}  # fmt: skip
    assert len(looks) == 24
    figure = sidestream.plot(statistics([1, 2], components=100), size=size)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [f"{name} of each component" for name in ("maximum", "mean", "minimum")]
    assert [len({line.get_color() for line in figure.axes[0].lines[n::3]}) for n in range(3)] == [1, 1, 1]
    check_texts(figure, size)


def test_fonts():
    assert families_of(["Größe ρ₀ ∂x"]) == (["DejaVu Sans"], "")
    assert families_of(["\U0010fffd"])[1] == "\U0010fffd"


def test_units():
    found = [pretty(unit) for unit in ("g/cm^3", "s^(-1)", "m^0.5", "kg^(1/2)", "m^15", "m^-2 s")]
    assert found == ["g/cm³", "s⁻¹", "m^0.5", "kg^(1/2)", "m¹⁵", "m⁻² s"]


HEADER = "bin,lower,upper,count,below,above,nan\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "a table.csv").write_text(HEADER + "0,-1,0,3,0,0,0\n1,0,1,4,0,0,0\n")
    return tmp_path / "a table.csv"


@pytest.mark.test_all
def test_settings_of_the_user_do_not_apply(table, tmp_path):
    (tmp_path / "matplotlibrc").write_text("savefig.bbox: tight\nfont.family: serif\nfont.size: 30\nnonsense: 5\n")
    settings = {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc"), "MPLBACKEND": "nonsense", "HOME": "/proc/nowhere"}
    settings |= {"MPLCONFIGDIR": "/proc/nowhere"}
    line = [sys.executable, "-m", "sidestream", "plot", table, "-o", tmp_path / "b.png", "--size", "320x240"]
    done = subprocess.run(
        line, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **settings}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert command(table, "-o", tmp_path / "a.png", "--size", "320x240").returncode == 0
    with Image.open(tmp_path / "b.png") as image:
        assert image.size == (320, 240)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.test_all
def test_fonts_of_a_pdf_are_of_type_42(table, tmp_path):
    sidestream.plot(table, tmp_path / "a.pdf")
    assert b"/CIDFontType2" in (tmp_path / "a.pdf").read_bytes() and b"/Type3" not in (tmp_path / "a.pdf").read_bytes()


def test_what_the_chart_leaves_out_is_told(table, tmp_path):
    done = command(table, "--log", "x")
    assert done.returncode == 0 and "2 values of x are not above 0 and were left out" in done.stderr
    table.write_text(HEADER)
    done = command(table)
    assert done.returncode == 0 and "the chart is empty: the table has no value" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"range": (5, 1)}, "the range 5,1, expected two finite numbers, the lower one first"),
        ({"range": (-1, 5), "colour_scale": "logarithmic"}, "and above 0 for logarithmic colours"),
        ({"colours": "viridi"}, "no colour map 'viridi'; did you mean viridis"),
        ({"colour_scale": "log"}, "colour_scale is 'log', expected linear or logarithmic"),
        ({"tracks": 0}, "0 tracks, expected at least 1"),
    ],
)
def test_mistakes_in_options(options, message):
    with pytest.raises(sidestream.Error, match=re.escape(message)):
        sidestream.plot(colours([0.0, 1.0], [0.0, 1.0]), **options)


def test_mistakes_in_files(table, tmp_path):
    with pytest.raises(sidestream.Error, match=r"a table\.csv/a\.png: cannot be written: "):
        sidestream.plot(table, table / "a.png")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "b.csv").symlink_to(table)
    assert sidestream.plot(tmp_path / "linked" / "b.csv").axes[0].get_xlabel() == "value"
    table.write_text(HEADER + "0,a,b,3,0,0,0\n")
    with pytest.raises(sidestream.Error, match=r"a table\.csv: the column 'lower' holds text, expected numbers"):
        sidestream.plot(table)
    for wrong in (("--size", "²x5"), ("--range", "1,2,3")):
        done = command(table, *wrong)
        assert done.returncode == 1 and "expected" in done.stderr and "Traceback" not in done.stderr
    assert command(".").stderr.startswith("sidestream: ")


@pytest.mark.test_all
@pytest.mark.parametrize("name", NAMES[:3])
def test_no_text_is_cut_in_a_pdf(name, tmp_path):
    """Small letters are wider there than between the pixels of a PNG file."""
    said = {"title": {"variable": name, "with": name}}
    figure = sidestream.plot(spectrum([1, 2], [3, 4], [5, 6]), tmp_path / "a.pdf", size=(320, 240), said=said)
    figure.draw_without_rendering()
    figure.set_dpi(72)
    width, height = figure.bbox.width, figure.bbox.height
    with (tmp_path / "b.pdf").open("wb") as stream:
        file = PdfFile(stream)
        file.newPage(width / 72, height / 72)
        renderer = RendererPdf(file, 72, height / 72, width / 72)
        figure.draw(renderer)
        texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
        for text in texts:
            box = text.get_window_extent(renderer)
            assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text
        file.finalize()
