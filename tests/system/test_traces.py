"""Traces of real runs: every row of the tables is in them, on one axis with the messages."""

import csv
import json
import subprocess
from datetime import datetime

import pytest
import yaml
from job_support import endpoint, simulation, write_configuration
from programs import built
from sidecar_support import Sidecar
from support import run

TOOL = built("SIDESTREAM_TOOL")
TASKS = "analyses:\n  - fail: {variable: t, at: 1}\n  - statistics: {variable: t}\n"


def trace_of(results):
    made = subprocess.run([TOOL, "trace", results], capture_output=True, text=True, timeout=60, check=False)
    assert made.returncode == 0 and not made.stderr, made.stderr
    return json.loads((results / "trace.json").read_text())["traceEvents"]


def moment(record, key):
    value = yaml.safe_load(record.read_text())[key]
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


def check(results, table, events, process):
    """The spans of a process of the trace are the rows of the table."""
    with (results / table).open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["role"] == process.split(": ")[-1].rstrip("s")]
    pids = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
    spans = [event for event in events if event["ph"] == "X" and event["pid"] == pids[process]]
    names = ("compute", "publish", "wait", "end") if rows[0]["role"] == "client" else {row["task"] for row in rows}
    for name in names:
        expected = sum(
            float(row[name] if "task" in row and not row["task"] else row["seconds"])
            for row in rows
            if not row["task"] or row["task"] == name
        )
        found = sum(event["dur"] for event in spans if event["name"] == name) / 1e6
        assert found == pytest.approx(expected, abs=1e-8 * len(rows)), name
    assert {event["tid"] for event in spans} == {int(row["rank"]) for row in rows}
    return spans


def test_with_dedicated_cores(tmp_path):
    done = run(tmp_path, 3, "cores", tasks=TASKS, options=["steps=3", "grid=8"])
    assert done.status == 0, done.text
    events = trace_of(done.results)
    for process in ("clients", "servers"):
        check(done.results, "timings.csv", events, process)
    started, ended = (moment(done.results / "run.yaml", key) for key in ("started", "ended"))
    last = max(event["ts"] + event.get("dur", 0) for event in events) / 1e6
    # Within the milliseconds to which the times of day are known.
    assert -0.002 < (ended - started).total_seconds() - last < 60
    (failure,) = [e for e in events if e["ph"] == "i" and e["name"].startswith("error: iteration 1: fail")]
    (task,) = [e for e in events if e["name"] == "fail" and e["args"].get("iteration") == 1]
    assert task["ts"] - 2000 <= failure["ts"]
    assert [e["args"]["iteration"] for e in events if e["name"] == "iteration failed"] == [1]


@pytest.mark.test_all
def test_sessions_of_servers_beside_it(tmp_path):
    with Sidecar(tmp_path, "analyses:\n  - statistics: {variable: t}\n") as run_:
        run_.start(2, "steps=4", "grid=8")
        servers = run_.serve(1)
        assert run_.simulation.wait() == 0 and servers.wait() == 0
    events = trace_of(run_.results)
    check(run_.results, "timings-clients.csv", events, "simulation: clients")
    check(run_.results, "timings.csv", events, "servers")
    in_order(events)


@pytest.mark.test_all
def test_sessions_of_an_endpoint(tmp_path):
    write_configuration(tmp_path, tasks="analyses:\n  - statistics: {variable: t}\n")
    with simulation(tmp_path, 3, ["steps=4", "grid=8"]) as one, endpoint(tmp_path, 1) as other:
        for job in (one, other):
            status, text = job.finish()
            assert status == 0, text
    events = trace_of(tmp_path / "results")
    check(tmp_path / "results", "endpoint-timings.csv", events, "endpoint: servers")
    in_order(events)


def in_order(events):
    """No server has worked on an iteration before the first client published it."""
    begun = {}
    for event in (e for e in events if e["name"] == "iteration"):
        number = event["args"]["iteration"]
        begun[number] = min(begun.get(number, event["ts"]), event["ts"])
    worked = [e for e in events if e["name"] == "statistics"]
    assert len(worked) == 4
    for event in worked:
        assert event["ts"] + 2000 >= begun[event["args"]["iteration"]]
