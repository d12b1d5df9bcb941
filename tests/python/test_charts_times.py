"""Charts of the times of a run: what their curves show, from tables with times that are known."""

import numpy as np
import pytest
import sidestream
from plot_command import command
from sidestream.charts import times
from sidestream.charts.given import read_given

HEADER = "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"


def client(rank, iteration, compute, publish=0.0, wait=0.0, end=0.0):
    return f"{rank},client,{iteration},0,{compute},{publish},{wait},{end},,\n"


def server(rank, iteration, start, task, seconds):
    return f"{rank},server,{iteration},{start},0.01,,,,{task},{seconds}\n"


@pytest.fixture
def table(tmp_path):
    """Two clients and a server, rank 2, which begins to wait for iterations at 9, 13.5 and 19 s, works on them for
    3, 1 and 2 s, and waits for the end from 22.5 s on."""
    rows = [client(0, 0, 4, 0.25, 0, 0.25), client(1, 0, 8, 1), client(0, 1, 2, 0, 0.5), client(1, 1, 2)]
    rows += [server(2, 0, 9, "idle", 1), server(2, 0, 10, "picture", 2), server(2, 0, 12.5, "files", 1)]
    rows += [server(2, 1, 13.5, "agree", 0.25), server(2, 1, 14, "picture", 1)]
    rows += [server(2, 2, 19, "idle", 1), server(2, 2, 20, "picture", 2), server(2, 3, 22.5, "idle", 9)]
    path = tmp_path / "timings.csv"
    path.write_text(HEADER + "".join(rows))
    return path


def curves(table, **options):
    """Names of curves, and the distinct points at which they rise."""
    figure = sidestream.plot(table, **options)
    names = [text.get_text().replace("\n", " ") for text in figure.legends[0].get_texts()]
    found = {}
    for name, line in zip(names, figure.axes[0].get_lines(), strict=True):
        assert line.get_drawstyle() == "steps-post"
        found[name] = list(zip(*(np.asarray(values)[1:-1].tolist() for values in line.get_data()), strict=True))
    return found


def test_curves(table):
    found = curves(table, size=(2000, 1500))
    low = sidestream.plot(table).axes[0].get_xlim()[0]
    assert found == {
        "computing between iterations: median 3 s, longest 8 s": [(2, 0.25), (2, 0.5), (4, 0.75), (8, 1)],
        "held up by Sidestream: median 0.5 s, longest 1 s": [(low, 0.25), (0.5, 0.5), (0.5, 0.75), (1, 1)],
        "work of a server: median 2 s, longest 3 s": [(1, 1 / 3), (2, 2 / 3), (3, 1)],
        "spare time of a server: median 1.5 s, longest 4.5 s": [(1.5, 1 / 3), (1.5, 2 / 3), (4.5, 1)],
    }


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        ("compute", {"computing between iterations": [2, 2, 4, 8]}),
        ("publish", {"publish": [0, 0, 0.25, 1]}),
        ("wait", {"wait": [0, 0, 0, 0.5]}),
        ("end", {"end": [0, 0, 0, 0.25]}),
        ("held", {"held up by Sidestream": [0, 0.5, 0.5, 1]}),
        ("work", {"work of a server": [1, 2, 3]}),
        ("spare", {"spare time of a server": [1.5, 1.5, 4.5]}),
        ("tasks", {"picture": [1, 2, 2], "files": [1]}),
    ],
)
def test_quantities(table, quantity, expected):
    found = curves(table, quantity=quantity, log="none")
    assert {name.split(":")[0]: [time for time, _ in points] for name, points in found.items()} == expected


def test_up_to_an_iteration(table):
    assert [time for time, _ in curves(table, quantity="work", iteration=1).popitem()[1]] == [1, 3]


def test_a_resumed_run(table):
    """Its iterations begin at 0 again, and so do its seconds, unless the run before was very short."""
    again = [server(2, n, start, "files", seconds) for n, start, seconds in ((0, 40, 2), (1, 43, 1))]
    later = [server(2, n, start, "files", 0.5) for n, start in ((0, 0), (1, 10))]
    table.write_text(table.read_text() + "".join(again + later))
    given = read_given(table, None, lambda columns: True)
    total, spare = times.work(given)
    assert sorted(total) == [0.5, 0.5, 1, 1, 2, 2, 3] and sorted(spare) == [1, 1.5, 1.5, 4.5, 9.5]


def test_only_servers(table):
    """Servers of `sidecar` have a table of their own."""
    rows = table.read_text().splitlines(keepends=True)
    table.write_text("".join(row for row in rows if ",client," not in row))
    assert [name.split(":")[0] for name in curves(table)] == ["work of a server", "spare time of a server"]


def test_logarithmic_shares(table):
    axes = sidestream.plot(table, log="xy", quantity="compute").axes[0]
    (line,) = axes.get_lines()
    assert axes.get_yscale() == "log" and 0 < axes.get_ylim()[0] <= 0.25
    assert line.get_ydata()[1:].tolist() == [0.25, 0.5, 0.75, 1, 1]


def test_ranks_that_compute_and_serve_have_no_time_to_spare(tmp_path):
    path = tmp_path / "timings.csv"
    rows = [client(0, n, 1) + server(0, n, 2 * n, "picture", 0.5) for n in range(3)]
    path.write_text(HEADER + "".join(rows))
    assert [name.split(":")[0] for name in curves(path, size=(2000, 1500))] == [
        "computing between iterations",
        "held up by Sidestream",
        "work of a server",
    ]


@pytest.mark.parametrize("rows", ["", client(0, 0, 0)], ids=["none", "zero"])
def test_no_times(tmp_path, rows):
    path = tmp_path / "timings.csv"
    path.write_text(HEADER + rows)
    done = command(path)
    assert done.returncode == 0, done.stderr
    assert ("the chart is empty: the table has no such times" in done.stderr) == (not rows)
    assert path.with_suffix(".png").exists()


def test_an_unknown_quantity(table):
    with pytest.raises(sidestream.Error, match=r"no quantity 'power' to draw, but compute, .*, tasks"):
        sidestream.plot(table, quantity="power")


def test_many_times_keep_their_distribution():
    values = np.random.default_rng(3).lognormal(size=100_000)
    at, share = times.distribution(values)
    assert len(at) <= times.MOST_POINTS
    assert at[0] == values.min() and at[-1] == values.max() and share[-1] == 1
    assert np.array_equal(share, np.searchsorted(np.sort(values), at, side="right") / len(values))


def other(path, seed):
    """A run of two clients with random times. Returns its table and the seconds that the clients were held up."""
    rng = np.random.default_rng(seed)
    times = rng.lognormal(-3, 1, (40, 3))
    path.parent.mkdir(parents=True)
    path.write_text(HEADER + "".join(client(n % 2, n // 2, 1, *values) for n, values in enumerate(times)))
    return path, times.sum(axis=1)


def test_runs_in_one_chart_are_those_of_numpy(tmp_path):
    """Their steps give the share of times at most as long, for any time."""
    runs = [other(tmp_path / name / "results" / "timings.csv", n) for n, name in enumerate(["inline", "cores"])]
    figure = sidestream.plot([path for path, _ in runs], quantity="held", size=(2000, 1500))
    names = [text.get_text().replace("\n", " ") for text in figure.legends[0].get_texts()]
    assert figure.axes[0].get_xlabel() == "time [s]"
    probes = np.geomspace(1e-2, 2, 500)
    for name, words, line, (_, held) in zip(names, ["inline", "cores"], figure.axes[0].lines, runs, strict=True):
        assert name.startswith(f"{words}, held up by Sidestream: median ")
        assert float(name.split("median ")[1].split(" s")[0]) == pytest.approx(np.median(held), rel=5e-3)
        at, share = line.get_data()
        drawn = np.where(probes < at[0], 0, share[np.searchsorted(at, probes, side="right") - 1])
        expected = (held[None, :] <= probes[:, None]).mean(axis=1)
        inside = (probes >= at[0]) & (probes <= at[-1])
        np.testing.assert_allclose(drawn[inside], expected[inside], atol=1e-12)
    colours = {line.get_color() for line in figure.axes[0].lines}
    assert len(colours) == 2


def test_runs_with_several_curves_have_dashes_of_their_own(table, tmp_path):
    path, _ = other(tmp_path / "b" / "timings.csv", 1)
    lines = sidestream.plot([table, path], names=("first", "second"), size=(2000, 1500)).axes[0].lines
    looks = [(line.get_color(), line.get_linestyle()) for line in lines]
    assert len(set(looks)) == 6 and looks[0][0] == looks[4][0] and looks[0][1] != looks[4][1]


@pytest.mark.parametrize(
    ("paths", "given", "expected"),
    [
        (["a/x/timings.csv", "b/x/timings.csv"], (), ["a", "b"]),
        (["a/timings.csv", "a/endpoint-timings.csv"], (), ["timings", "endpoint-timings"]),
        (["a/timings.csv", "a/b/timings.csv"], (), ["run 1", "run 2"]),
        (["a/b/timings.csv", "c/timings.csv"], (), ["a/b", "c"]),
        (["a/timings.csv", "a/timings.csv"], (), ["run 1", "run 2"]),
        (["a/timings.csv", "b/timings.csv"], ("by files", "by cores"), ["by files", "by cores"]),
    ],
)
def test_names_of_runs(tmp_path, paths, given, expected):
    assert times.names_of_runs([tmp_path / path for path in paths], given) == expected


def test_runs_by_the_command(table, tmp_path):
    path, _ = other(tmp_path / "b" / "timings.csv", 1)
    done = command(table, path, "--quantity", "spare", "--names", "one,two", "-o", tmp_path / "both.pdf")
    assert done.returncode == 0 and (tmp_path / "both.pdf").stat().st_size > 1000
    assert "there is no curve of two: its table has no such times" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "found 2 tables and no name for their chart; name it by -o"),
        (["--names", "one", "-o", "x.png"], "found 1 names for 2 tables; give one for each, or none"),
    ],
)
def test_mistakes_with_several_runs(table, options, words):
    done = command(table, table, *options)
    assert done.returncode == 1 and words in done.stderr


def test_other_tables_share_no_chart(table, tmp_path):
    path = tmp_path / "histogram.csv"
    path.write_text("lower,upper,count\n0,1,3\n")
    with pytest.raises(sidestream.Error, match=r"histogram\.csv: it does not have the times of a run"):
        sidestream.plot([table, path])
