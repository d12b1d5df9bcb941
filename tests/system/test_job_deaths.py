"""Placement `job`: endpoints and simulations that die, are stopped, leave, are replaced."""

import os
import random
import signal
import time

import pytest
from job_support import (
    ENGINES,
    STATISTICS,
    TABLES,
    endpoint,
    finished,
    send,
    simulation,
    some_results,
    tables_of,
    wait_for,
    write_configuration,
)
from support import STOPPED, results_of, run


@pytest.fixture(scope="module")
def long_reference(tmp_path_factory):
    done = run(tmp_path_factory.mktemp("long"), 1, "inline", tasks=TABLES, options=["steps=60"])
    assert done.status == 0, done.text
    return results_of(done)


def run_with_kills(folder, engine, kills, seed, single=False):
    """Endpoints that are killed at random moments and replaced, until the simulation ends."""
    rng = random.Random(seed)
    write_configuration(folder, f"engine: {engine}, reader_limit: 60", tasks=TABLES)
    killed = 0
    with simulation(folder, 2, ["steps=60", "pause_ms=40", "blocks=2"]) as job:
        while job.running.poll() is None:
            with endpoint(folder, 1 if single else 2, ["--wait", "3"]) as reader:
                if killed < kills:
                    time.sleep(rng.uniform(0.2, 2.0))
                    ranks = reader.ranks()
                    if ranks:
                        send(rng.choice(ranks), signal.SIGKILL)
                        killed += 1
                    reader.finish(30)
                else:
                    reader.finish(100)
        done = finished(folder, job)
    return done, killed


@pytest.mark.parametrize("engine", ENGINES)
def test_killed_endpoints_are_replaced_and_nothing_is_lost(tmp_path, long_reference, engine):
    kills = int(os.environ.get("SIDESTREAM_KILLS", "5"))
    done, killed = run_with_kills(tmp_path, engine, kills, seed=kills)
    assert killed > 0
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] == 60, done.text
        assert account["refused"] == account["unknown"] == 0
    files = tables_of(done)
    for name, content in long_reference.items():
        assert files[name] == content, f"{name} differs after {killed} kills\n{done.text}"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("when_full", ["wait", "skip"])
def test_an_endpoint_that_dies_and_is_not_replaced(tmp_path, engine, when_full):
    write_configuration(tmp_path, f"engine: {engine}, reader_limit: 2, when_full: {when_full}", tasks=STATISTICS)
    with endpoint(tmp_path, 2) as reader, simulation(tmp_path, 2, ["steps=40", "pause_ms=50"]) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        send(reader.ranks()[0], signal.SIGKILL)
        done = finished(tmp_path, job)
        reader.finish()
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] > 0 and account["refused"] > 0, done.text
        assert account["delivered"] + account["refused"] == 40
    assert done.text.count("iterations are refused until another") == 2, done.text
    # Iterations count as delivered if they were acknowledged; a result that was written just before death may be more.
    rows = len(tables_of(done)["statistics.csv"].decode().splitlines()) - 1
    assert 0 <= rows - done.accounts[0]["delivered"] <= 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("when_full", ["wait", "skip"])
def test_an_endpoint_that_is_stopped_for_a_while(tmp_path, engine, when_full):
    write_configuration(
        tmp_path,
        f"engine: {engine}",
        placement=f"when_full: {when_full}, max_in_flight: 3,",
        tasks=STATISTICS,
    )
    with endpoint(tmp_path, 2) as reader, simulation(tmp_path, 2, ["steps=100", "pause_ms=50"]) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        stopped = reader.ranks()
        reader.signal_ranks(signal.SIGSTOP)
        time.sleep(STOPPED)
        for pid in stopped:
            send(pid, signal.SIGCONT)
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert done.status == 0, done.text
    assert status == 0, text
    rows = len(tables_of(done)["statistics.csv"].decode().splitlines()) - 1
    for account in done.accounts:
        assert account["delivered"] == rows, done.text
        assert account["delivered"] + account["refused"] == 100
        assert (account["refused"] == 0) == (when_full == "wait"), done.text


def test_a_reader_that_was_given_up_comes_back(tmp_path):
    """Stopped for longer than the limit: its iterations go nowhere, then it reads on."""
    write_configuration(tmp_path, "engine: files, reader_limit: 1.5, when_full: skip", tasks=STATISTICS)
    with endpoint(tmp_path, 2) as reader, simulation(tmp_path, 2, ["steps=120", "pause_ms=50"]) as job:
        wait_for(lambda: some_results(tmp_path), "the first results")
        reader.signal_ranks(signal.SIGSTOP)
        time.sleep(3)
        reader.signal_ranks(signal.SIGCONT)
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert done.status == 0 and status == 0, done.text + text
    assert "gave this endpoint up" in text
    account = done.accounts[0]
    assert account["refused"] > 0 and account["delivered"] > account["refused"] // 4, done.text
    rows = [int(line.split(",")[0]) for line in tables_of(done)["statistics.csv"].decode().splitlines()[1:]]
    assert rows[-1] == 119


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
