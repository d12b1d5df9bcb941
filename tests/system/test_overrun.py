"""Promise 3: servers are slower than the simulation, or the buffer is small."""

import pytest
from support import run

SLOW = """\
analyses:
  - sleep: {variable: t, seconds: 0.1}
  - statistics: {variable: t}
"""

# One iteration of mesh 20: 64000 bytes of t, 21^2 * 22 (two blocks) * 8 bytes of p.
SMALL = "400 KiB"


def rows(done):
    text = (done.results / "statistics.csv").read_text().splitlines()
    return {int(line.split(",")[0]) for line in text[1:]}


def dedicated(placement):
    return 0 if "inline" in placement else 1


@pytest.mark.keep(1)
@pytest.mark.parametrize("mode", ["mode: cores", "mode: nodes, servers: 1"])
def test_wait_delivers_everything(tmp_path, mode):
    done = run(tmp_path, 3, f"{{{mode}, buffer: {SMALL}, when_full: wait}}", tasks=SLOW, options=["steps=12"])
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == 12
        assert account["refused"] == account["unknown"] == 0
    assert rows(done) == set(range(12))


@pytest.mark.keep(1)
@pytest.mark.parametrize("mode", ["mode: cores", "mode: nodes, servers: 1"])
@pytest.mark.parametrize("limit", ["buffer: 400 KiB", "buffer: 64 MiB, max_in_flight: 2"])
def test_skip_drops_whole_iterations_and_says_which(tmp_path, mode, limit):
    done = run(
        tmp_path,
        4 if "cores" in mode else 3,
        f"{{{mode}, {limit}, when_full: skip}}",
        tasks=SLOW,
        options=["steps=30", "pause_ms=5"],
    )
    assert done.status == 0, done.text
    first = done.accounts[0]
    assert first["iterations"] == 30
    assert first["refused"] > 0, "the server was meant to be too slow"
    assert first["delivered"] > 0
    for account in done.accounts:
        assert account["delivered"] + account["refused"] == 30
        assert account["unknown"] == 0
        # An iteration is delivered whole or not at all, and all clients are told the same.
        assert account["delivered"] == first["delivered"]
    assert len(rows(done)) == first["delivered"]
    statistics = (done.results / "statistics.csv").read_text().splitlines()
    column = statistics[0].split(",").index("count")
    assert {line.split(",")[column] for line in statistics[1:]} == {"8000"}


@pytest.mark.keep(1)
@pytest.mark.parametrize("mode", ["inline", "mode: cores", "mode: nodes, servers: 1"])
def test_a_buffer_smaller_than_one_iteration_is_an_error_everywhere(tmp_path, mode):
    placement = f"{{{mode if ':' in mode else 'mode: ' + mode}, buffer: 100 KiB}}"
    done = run(tmp_path, 3, placement, tasks=SLOW)
    assert done.status != 0
    assert len(done.errors) == 3, done.text
    assert len(set(done.errors)) == 1, "all ranks must say the same"
    assert "placement.buffer" in done.errors[0] and "raise" in done.errors[0]


@pytest.mark.keep(1)
@pytest.mark.parametrize("mode", ["cores", "nodes, servers: 1"])
def test_max_in_flight_one(tmp_path, mode):
    done = run(tmp_path, 3, f"{{mode: {mode}, max_in_flight: 1}}", tasks=SLOW, options=["steps=5"])
    assert done.status == 0, done.text
    assert all(account["delivered"] == 5 for account in done.accounts)


@pytest.mark.test_all
def test_auto_thins_an_analysis_that_lags_and_says_so(tmp_path):
    tasks = """\
analyses:
  - sleep: {variable: t, seconds: 0.08}
  - statistics: {variable: t, every: auto}
  - histogram: {variable: t, bins: 3}
"""
    done = run(tmp_path, 2, "{mode: cores, buffer: 32 MiB}", tasks=tasks, options=["steps=20", "pause_ms=10"])
    assert done.status == 0, done.text
    assert 0 < len(rows(done)) < 20
    assert "statistics: left out in" in done.text
    histogram = (done.results / "histogram.csv").read_text().splitlines()
    assert len({line.split(",")[0] for line in histogram[1:]}) == 20


def test_skip_far_ahead_of_a_server_that_is_given_up(tmp_path):
    """Hundreds of refused iterations wait on the client when it gives up. Nothing may get stuck behind them."""
    tasks = "analyses:\n  - sleep: {variable: t, seconds: 2}\n"
    done = run(
        tmp_path,
        2,
        "{mode: cores, buffer: 32 MiB, when_full: skip, max_in_flight: 2}",
        tasks=tasks,
        options=["steps=400"],
        extra="drain_limit: 1\n",
    )
    assert done.status == 0, done.text
    account = done.accounts[0]
    assert account["refused"] > 300
    assert account["delivered"] + account["refused"] + account["unknown"] == 400


def test_drain_limit_ends_a_hopeless_wait(tmp_path):
    tasks = "analyses:\n  - sleep: {variable: t, seconds: 2}\n"
    done = run(
        tmp_path,
        2,
        "{mode: cores, buffer: 64 MiB}",
        tasks=tasks,
        options=["steps=8"],
        extra="drain_limit: 1\n",
    )
    assert done.status == 0, done.text
    account = done.accounts[0]
    # Iterations were dropped: to run all eight for two seconds would take longer than the limit and the running
    # analysis.
    assert account["refused"] >= 4
    assert account["delivered"] + account["refused"] + account["unknown"] == 8
