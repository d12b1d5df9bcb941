"""Statistics over time have the bits of NumPy's arithmetic on the fields of each iteration, wherever servers are."""

import json
import re
import signal
import subprocess

import h5py
import numpy as np
import pytest
import sidestream
from job_support import both, endpoint, finished, some_results, write_configuration
from job_support import simulation as job_simulation
from pairs import few
from programs import built
from sidecar_support import Sidecar
from support import run, wait_for
from test_kinds import DECLARATIONS, simulate
from test_kinds import configure as configure_kind
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader

TOOL = built("SIDESTREAM_TOOL")
STATISTICS = ["mean", "minimum", "maximum", "variance", "standard_deviation", "sum", "count"]
QUANTILES = {"q0": 0, "q30": 0.3, "q50": 0.5, "q99_9": 0.999, "q100": 1}
NAMES = [f"{v}_{s}" for v in ("t", "p") for s in [*STATISTICS, *QUANTILES]]
ALL = f"statistics: [{', '.join(STATISTICS)}], quantiles: {list(QUANTILES.values())}"


def tasks_for(options, more=""):
    """The fields of each iteration and the statistics over windows, in files by cycle."""
    asked = re.search(r"statistics: \[(.*?)\]", options)
    asked = asked[1].split(", ") if asked else []
    if found := re.search(r"quantiles: \[(.*?)\]", options):
        asked += [name for name, q in QUANTILES.items() if q in map(float, found[1].split(","))]
    made = [f"s_{variable}_{name}" for variable in "tp" for name in asked]
    return f"""\
analyses:
  - time_statistics: {{variables: [t, p], {options}, makes: s}}
outputs:
  - hdf5: {{variables: [t, p], file: "raw-{{cycle:04}}.h5"}}
  - hdf5: {{variables: [{", ".join(made)}], file: "made-{{cycle:04}}.h5"}}
{more}"""


def twin(fields, weights=None, skip=False):
    """Each statistic of a list of fields, with the arithmetic that the manual states."""
    shape = fields[0].shape
    mean, spread, total, sums, count = (np.zeros(shape) for _ in range(5))
    for field, weight in zip(fields, weights or [1.0] * len(fields), strict=True):
        x = field.astype(np.float64)
        counts = ~np.isnan(x) if skip else np.ones(shape, bool)
        total = np.where(counts, total + weight, total)
        d = x - mean
        m = np.where(counts, mean + (weight / np.where(total > 0, total, 1)) * d, mean)
        spread = np.where(counts, spread + weight * d * (x - m), spread)
        sums, mean, count = np.where(counts, sums + weight * x, sums), m, count + counts
    some = count > 0
    every = np.stack([field.astype(np.float64) for field in fields])
    low, high = (np.nanmin, np.nanmax) if skip else (np.min, np.max)
    with np.errstate(all="ignore"):
        variance = np.where(some, spread / total, np.nan)
        found = {
            "mean": np.where(some, mean, np.nan),
            "minimum": low(every, axis=0),
            "maximum": high(every, axis=0),
            "variance": variance,
            "standard_deviation": np.sqrt(variance),
            "sum": sums,
            "count": count.astype(np.int64),
        }
    method = np.nanquantile if skip else np.quantile
    return found | {name: method(every, q, axis=0) for name, q in QUANTILES.items()}


def read(path, names):
    with h5py.File(path) as file:
        return {name: file[f"variables/{name}"][...] for name in names if f"variables/{name}" in file}


def made_by(results):
    """All arrays of the statistics, by cycle."""
    names = [f"s_{name}" for name in NAMES]
    return {int(path.stem[5:]): read(path, names) for path in sorted(results.glob("made-????.h5"))}


def check(results, windows, weights=None, skip=False):
    """Compares the windows, as lists of cycles by the cycle in which they are written, with the fields."""
    made = made_by(results)
    assert list(made) == list(windows)
    for cycle, members in windows.items():
        raw = [read(results / f"raw-{member:04}.h5", "tp") for member in members]
        for variable in "tp":
            expected = twin([one[variable] for one in raw], weights and weights[cycle], skip)
            for name, values in expected.items():
                found = made[cycle].get(f"s_{variable}_{name}")
                if found is None:
                    continue
                if name.startswith("q"):  # NumPy interpolates in another order of operations
                    np.testing.assert_allclose(found, values, rtol=1e-14, atol=1e-15)
                else:
                    assert found.tobytes() == values.tobytes(), (cycle, variable, name)


PLACES = {
    "inline-1": (1, "inline"),
    "inline-3": (3, "inline"),
    "cores": (3, "{mode: cores, per_node: 1, buffer: 32 MiB}"),
    "nodes": (5, "{mode: nodes, servers: 2, buffer: 8 MiB}"),
    "nodes-blocks": (6, "{mode: nodes, servers: 3, buffer: 8 MiB, forward: blocks}"),
    "regrid": (4, "{mode: nodes, servers: 2, buffer: 8 MiB, partitioner: regrid}"),
}


@pytest.mark.parametrize("place", few(PLACES, kept=["inline-3", "nodes"]))
def test_places(tmp_path, place):
    """Windows of three iterations; the last one, of two, is written incomplete."""
    ranks, placement = PLACES[place]
    tasks = tasks_for(f"{ALL}, window: 3, partial: write")
    done = run(tmp_path, ranks, placement, tasks=tasks, options=["steps=8", "grid=9", "blocks=2", "moving=1"])
    assert done.status == 0, done.text
    check(done.results, {20: [0, 10, 20], 50: [30, 40, 50], 70: [60, 70]})


@pytest.mark.test_all
def test_sidecar(tmp_path):
    tasks = tasks_for(f"{ALL}, window: 3")
    with Sidecar(tmp_path, tasks=tasks, per_node=2) as sidecar:
        servers = sidecar.serve(2)
        sidecar.start(2, "steps=8", "grid=9", "moving=1")
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
    check(done.results, {20: [0, 10, 20], 50: [30, 40, 50]})


@pytest.mark.test_all
def test_job(tmp_path):
    tasks = tasks_for(f"{ALL}, window: 3, partial: write")
    done = both(tmp_path, 2, 2, options=["steps=8", "grid=9", "moving=1"], tasks=tasks)
    check(done.results, {20: [0, 10, 20], 50: [30, 40, 50], 70: [60, 70]})


@pytest.mark.test_all
def test_groups(tmp_path):
    tasks = tasks_for(f"{ALL}, window: 3, group: b")
    placement = "{mode: nodes, buffer: 8 MiB, groups: {a: 1, b: 2}}"
    done = run(tmp_path, 5, placement, tasks=tasks, options=["steps=6", "grid=9", "moving=1"])
    assert done.status == 0, done.text
    check(done.results, {20: [0, 10, 20], 50: [30, 40, 50]})


@pytest.mark.test_all
def test_windows_of_time(tmp_path):
    """Windows of 0.3 exclude the time at their lower end, so the first iteration, at 0, is in none."""
    tasks = tasks_for("statistics: [mean, variance, sum, count], weight: time, window: 0.3 time")
    done = run(tmp_path, 2, "inline", tasks=tasks, options=["steps=8", "grid=6"])
    times = {}
    for path in done.results.glob("raw-????.h5"):
        with h5py.File(path) as file:
            times[int(file.attrs["cycle"])] = float(file.attrs["time"])
    weights = {}
    windows = {30: [10, 20, 30], 60: [40, 50, 60]}
    for window, (cycle, members) in enumerate(windows.items()):
        begin = window * 0.3
        weights[cycle] = [times[c] - max(times[c - 10], begin) for c in members]
    check(done.results, windows, weights)
    data = sidestream.open(done.results / "made.h5.series")
    np.testing.assert_allclose(data["time_bnds"].values, [[0, 0.3], [0.3, 0.6]], rtol=1e-15)
    assert data["time"].attrs["bounds"] == "time_bnds"
    assert data["s_t_mean"].attrs["cell_methods"] == "time: mean"
    assert data["s_t_variance"].attrs["units"] == "(K)2"


def resumed(folder, ranks, placement, tasks, *options):
    extra = f"output: {{directory: {folder}/results, existing: resume}}\n"
    return run(folder, ranks, placement, tasks=tasks, options=["grid=9", "moving=1", *options], extra=extra)


# Servers are at most one iteration behind, so that they have written the checkpoint before the program dies.
IN_STEP = (5, "{mode: nodes, servers: 2, buffer: 8 MiB, max_in_flight: 1}")


@pytest.mark.parametrize(("first", "second"), few([((1, "inline"), PLACES["nodes"]), (IN_STEP, (3, "inline"))], keep=1))
@pytest.mark.parametrize("killed", [False, True])
def test_restart(tmp_path, first, second, killed):
    """A run that goes on in a window, elsewhere and with other blocks, gives the bits of one that never stopped."""
    more = "  - database: {variables: [t], every: 2, keep: 2}\n"
    tasks = tasks_for(f"{ALL}, window: 5, partial: write", more)
    whole = run(tmp_path / "whole", 2, "inline", tasks=tasks, options=["steps=12", "grid=9", "moving=1"])
    assert whole.status == 0, whole.text
    ranks, placement = first
    # The checkpoint of cycle 60 is the last one before it dies; one that ends keeps what it has then.
    ending = ["die_at=8", "steps=12"] if killed else ["steps=7"]
    begun = run(tmp_path / "parts", ranks, placement, tasks=tasks, options=["grid=9", "moving=1", *ending])
    assert (begun.status != 0) == killed, begun.text
    ranks, placement = second
    done = resumed(tmp_path / "parts", ranks, placement, tasks, "first=7", "steps=5")
    assert done.status == 0, done.text
    expected, found = made_by(whole.results), made_by(done.results)
    assert list(expected) == [40, 90, 110]
    for cycle in (90, 110):
        path = done.results / f"made-{cycle:04}.h5"
        values = read(path, list(expected[cycle])) if path.exists() else found[cycle]
        for name, array in expected[cycle].items():
            assert values[name].tobytes() == array.tobytes(), (cycle, name)


@pytest.mark.test_all
def test_another_run_does_not_go_on(tmp_path):
    """States of other windows, and those of a run that is replaced, are not used."""
    options = ["steps=4", "grid=6"]
    run(tmp_path, 1, "inline", tasks=tasks_for("statistics: [count], window: 6"), options=options)
    assert list((tmp_path / "results/states").glob("s-*.state"))
    again = resumed(
        tmp_path, 1, "inline", tasks_for("statistics: [count], window: 7, partial: write"), "first=4", "steps=2"
    )
    assert "goes on from one with other windows" in again.text
    assert set(np.unique(made_by(again.results)[50]["s_t_count"])) == {2}
    extra = f"output: {{directory: {tmp_path}/results, existing: replace}}\n"
    tasks = tasks_for("statistics: [count], window: 6, states: 0")
    run(tmp_path, 1, "inline", tasks=tasks, options=options, extra=extra)
    assert not list((tmp_path / "results/states").iterdir())


LATE = """\
analyses:
  - statistics: {variable: t}
  - statistics: {name: back, variable: t, file: back.csv, when: change(max(t)) > 1e9}
  - time_statistics: {variables: [t], statistics: [count], window: 30, makes: s}
outputs:
  - hdf5: {variables: [s_t_count], file: "made-{cycle:04}.h5"}
  - hdf5: {name: ring, variables: [t], file: "ring-{index:02}.h5", when: iteration == 29, keep_back: 28}
"""


def told_by_the_next(text):
    """The first iteration of servers that follow others, which say what is lost."""
    first = int(re.search(r"these servers follow others, and begin with iteration (\d+):", text)[1])
    assert "what was kept before by 'keep_back' is lost, for ring" in text, text
    assert "begin anew, for back" in text, text
    lost = ", ".join(str(n) for n in range(1, first))
    assert f"began with iteration {first}, and what others kept before is lost: {lost}\n" in text, text
    return first


def check_window_without(done, text, first):
    assert f"'s': what it keeps over iterations lacks iterations 0 to {first - 1}: the servers" in text, text
    assert f"the window of iteration {first} has at most {30 - first} of 30 iterations" in text, text
    assert set(np.unique(made_by(done)[290]["s_t_count"])) == {30 - first}
    assert sorted(int(path.stem[5:]) for path in done.glob("ring-??.h5")) == list(range(first, 30))


@pytest.mark.parametrize("by", few([signal.SIGKILL, signal.SIGUSR1], kept=[signal.SIGKILL]))
def test_an_endpoint_ends_and_another_says_what_is_lost(tmp_path, by):
    """Windows go on from an endpoint that was told to leave, but not from one that was killed."""
    write_configuration(tmp_path, "engine: files, reader_limit: 60", tasks=LATE)
    with endpoint(tmp_path) as first, job_simulation(tmp_path, 2, ["steps=30", "pause_ms=150", "grid=6"]) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        first.signal_ranks(by)
        first.finish(30)
        with endpoint(tmp_path, 2) as second:
            done = finished(tmp_path, job)
            status, text = second.finish()
            assert status == 0, text
    assert all(account["delivered"] == 30 for account in done.accounts), done.text
    begun = told_by_the_next(text)
    if by == signal.SIGKILL:
        return check_window_without(done.results, text, begun)
    assert "lacks" not in text and "iterations, since those before" not in text, text
    assert set(np.unique(made_by(done.results)[290]["s_t_count"])) == {30}


@pytest.mark.test_all
def test_servers_of_a_sidecar_are_killed_and_others_say_what_is_lost(tmp_path):
    """The window is that of the iterations, whichever servers have them, also after a checkpoint."""
    tasks = LATE.replace("window: 30", "window: 100000") + "  - database: {variables: [t], every: 100000}\n"
    with Sidecar(tmp_path, tasks=tasks) as sidecar:
        sidecar.endless(2, "pause_ms=10", "grid=6")
        servers = sidecar.serve(0)
        sidecar.wait_for_rows(5)
        servers.signal(signal.SIGKILL)
        servers.wait(10)
        others = sidecar.serve(0)
        sidecar.wait_for_rows(3)
        sidecar.finish()
        assert others.wait() == 0, others.text()
        text = others.text()
    first = int(re.search(r"follow others, and begin with iteration (\d+):", text)[1])
    begun = min(int(row) for row in sidecar.rows())
    # The checkpoint of the first servers has their first iteration, if that is number 0.
    lacks = 1 if begun == 0 else 0
    assert f"'s': what it keeps over iterations lacks iterations {lacks} to {first - 1}: the servers" in text, text
    most = 100000 - first + (1 if begun == 0 else 0)
    assert f"the window of iteration {first} has at most {most} of 100000 iterations" in text, text


def test_a_state_that_cannot_be_kept_at_the_end(tmp_path):
    """The message says that it is the end, and names no iteration that does not exist."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/states").touch()
    tasks = tasks_for("statistics: [count], window: 3")
    extra = f"output: {{directory: {tmp_path}/other}}\n"
    done = run(tmp_path, 2, "inline", tasks=tasks, options=["steps=4", "grid=6"], extra=extra)
    assert "iteration 3: the state at the end of the run, with which another could go on, is not kept: " in done.text
    assert "iteration 4" not in done.text, done.text


@pytest.mark.keep(1)
@pytest.mark.parametrize("skip", [True, False])
def test_blocks_come_and_go(tmp_path, skip):
    """In odd steps nobody has a part of the mesh: its cells only count in even ones."""
    tasks = tasks_for(
        f"statistics: [mean, variance, count], quantiles: [0.5], window: 4, nan: {'skip' if skip else 'propagate'}"
    )
    done = run(
        tmp_path, 4, "{mode: nodes, servers: 2, buffer: 8 MiB}", tasks=tasks, options=["steps=4", "grid=8", "gap=1"]
    )
    # The window ends in a step that lacks the part, so files have no values there.
    made = made_by(done.results)[30]
    raw = [read(done.results / f"raw-{c:04}.h5", "t")["t"][2:] for c in (0, 10, 20, 30)]
    expected = twin(raw)
    for name in ("mean", "variance", "count"):
        assert made[f"s_t_{name}"][2:].tobytes() == expected[name].tobytes()
    assert np.isnan(made["s_t_mean"][:2]).all()


@pytest.mark.test_all
@pytest.mark.filterwarnings("ignore:All-NaN slice")
def test_values_that_are_missing(tmp_path):
    """NaN in a derived variable: in the result, or left out. An iteration without a variable does not count."""
    for skip in (False, True):
        tasks = f"""\
derived: {{d: "sqrt(t)"}}
analyses:
  - time_statistics: {{variables: [d], {ALL}, window: 4, nan: {"skip" if skip else "propagate"}, makes: s}}
  - time_statistics: {{variables: [p], statistics: [count], window: 4, makes: less}}
outputs:
  - hdf5: {{variables: [d], file: "raw-{{cycle:04}}.h5"}}
  - hdf5: {{variables: [{", ".join(f"s_d_{s}" for s in [*STATISTICS, *QUANTILES])}], file: "made-{{cycle:04}}.h5"}}
  - hdf5: {{variables: [less_p_count], file: "less-{{cycle:04}}.h5"}}
"""
        done = run(tmp_path / str(skip), 2, "inline", tasks=tasks, options=["steps=4", "grid=6", "without_p_at=1"])
        assert done.status == 0, done.text
        raw = [read(done.results / f"raw-{c:04}.h5", "d")["d"] for c in (0, 10, 20, 30)]
        assert np.isnan(raw[0]).any() and not np.isnan(raw[0]).all()
        with np.errstate(all="ignore"):
            expected = twin(raw, skip=skip)
        made = read(done.results / "made-0030.h5", [f"s_d_{s}" for s in expected])
        for name, values in expected.items():
            np.testing.assert_allclose(made[f"s_d_{name}"], values, rtol=1e-14, atol=1e-15, err_msg=name)
        assert set(np.unique(read(done.results / "less-0030.h5", ["less_p_count"])["less_p_count"])) == {3}


def test_other_outputs(tmp_path):
    """VTK's reader, a database and analyses of the result see the same values; also a mean of a resampled field."""
    tasks = """\
analyses:
  - time_statistics: {variables: [t], window: 2 cycles, every: 1, makes: never}
  - time_statistics: {variables: [t], window: 2, makes: s}
  - statistics: {variable: s_t_mean, file: of-mean.csv}
  - slice: {variable: s_t_mean, axis: z, position: 0.5, file: "slice-{cycle:04}.vtp"}
  - resample: {variables: [t], size: [4, 4, 4], makes: coarse}
  - time_statistics: {variables: [coarse_t], window: 2, makes: c}
outputs:
  - hdf5: {variables: [s_t_mean], file: "made-{cycle:04}.h5"}
  - vtk: {variables: [s_t_mean], file: "made-{cycle:04}.pvti"}
  - database: {variables: [s_t_mean], kind: post, directory: kept}
  - hdf5: {variables: [c_coarse_t_mean], file: "coarse-{cycle:04}.h5"}
"""
    done = run(tmp_path, 3, "inline", tasks=tasks, options=["steps=4", "grid=8", "blocks=2"])
    assert done.status == 0, done.text
    means = {c: read(done.results / f"made-{c:04}.h5", ["s_t_mean"])["s_t_mean"] for c in (10, 30)}
    for cycle, mean in means.items():
        reader = vtkXMLPImageDataReader()
        reader.SetFileName(str(done.results / f"made-{cycle:04}.pvti"))
        reader.Update()
        values = vtk_to_numpy(reader.GetOutput().GetCellData().GetArray("s_t_mean"))
        assert values.reshape(mean.shape).tobytes() == mean.tobytes()
        assert (done.results / f"slice-{cycle:04}.vtp").exists()
    kept = sidestream.open(done.results / "kept")
    assert kept["s_t_mean"].values.tobytes() == np.stack(list(means.values())).tobytes()
    rows = sidestream.open(done.results / "of-mean.csv")
    np.testing.assert_allclose(rows["mean"], [m.mean() for m in means.values()], rtol=1e-13)
    coarse = read(done.results / "coarse-0030.h5", ["c_coarse_t_mean"])["c_coarse_t_mean"]
    assert coarse.shape == (4, 4, 4)
    entries = json.loads((done.results / "coarse.h5.series").read_text())["files"]
    assert [entry["cycle"] for entry in entries] == [10, 30]


def by_block(path, name):
    """Values by block of a mesh of lists, otherwise all of them."""
    with h5py.File(path) as file:
        array = file[f"variables/{name}"]
        if "blocks" not in array.attrs:
            return {0: array[...]}
        ends = np.cumsum(array.attrs["lengths"])
        return dict(zip(array.attrs["blocks"].tolist(), np.split(array[...], ends[:-1]), strict=True))


@pytest.mark.parametrize("kind", few(list(DECLARATIONS), keep=1))
def test_kinds_of_meshes(tmp_path, kind):
    """Statistics lie on a copy of the mesh, with its coordinates, cells, levels and flags."""
    path = configure_kind(tmp_path, kind, "{mode: nodes, servers: 2, buffer: 4 MiB}", 0)
    text = path.read_text()
    variable = "n" if kind == "points" else "t"
    made = f"  - time_statistics: {{variables: [{variable}], statistics: [mean, count], window: 2, makes: s}}\n"
    text = text.replace("analyses:\n", f"analyses:\n{made}")
    raw_file = f"hdf5: {{variables: [{variable}], file: 'raw-{{index}}.h5'}}"
    made_file = f"hdf5: {{variables: [s_{variable}_mean, s_{variable}_count], file: 'made-{{index}}.h5'}}"
    path.write_text(text.replace("outputs: [", f"outputs: [{raw_file}, {made_file}, "))
    results = simulate(tmp_path, path, kind, 5, 0, 0)
    for end in (1, 3):
        mean, count = (by_block(results / f"made-{end}.h5", f"s_{variable}_{s}") for s in ("mean", "count"))
        raw = [by_block(results / f"raw-{index}.h5", variable) for index in (end - 1, end)]
        assert set(mean) == set(raw[1])
        for block, values in raw[1].items():
            stays = block in raw[0] and raw[0][block].shape == values.shape  # a list of another length begins anew
            expected = twin([raw[0][block], values] if stays else [values])
            assert mean[block].tobytes() == expected["mean"].tobytes()
            assert count[block].tobytes() == expected["count"].tobytes()


REFUSED = {
    "{variables: [t, t], window: 3, makes: s}": "found 't', which is named twice",
    "{variables: [t], window: 3}": "without 'makes', expected the name of the mesh",
    "{variables: [t], window: 3, makes: other}": "the name of a declared mesh",
    "{variables: [t], window: 3 days, makes: s}": "found '3 days' for 'window'",
    "{variables: [t], window: 2.5, makes: s}": "found '2.5' for 'window'",
    "{variables: [t], window: 3, every: 5, makes: s}": "expected one that is at least as long",
    "{variables: [t], window: 3, quantiles: [0.5], weight: time, makes: s}": "they have no weights",
    "{variables: [t], window: 3, statistics: [average], makes: s}": "average",
    "{variables: [t], window: 3, quantiles: [1.5], makes: s}": "1.5",
    "{variables: [t], window: 3, makes: s}\nplacement: {mode: nodes, forward: partials}": "needs blocks on the servers",
}


@pytest.mark.parametrize("entry", few(list(REFUSED), kept=[*list(REFUSED)[:3], list(REFUSED)[-1]]))
def test_refused(tmp_path, entry):
    path = tmp_path / "run.yaml"
    path.write_text(
        "meshes: {grid: {size: [4, 4, 4]}, other: {size: [4, 4, 4]}}\nvariables: {t: {mesh: grid}}\nanalyses:\n"
        f"  - time_statistics: {entry}\n"
    )
    done = subprocess.run([TOOL, "check", str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert REFUSED[entry] in done.stdout + done.stderr
    assert "run.yaml:4" in done.stdout + done.stderr


@pytest.mark.test_all
def test_too_much_memory(tmp_path):
    """Nothing of an iteration counts on any server if one has no room."""
    tasks = tasks_for("quantiles: [0.5], window: 4, memory: 20 KiB")
    done = run(tmp_path, 2, "inline", tasks=tasks, options=["steps=4", "grid=8"])
    assert "expected at most 20480 (`memory`)" in done.text
    assert all(account["failed"] > 0 for account in done.accounts)
