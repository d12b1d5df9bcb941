"""Runs one after the other in one job. Each has its own ranks, output, status and time limit."""

import pytest
from launched import JOBS
from support import run

TASKS = "analyses:\n  - statistics: {variable: t}\n"
NODES = "{mode: nodes, buffer: 32 MiB, servers: 2}"


def jobs():
    return [job.process.pid for job in JOBS.values()]


def check(done, clients):
    assert done.status == 0, done.text
    assert [account["rank"] for account in done.accounts] == list(range(clients)), done.text


def test_runs_of_different_ranks_share_a_job(tmp_path):
    check(run(tmp_path / "one", 1, "inline", TASKS), 1)
    before = jobs()
    check(run(tmp_path / "nodes", 5, NODES, TASKS), 3)
    failed = run(tmp_path / "mistake", 2, "inline", "analyses: [statistics: {variable: tt}]\n")
    assert failed.status == 1 and len(failed.errors) == 2, failed.text
    check(run(tmp_path / "more", 3, "cores", TASKS), 2)
    assert jobs() == before
    assert len((tmp_path / "nodes" / "results" / "statistics.csv").read_text().splitlines()) == 1 + 3


def test_more_ranks_than_before(tmp_path):
    check(run(tmp_path / "one", 1, "inline", TASKS), 1)
    check(run(tmp_path / "many", 10, "{mode: cores, buffer: 32 MiB, per_node: 2}", TASKS), 8)
    check(run(tmp_path / "again", 1, "inline", TASKS), 1)


def test_a_rank_that_dies_ends_its_own_run_only(tmp_path):
    died = run(tmp_path / "died", 2, "inline", TASKS, ["die_at=1"])
    assert died.status != 0 and len(died.accounts) < 2, died.text
    check(run(tmp_path / "next", 2, "inline", TASKS), 2)


@pytest.mark.test_all
def test_a_run_that_does_not_end_is_named(tmp_path):
    tasks = f"analyses:\n  - await: {{variable: t, at: 0, path: {tmp_path}/never}}\n"
    with pytest.raises(AssertionError, match=f"not done after 2 s: .*{tmp_path}/stuck/run.yaml"):
        run(tmp_path / "stuck", 3, "{mode: cores, buffer: 32 MiB}", tasks, timeout=2)
    check(run(tmp_path / "next", 3, "{mode: cores, buffer: 32 MiB}", TASKS), 2)


@pytest.mark.test_all
def test_a_job_that_ends_between_runs_is_named(tmp_path):
    check(run(tmp_path / "one", 1, "inline", TASKS), 1)
    for job in list(JOBS.values()):
        job.process.terminate()
        job.process.wait(20)
    with pytest.raises(AssertionError, match=r"ended with status .* after all of its runs"):
        run(tmp_path / "next", 1, "inline", TASKS)
    check(run(tmp_path / "again", 1, "inline", TASKS), 1)
