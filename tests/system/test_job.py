"""Placement `job`: analyses run in another MPI job. test_job_deaths.py tests deaths."""

import csv
import subprocess
import time

import pytest
from job_support import (
    ENGINES,
    STATISTICS,
    TOOL,
    both,
    endpoint,
    finished,
    going_on,
    simulation,
    some_results,
    tables_of,
    write_configuration,
)
from pairs import few
from support import MPIRUN, VARIABLES, check_delivered, needs_small_disks, results_of, run, small_disk, wait_for
from test_in_transit import expected, field, slabs

STEPS = 2


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One client, one block, inline."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    return results_of(done)


def check(done, clients, reference):
    files = {name: content for name, content in results_of(done).items() if not name.startswith("endpoint-")}
    check_delivered(done, clients, STEPS, files, reference)


def test_engines_are_said():
    if "sst" not in ENGINES:
        pytest.skip("this build has no ADIOS2: the engine sst is NOT TESTED")


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("clients", "endpoints", "engine"),
    few([(5, 3), (1, 3), (2, 2), (3, 1), (8, 2), (1, 1)], ENGINES, keep=2 * len(ENGINES)),
)
def test_results_are_those_of_inline(tmp_path, reference, engine, clients, endpoints):
    placement = "per_node: 2," if clients == 5 else ""
    done = both(
        tmp_path,
        clients,
        endpoints,
        [f"steps={STEPS}", f"blocks={3 if clients < 5 else 1}", "ghosts=1"],
        stream=f"engine: {engine}",
        placement=placement,
    )
    check(done, clients, reference)


@pytest.mark.parametrize("engine", few(ENGINES))
def test_empty_blocks_and_a_client_without_any(tmp_path, reference, engine):
    options = [f"steps={STEPS}", "empty=1", "blocks=12"]
    check(both(tmp_path, 3, 2, options, stream=f"engine: {engine}"), 3, reference)


def test_outlines_of_blocks_without_any_values(tmp_path):
    tasks = "analyses:\n  - render: {patches: {mesh: grid}, size: [120, 90], file: 'outlines-{cycle:03}.png'}\n"
    options = [f"steps={STEPS}", "blocks=2"]
    here = run(tmp_path / "here", 3, "inline", tasks, options)
    assert here.status == 0, here.text
    there = tmp_path / "there"
    there.mkdir()
    done = both(there, 3, 2, options, stream="engine: files", tasks=tasks)
    assert done.status == 0, done.text
    for name in ("outlines-000.png", "outlines-010.png"):
        assert (done.results / name).read_bytes() == (here.results / name).read_bytes()


def test_ranges_measured_by_the_endpoint(tmp_path, reference):
    options = [f"steps={STEPS}", "blocks=3"]
    check(both(tmp_path, 2, 2, options, stream="engine: files, ranges: false"), 2, reference)


@pytest.mark.parametrize("engine", few(ENGINES))
def test_an_endpoint_feeds_an_endpoint(tmp_path, reference, engine):
    """The first endpoint computes nothing, and passes data on to the second one."""
    onward = f"outputs:\n  - stream: {{name: second, directory: {tmp_path}/streams}}\n"
    write_configuration(tmp_path, f"engine: {engine}", name="first.yaml", tasks=onward, results="first")
    write_configuration(tmp_path, "engine: files", name="run.yaml")
    with (
        simulation(tmp_path, 3, [f"steps={STEPS}", "blocks=2"], name="first.yaml") as job,
        endpoint(tmp_path, 2, name="first.yaml") as first,
        endpoint(tmp_path, 2, ["--stream", "second"]) as second,
    ):
        done = finished(tmp_path, job)
        for one in (first, second):
            status, text = one.finish()
            assert status == 0, text
    check(done, 3, reference)


@pytest.mark.test_all
def test_an_endpoint_does_not_pass_on_through_sst(tmp_path):
    onward = f"outputs:\n  - stream: {{name: second, directory: {tmp_path}/streams, engine: sst}}\n"
    write_configuration(tmp_path, "engine: files, when_full: skip", name="first.yaml", tasks=onward, results="first")
    with (
        going_on(tmp_path, 1, name="first.yaml") as job,
        endpoint(tmp_path, 1, name="first.yaml") as first,
    ):
        status, text = first.finish()
        job.end()
        job.finish()
        assert status == 1
        assert "expected 'files'" in text


@pytest.mark.test_all
def test_a_stream_that_is_in_use_is_left_alone(tmp_path):
    write_configuration(tmp_path, "engine: files", name="one.yaml", tasks=STATISTICS, results="one")
    write_configuration(tmp_path, "engine: files, when_full: skip", name="two.yaml", tasks=STATISTICS, results="two")
    with (
        going_on(tmp_path, 1, name="one.yaml") as first,
        endpoint(tmp_path, 1, name="one.yaml") as reader,
    ):
        wait_for(lambda: some_results(tmp_path, "one"), "the first results")
        with simulation(tmp_path, 1, ["steps=2"], name="two.yaml") as second:
            _, text = second.finish()
            assert "another simulation" in text
            assert "delivered=0" in text
        first.end()
        done = finished(tmp_path, first)
        account = done.accounts[0]
        assert account["delivered"] == account["iterations"], done.text
        assert reader.finish()[0] == 0


def test_a_stream_as_an_output_of_inline(tmp_path, reference):
    write_configuration(tmp_path)
    onward = f"outputs:\n  - stream: {{name: stream, directory: {tmp_path}/streams, engine: files}}\n"
    (tmp_path / "sender.yaml").write_text(
        f"placement: inline\n{VARIABLES}{onward}output: {{directory: {tmp_path}/sender}}\n"
    )
    with (
        simulation(tmp_path, 3, [f"steps={STEPS}"], forwarders=0, name="sender.yaml") as job,
        endpoint(tmp_path, 2) as reader,
    ):
        done = finished(tmp_path, job)
        status, text = reader.finish()
        assert status == 0, text
    check(done, 3, reference)


@pytest.mark.parametrize(("endpoints", "engine"), few([2, 1], ENGINES))
def test_only_needed_blocks_are_read(tmp_path, engine, endpoints):
    """The endpoint's counters equal a count by brute force, for a slice and for values that lie in the ranges of few
    blocks."""
    n, clients, blocks, steps, values = 24, 3, 4, 3, [1.5, 1.6]
    order = slabs(clients, blocks, n)
    for number, task in enumerate(
        (
            "{slice: {variable: t, axis: z, position: 0.4}}",
            f"{{isosurface: {{variable: t, values: {values}, normals: false}}}}",
        )
    ):
        folder = tmp_path / str(number)
        options = [f"grid={n}", f"steps={steps}", f"blocks={blocks}", "ghosts=1"]
        tasks = f"analyses: [{task}]\n"
        done = both(folder, clients, endpoints, options, stream=f"engine: {engine}", tasks=tasks)
        assert done.status == 0, done.text
        with (done.results / "endpoint-movement.csv").open() as file:
            rows = list(csv.DictReader(file))
        for step in range(steps):
            t = field(n, 0.1 * step)
            cut = {i for i, _, lo, hi in order if (lo + 0.5) / n <= 0.4 <= (hi + 0.5) / n}
            bracket = {
                i
                for i, _, lo, hi in order
                if hi > lo and any(t[:, :, lo : hi + 1].min() < value <= t[:, :, lo : hi + 1].max() for value in values)
            }
            expect = expected(cut if number == 0 else bracket, order, endpoints, 1, n)
            found = [row for row in rows if int(row["iteration"]) == step]
            assert sum(int(row["bytes"]) for row in found) == sum(e[1] for e in expect), (task, step)
            if endpoints == 1:
                assert sum(int(row["layer_bytes"]) for row in found) == sum(e[2] for e in expect), (task, step)


def test_events_reach_the_endpoint(tmp_path):
    tasks = STATISTICS.replace("t}", "t, on: burst}")
    done = both(tmp_path, 2, 1, ["steps=6", "signal_at=4"], tasks=tasks)
    assert done.status == 0, done.text
    assert [line.split(",")[0] for line in tables_of(done)["statistics.csv"].decode().splitlines()[1:]] == ["4"]


def test_a_failure_in_the_endpoint_reaches_the_simulation(tmp_path):
    """The endpoint's results cannot be written, and the simulation's account tells it."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "statistics.csv").mkdir()
    done = both(tmp_path, 2, 1, ["steps=3"], tasks=STATISTICS)
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == account["failed"] == 3, done.text
    assert done.text.count("statistics.csv") == 2, "said at once, and how often at the end"


# ---- no reader, a late one


@pytest.mark.parametrize("when_full", few(["wait", "skip"]))
def test_no_endpoint_at_all(tmp_path, when_full):
    write_configuration(tmp_path, f"engine: files, reader_limit: 1, when_full: {when_full}", tasks=STATISTICS)
    with simulation(tmp_path, 2, ["steps=5"]) as job:
        done = finished(tmp_path, job)
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["refused"] == account["iterations"] == 5, done.text
    assert done.text.count("no endpoint reads the stream") == 2  # at once, and at the end with a number
    assert not list((tmp_path / "streams" / "stream").glob("*data*")), "nothing was written for nobody"


@pytest.mark.parametrize("engine", few(ENGINES))
def test_a_late_start_loses_nothing_under_wait(tmp_path, reference, engine):
    write_configuration(tmp_path, f"engine: {engine}")
    with simulation(tmp_path, 2, [f"steps={STEPS}"]) as job:
        wait_for((tmp_path / "streams/stream/stream.yaml").exists, "the stream")
        time.sleep(0.3)
        with endpoint(tmp_path, 2) as reader:
            done = finished(tmp_path, job)
            status, text = reader.finish()
            assert status == 0, text
    check(done, 2, reference)


@pytest.mark.parametrize("engine", few(ENGINES))
def test_a_late_start_under_skip_gets_the_rest(tmp_path, engine):
    write_configuration(tmp_path, f"engine: {engine}, when_full: skip", tasks=STATISTICS)
    with going_on(tmp_path, 2) as job:
        wait_for((tmp_path / "streams/stream/stream.yaml").exists, "the stream")
        with endpoint(tmp_path, 2) as reader:
            wait_for(lambda: some_results(tmp_path), "the first results")
            job.end()
            done = finished(tmp_path, job)
            status, text = reader.finish()
            assert status == 0, text
    assert done.status == 0, done.text
    account = done.accounts[0]
    assert account["refused"] > 0 and account["delivered"] > 0, done.text
    assert account["refused"] + account["delivered"] == account["iterations"]
    rows = [int(line.split(",")[0]) for line in tables_of(done)["statistics.csv"].decode().splitlines()[1:]]
    # Iterations keep the simulation's numbers.
    assert len(rows) == account["delivered"] and rows[-1] == account["iterations"] - 1 and rows[0] > 0


# ---- disks, versions, sessions


@needs_small_disks
@pytest.mark.parametrize("where", few(["results", "streams"]))
def test_a_full_disk(tmp_path, where):
    # The results grow until the disk is full. The stream's directory is too small even for one iteration.
    size = "700k" if where == "results" else "60k"
    with small_disk(tmp_path / where, size, in_use=True) as disk:
        tasks = STATISTICS + "outputs:\n  - hdf5: {variables: [t]}\n"
        write_configuration(tmp_path, "engine: files, reader_limit: 5", tasks=tasks)
        with simulation(tmp_path, 2, ["steps=20"]) as job, endpoint(tmp_path, 2) as reader:
            done = finished(tmp_path, job)
            status, text = reader.finish()
        left = [path.name for path in disk.rglob("*")]
    assert done.status == 0, done.text
    assert status == 0, text
    for account in done.accounts:
        assert account["iterations"] == 20 == account["delivered"] + account["refused"]
        assert account["failed"] > 0 if where == "results" else account["refused"] == 20, done.text
    assert "No space left on device" in done.text
    assert where == "results" or done.text.count("No space left") == 2, "said at once, and how often at the end"
    assert not [name for name in left if name.endswith(".part")], left


def test_a_stream_of_another_version_is_refused_by_name(tmp_path):
    write_configuration(tmp_path, tasks=STATISTICS)
    folder = tmp_path / "streams/stream"
    folder.mkdir(parents=True)
    (folder / "stream.yaml").write_text(
        "format: sidestream-stream\nversion: 99\nlayout: 00000000\nsidestream: 9.9\nsession: 1\nengine: files\n"
        "writers: 1\nstate: open\nlimit: 60\nprocess: x\n"
    )
    with endpoint(tmp_path, 2) as reader:
        status, text = reader.finish(30)
    assert status == 1
    assert "version 99" in text and "same version of Sidestream" in text
    assert text.count("sidestream endpoint:") == 1


@pytest.mark.test_all
def test_what_an_earlier_session_left_is_not_taken_for_this_one(tmp_path):
    write_configuration(tmp_path, "engine: files, reader_limit: 1, when_full: skip", tasks=STATISTICS)
    with simulation(tmp_path, 1, ["steps=2"]) as job:
        assert finished(tmp_path, job).status == 0
    # An ended stream is not read; the endpoint waits for the next.
    with endpoint(tmp_path, 1, ["--wait", "1"]) as reader:
        status, text = reader.finish(30)
    assert status == 1 and "no simulation has opened" in text
    folder = tmp_path / "streams/stream"
    (folder / "reader-7").write_text("format: sidestream-reader\nsession: 0000000000000001\nprocess: x\n")
    (folder / "step-0").write_text("of another session")
    done = both(tmp_path, 2, 1, ["steps=3"], tasks=STATISTICS, extra="", stream="engine: files", results="again")
    assert done.status == 0, done.text
    assert all(account["delivered"] == 3 for account in done.accounts)


@pytest.mark.test_all
def test_a_second_endpoint_does_not_disturb_the_first(tmp_path):
    write_configuration(tmp_path, "engine: files", tasks=STATISTICS)
    with endpoint(tmp_path, 1) as first, going_on(tmp_path, 2) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        with endpoint(tmp_path, 1, ["--wait", "0"]) as second:
            status, text = second.finish(30)
            assert status == 1 and "another endpoint reads" in text
        job.end()
        done = finished(tmp_path, job)
        assert first.finish()[0] == 0
    assert all(account["delivered"] == account["iterations"] for account in done.accounts), done.text


def test_engine_that_the_build_lacks(tmp_path):
    if "sst" in ENGINES:
        pytest.skip("this build has all engines")
    write_configuration(tmp_path, "engine: sst", tasks=STATISTICS)
    checked = subprocess.run(
        [TOOL, "check", str(tmp_path / "run.yaml"), "--set", "n=8", "h=1"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 1 and "ADIOS2" in checked.stderr


def test_the_command_needs_a_file():
    """The command says what is wrong with its arguments."""
    said = subprocess.run([MPIRUN, "-n", "1", TOOL, "endpoint"], capture_output=True, text=True, check=False)
    assert said.returncode != 0 and "FILE" in said.stdout + said.stderr


@pytest.mark.test_all
def test_an_endpoint_does_not_wait_for_a_simulation_that_fails_before_its_start(tmp_path):
    write_configuration(tmp_path, tasks=STATISTICS)
    write_configuration(tmp_path, tasks="analyses:\n  - statistics: {variable: nothing}\n", name="wrong.yaml")
    # Files of an earlier run do not matter for this one.
    with simulation(tmp_path, 1, name="wrong.yaml") as clients:
        assert clients.finish()[0] == 1
    with endpoint(tmp_path, options=["--wait", "100"]) as reader:
        said = reader.wait_for_text("waiting for the stream")
        with simulation(tmp_path, 1, name="wrong.yaml") as clients:
            assert clients.finish()[0] == 1
        status, text = reader.finish(timeout=30)
        assert status == 1
        assert (said + text).count("has ended before it started") == 1, said + text


def test_an_endpoint_says_how_it_ended(tmp_path):
    write_configuration(tmp_path, stream="engine: files", tasks=STATISTICS)
    with simulation(tmp_path, 2, ["steps=3"]) as clients, endpoint(tmp_path) as reader:
        assert clients.finish()[0] == 0
        status, text = reader.finish()
        assert status == 0, text
        assert f"read the stream '{tmp_path}/streams/stream': 3 iterations delivered, 0 failed, 0 refused" in text
        assert f"results are in {tmp_path}/results" in text


def test_iterations_that_no_endpoint_takes_are_refused_in_the_table_too(tmp_path):
    write_configuration(tmp_path, "engine: files, when_full: skip", tasks=STATISTICS)
    with simulation(tmp_path, 2, ["steps=4"]) as job:
        done = finished(tmp_path, job)
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["refused"] == 4 and account["delivered"] == 0, done.text
    rows = list(csv.DictReader((tmp_path / "results/iterations.csv").open()))
    assert [row["outcome"] for row in rows] == ["refused"] * 4
    assert all("no endpoint took it" in row["reason"] for row in rows), rows
    assert "refused: 4" in (tmp_path / "results/run.yaml").read_text()
