"""Placement `job` with groups of servers: the endpoint is divided, and each group reads a stream of its own."""

import csv
import os
import random
import signal
import time

import pytest
from job_support import (
    ENGINES,
    both,
    endpoint,
    finished,
    going_on,
    send,
    simulation,
    wait_for,
    write_configuration,
)
from support import ANALYSES, check_delivered, results_of, run
from test_groups import groups_text, in_groups

STEPS = 4
TASKS = ANALYSES + "  - histogram: {name: rare, variable: t, bins: 5, every: 2, file: rare.csv}\n"
TWO = "groups: {a: 1, b: 1},"
TABLES = """\
analyses:
  - statistics: {variable: t, group: a}
  - histogram: {variable: t, bins: 17, group: b}
"""


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One client, one block, inline."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", tasks=TASKS, options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    return results_of(done)


def results_without_records(done):
    return {name: content for name, content in results_of(done).items() if not name.startswith("endpoint-")}


def rows_of(done, table):
    with (done.results / table).open(newline="") as text:
        return list(csv.DictReader(text))


def rows_in(folder, table):
    """Rows of a table of results, 0 before it is there."""
    path = folder / "results" / table
    return max(len(path.read_text().splitlines()) - 1, 0) if path.exists() else 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("clients", "sizes"), [(1, (1, 1)), (2, (1, 2)), (3, (2, 1)), (5, (1, 1, 2))])
def test_results_are_those_of_inline(tmp_path, reference, engine, clients, sizes):
    names = "abc"[: len(sizes)]
    options = [f"steps={STEPS}", f"blocks={3 if clients < 5 else 1}", "ghosts=1"]
    write_configuration(
        tmp_path, f"engine: {engine}", f"{groups_text(sizes)},", tasks=in_groups(TASKS, names)
    )
    with (
        simulation(tmp_path, clients, options, forwarders=len(sizes)) as job,
        endpoint(tmp_path, sum(sizes)) as reader,
    ):
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert status == 0, text + done.text
    check_delivered(done, clients, STEPS, results_without_records(done), reference)
    rows = rows_of(done, "endpoint-iterations.csv")
    assert [(int(row["iteration"]), row["outcome"]) for row in rows] == [(n, "delivered") for n in range(STEPS)]
    record = (done.results / "endpoint.yaml").read_text()
    assert f"groups:\n  \"a\": {sizes[0]}\n  \"b\": {sizes[1]}\n" in record
    assert f"  delivered: {STEPS}\n" in record
    # Each group has timings of its own tasks alone.
    first = {row["task"] for row in rows_of(done, "endpoint-timings.csv") if row["rank"] == "0"}
    assert "statistics" in first
    assert "nodes" not in first
