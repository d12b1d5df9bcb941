"""Placement `job`: endpoints and simulations die, are stopped, leave, or are replaced."""

import csv
import os
import random
import re
import signal
import time

import pytest
from job_support import (
    ENGINES,
    STATISTICS,
    TABLES,
    endpoint,
    finished,
    going_on,
    serve_with_kills,
    simulation,
    some_results,
    tables_of,
    write_configuration,
)
from support import STOPPED, results_of, run, send, wait_for


@pytest.fixture(scope="module")
def long_reference(tmp_path_factory):
    done = run(tmp_path_factory.mktemp("long"), 1, "inline", tasks=TABLES, options=["steps=60"])
    assert done.status == 0, done.text
    return results_of(done)


def connections(folder):
    return {path.name for path in folder.glob("streams/stream/sst-connected-*")}


def run_with_kills(folder, engine, kills, seed, single=False):
    """Endpoints are killed at random moments and replaced, until the simulation ends.

    With the engine `sst` they are not killed while they connect. ADIOS2's writers wait without a limit for a reader
    that dies then (docs/fault-model.md).
    """
    rng = random.Random(seed)
    write_configuration(folder, f"engine: {engine}, reader_limit: 60", tasks=TABLES)
    known = set()

    def connected(reader):
        if engine == "sst":
            wait_for(lambda: connections(folder) - known or reader.running.poll() is not None, "SST")
            known.update(connections(folder))

    with simulation(folder, 2, ["steps=60", "pause_ms=40", "blocks=2"]) as job:
        killed = serve_with_kills(folder, job, 1 if single else 2, kills, rng, connected)
        done = finished(folder, job)
    return done, killed


@pytest.mark.keep(1)
@pytest.mark.parametrize("engine", ENGINES)
def test_killed_endpoints_are_replaced_and_nothing_is_lost(tmp_path, long_reference, engine):
    kills = int(os.environ.get("SIDESTREAM_KILLS", "5" if os.environ.get("SIDESTREAM_TEST_ALL") == "1" else "2"))
    done, killed = run_with_kills(tmp_path, engine, kills, seed=kills)
    assert killed > 0
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] == 60, done.text
        assert account["refused"] == account["unknown"] == 0
    files = tables_of(done)
    for name, content in long_reference.items():
        assert files[name] == content, f"{name} differs after {killed} kills\n{done.text}"


@pytest.mark.test_all
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("when_full", ["wait", "skip"])
def test_an_endpoint_that_dies_and_is_not_replaced(tmp_path, engine, when_full):
    write_configuration(tmp_path, f"engine: {engine}, reader_limit: 5, when_full: {when_full}", tasks=STATISTICS)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        send(reader.ranks()[0], signal.SIGKILL)
        reader.finish()
        wait_for(lambda: list((tmp_path / "streams/stream").glob("gone-*")), "the simulation to see the death")
        time.sleep(1)
        job.end()
        done = finished(tmp_path, job)
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] > 0 and account["refused"] > 0, done.text
        assert account["delivered"] + account["refused"] == account["iterations"]
    # The message comes once at the beginning. If several iterations were lost, it comes once more at the end, with the
    # number.
    assert 1 <= done.text.count("iterations are refused until another") <= 2, done.text
    # Iterations count as delivered if they were acknowledged. A result that was written just before the death may be
    # one more.
    rows = len(tables_of(done)["statistics.csv"].decode().splitlines()) - 1
    assert 0 <= rows - done.accounts[0]["delivered"] <= 1


@pytest.mark.test_all
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("when_full", ["wait", "skip"])
def test_an_endpoint_that_is_stopped_for_a_while(tmp_path, engine, when_full):
    write_configuration(
        tmp_path,
        f"engine: {engine}",
        placement=f"when_full: {when_full}, max_in_flight: 3,",
        tasks=STATISTICS,
    )
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        stopped = reader.ranks()
        reader.signal_ranks(signal.SIGSTOP)
        time.sleep(STOPPED)
        for pid in stopped:
            send(pid, signal.SIGCONT)
        more = some_results(tmp_path) + 3
        wait_for(lambda: some_results(tmp_path) > more, "more results")
        job.end()
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert done.status == 0, done.text
    assert status == 0, text
    rows = len(tables_of(done)["statistics.csv"].decode().splitlines()) - 1
    for account in done.accounts:
        assert account["delivered"] == rows, done.text
        assert account["delivered"] + account["refused"] == account["iterations"]
        assert (account["refused"] == 0) == (when_full == "wait"), done.text


def go_on_after_giving_up(folder, stopped, reader, job):
    """Lets a stopped endpoint go on when the simulation has given it up. Both end when it has done more."""
    wait_for(lambda: list((folder / "streams/stream").glob("gone-*")), "the simulation to give it up")
    before = some_results(folder)
    for pid in stopped:
        send(pid, signal.SIGCONT)
    wait_for(lambda: some_results(folder) > before + 3, "more results")
    job.end()
    done = finished(folder, job)
    status, text = reader.finish()
    assert done.status == 0 and status == 0, done.text + text
    assert "gave this endpoint up" in text
    return done, text


@pytest.mark.test_all
def test_a_reader_that_was_given_up_comes_back(tmp_path):
    """An endpoint is stopped for longer than the limit. Iterations are lost meanwhile, then it reads on."""
    write_configuration(tmp_path, "engine: files, reader_limit: 3, when_full: skip", tasks=STATISTICS)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        stopped = reader.ranks()
        reader.signal_ranks(signal.SIGSTOP)
        done, _ = go_on_after_giving_up(tmp_path, stopped, reader, job)
    account = done.accounts[0]
    assert account["refused"] > 0 and account["delivered"] > 0, done.text
    rows = [int(line.split(",")[0]) for line in tables_of(done)["statistics.csv"].decode().splitlines()[1:]]
    assert rows == sorted(set(rows)) and rows[-1] == account["iterations"] - 1, done.text
    # An iteration in which it was stopped counts as refused, and is finished when it goes on. If it answered just when
    # it was given up, the answer counts, and no message tells that the iteration was not taken.
    with (done.results / "iterations.csv").open(newline="") as table:
        lost = [int(row["iteration"]) for row in csv.DictReader(table) if "no endpoint took it" in row["reason"]]
    lost = [number for number in lost if number > rows[0]]  # without those from before the endpoint had started
    said = [int(number) for number in re.findall(r"iteration (\d+): stream: the endpoint that read", done.text)]
    assert said == lost[:1], done.text
    assert len(rows) - len(set(lost) & set(rows)) == account["delivered"], done.text


def stop_in_a_step(folder, reader):
    """Stops the endpoint while it works on a step, as far as that can be seen from outside."""
    steps = folder / "streams/stream"
    for _ in range(1000):
        wait_for(lambda: list(steps.glob("step-*")), "a step")
        reader.signal_ranks(signal.SIGSTOP)
        if list(steps.glob("step-*")):
            return
        reader.signal_ranks(signal.SIGCONT)
    raise AssertionError("there was no step when the endpoint had been stopped")


@pytest.mark.test_all
@pytest.mark.parametrize("engine", ENGINES)
def test_a_reader_that_was_given_up_in_a_step_says_what_became_of_it(tmp_path, engine):
    """The simulation keeps the step for the next endpoint. This is the same one, which must not do the step again."""
    # Work enough that an endpoint is inside a step most of the time.
    tasks = TABLES + '  - isosurface: {variable: t, values: [0.2, 0.5, 0.8], file: "surface-{index:05}.vtp"}\n'
    write_configuration(tmp_path, f"engine: {engine}, reader_limit: 5, when_full: wait", tasks=tasks)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2, ["grid=60"], pause_ms=0) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        stopped = reader.ranks()
        stop_in_a_step(tmp_path, reader)
        done, text = go_on_after_giving_up(tmp_path, stopped, reader, job)
    for account in done.accounts:
        assert account["delivered"] == account["iterations"], done.text + text
    rows = [int(line.split(",")[0]) for line in tables_of(done)["statistics.csv"].decode().splitlines()[1:]]
    assert rows == list(range(done.accounts[0]["iterations"]))


@pytest.mark.test_all
@pytest.mark.parametrize("engine", ENGINES)
def test_a_simulation_that_dies_ends_the_endpoint(tmp_path, engine):
    write_configuration(tmp_path, f"engine: {engine}", tasks=STATISTICS)
    with endpoint(tmp_path, 2) as reader, simulation(tmp_path, 2, ["steps=50", "pause_ms=40", "die_at=20"]) as job:
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert done.status != 0
    assert status == 1 and "died" in text, text
    rows = tables_of(done)["statistics.csv"].decode().splitlines()
    assert all(line.count(",") == rows[0].count(",") for line in rows) and len(rows) > 5


@pytest.mark.test_all
def test_a_simulation_that_dies_before_it_writes_ends_the_endpoint(tmp_path):
    """The simulation has started, but the stream would appear only with the first iteration."""
    write_configuration(tmp_path, "engine: files", tasks=STATISTICS)
    with endpoint(tmp_path, 2, ["--wait", "100"]) as reader:
        reader.wait_for_text("waiting for the stream")
        with simulation(tmp_path, 2, ["steps=1", "die_at=0"]) as job:
            assert finished(tmp_path, job).status != 0
        status, text = reader.finish(30)
    assert status == 1 and "has ended before it started to write" in text, text


@pytest.mark.test_all
def test_an_endpoint_that_is_told_to_leave_before_there_is_a_stream(tmp_path):
    write_configuration(tmp_path, "engine: files", tasks=STATISTICS)
    with endpoint(tmp_path, 2, ["--wait", "100"]) as reader:
        reader.wait_for_text("waiting for the stream")
        reader.signal_ranks(signal.SIGUSR1)
        status, text = reader.finish(30)
    assert status == 1 and "was told to leave while it waited for the stream" in text, text


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("histogram: {variable: t, binz: 3}", "found the unknown option 'binz' of the analysis 'histogram'"),
        ("histogramm: {variable: t}", "did you mean 'histogram'?"),
        ("render: {slice: {variable: t, axes: z}, file: a.png}", "found the unknown option 'axes' of 'slice'"),
    ],
)
def test_an_endpoint_with_a_misspelt_name_does_not_wait_for_the_simulation(tmp_path, entry, sentence):
    write_configuration(tmp_path, "engine: files", tasks=f"analyses:\n  - {entry}\n")
    with endpoint(tmp_path, 2, ["--wait", "300"]) as reader:
        status, text = reader.finish(100)
    assert status == 1 and sentence in text and "run.yaml:" in text, text
    assert "waiting for the stream" not in text, text


@pytest.mark.test_all
def test_sigterm_lets_an_endpoint_leave_and_another_go_on(tmp_path, long_reference):
    write_configuration(tmp_path, "engine: files", tasks=TABLES)
    with endpoint(tmp_path, 2) as first, simulation(tmp_path, 2, ["steps=60", "pause_ms=50"]) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        first.signal_ranks(signal.SIGUSR1)
        status, text = first.finish(30)
        assert status == 0, text
        with endpoint(tmp_path, 1) as second:
            done = finished(tmp_path, job)
            assert second.finish()[0] == 0
    assert all(account["delivered"] == 60 for account in done.accounts), done.text
    files = tables_of(done)
    for name, content in long_reference.items():
        assert files[name] == content, f"{name} differs"
