"""`sidestream trace` and `sidestream record`: from tables as runs leave them, checked by the rules of both formats."""

import json
import os
import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import unquote

import pytest
from watched_run import put, record, spool, timings

yaml = pytest.importorskip("yaml", reason="traces and records are NOT TESTED: PyYAML is missing")
from sidestream.records.command import main  # noqa: E402

HEADER = "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"
STARTED = "2026-11-28T10:00:00.000Z"
PHASES = {"X": {"ts", "dur", "tid"}, "C": {"ts"}, "M": set(), "i": {"ts", "s"}}


def run_in(folder, rows=None, started=STARTED, **more):
    """The output directory of a run with two clients, of which one rank has no rows, and a server."""
    account = {"iterations": 3, "delivered": 2, "refused": 1, "failed": 0, "unknown": 0, "bytes_spilled": 0}
    facts = {"started": started, "ended": "2026-11-28T10:00:09.500Z", "account": {**account, "absent_blocks": 0}}
    record(folder, **{key: value for key, value in (facts | more).items() if value is not None})
    put(folder / "timings.csv", HEADER + (timings(range(3)) if rows is None else rows))
    put(folder / "iterations.csv", "iteration,cycle,time,outcome,reason\n0,0,0,delivered,\n1,1,1,refused,no room\n")
    put(folder / "messages.txt", "2026-11-28T10:00:01.250Z warning server 1: too 'hot', \"very\"\n")
    return folder


def trace_of(folder, *options):
    """The events of a trace, which keeps the rules of the format."""
    path = folder.parent / "trace.json"
    assert main("trace", [str(folder), "-o", str(path), *options]) == 0
    trace = json.loads(path.read_text(encoding="utf-8"))
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"} and trace["displayTimeUnit"] == "ms"
    assert all(isinstance(text, str) for text in trace["otherData"].values())
    for event in trace["traceEvents"]:
        needed = {"name", "ph", "pid"} | PHASES[event["ph"]]
        assert needed <= set(event) and isinstance(event["name"], str) and event["name"]
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["ts"] >= 0
        if event["ph"] == "C":
            assert event["args"] and all(isinstance(value, int | float) for value in event["args"].values())
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "process_sort_index", "thread_name", "thread_sort_index")
    check_nesting(trace["traceEvents"])
    return trace["traceEvents"]


def check_nesting(events):
    """Events of a thread lie within each other or beside each other."""
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)
            threads[event["pid"], event["tid"]].append((start, start + round(event["dur"] * 1000)))
    for spans in threads.values():
        ends = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            assert end >= start
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or end <= ends[-1]
            ends.append(end)


def named(events, name, phase="X"):
    return [event for event in events if event["name"] == name and event["ph"] == phase]


def test_what_each_rank_did_is_an_event(tmp_path):
    events = trace_of(run_in(tmp_path / "results"))
    assert [event["args"]["name"] for event in named(events, "process_name", "M")] == ["clients", "servers"]
    assert [event["args"]["name"] for event in named(events, "thread_name", "M")] == ["client 0", "server 1"]
    # The second iteration of the client begins after 1 s, and has its parts in order.
    parts = [event for event in events if event["pid"] == 1 and event.get("args", {}).get("iteration") == 1]
    spans = [(e["name"], e["ts"], e["dur"]) for e in parts if e["ph"] == "X"]
    assert spans == [
        ("iteration", 1e6, 9e5),
        ("compute", 1e6, 5e5),
        ("publish", 1.5e6, 1e5),
        ("wait", 1.6e6, 2e5),
        ("end", 1.8e6, 1e5),
    ]
    assert [(e["ts"], e["dur"], e["pid"], e["tid"]) for e in named(events, "render")] == [
        (1e6, 4e5, 2, 1),
        (2e6, 4e5, 2, 1),
        (3e6, 4e5, 2, 1),
    ]
    (warning,) = [event for event in events if event["name"].startswith("warning: ")]
    assert (warning["ts"], warning["pid"], warning["tid"], warning["s"]) == (1.25e6, 2, 1, "t")
    (refused,) = named(events, "iteration refused", "i")
    assert refused["args"] == {"iteration": 1, "reason": "no room"} and refused["ts"] == 1.9e6
    buffered = [(e["ts"], e["args"]["iterations"]) for e in named(events, "iterations in the buffer", "C")]
    assert buffered == [(9e5, 1), (1.4e6, 0), (1.9e6, 1), (2.4e6, 0), (2.9e6, 1), (3.4e6, 0)]


def test_sessions_of_simulation_and_servers_share_an_axis(tmp_path):
    """With `sidecar` the servers have begun 2.5 s later; with `job` they have tables of their own."""
    folder = run_in(tmp_path / "results", "1,server,0,0.5,,,,,render,0.25\n", "2026-11-28T10:00:02.500Z")
    put(folder / "run-clients.yaml", f"sidestream: 0.1.0\nstarted: {STARTED}\n")
    put(folder / "timings-clients.csv", HEADER + "0,client,0,0.125,1,0,0,0.5,,\n")
    put(folder / "endpoint.yaml", "started: 2026-11-28T12:00:04+02:00\n")  # another way to write 10:00:04
    put(folder / "endpoint-timings.csv", HEADER + '0,server,0,1.0,,,,,"a, b",0.5\n')
    put(folder / "endpoint-movement.csv", "rank,role,iteration,blocks,bytes,layer_bytes\n0,server,0,2,4096,100\n")
    events = trace_of(folder)
    titles = {event["args"]["name"] for event in named(events, "process_name", "M")}
    assert titles == {"servers", "simulation: clients", "endpoint: servers"}
    assert named(events, "render")[0]["ts"] == 3e6
    assert named(events, "iteration")[0]["ts"] == 125000
    assert [(event["ts"], event["dur"]) for event in named(events, "a, b")] == [(5e6, 5e5)]
    (moved,) = named(events, "moved by server 0", "C")
    assert moved["args"] == {"bytes": 4196} and moved["ts"] == 5e6
    assert len({event["pid"] for event in events if event["ph"] == "X"}) == 3


def test_without_the_time_of_the_start_messages_are_left_out(tmp_path, capsys):
    events = trace_of(run_in(tmp_path / "results", started=None))
    assert not named(events, "warning", "i") and named(events, "render")
    assert "has no time of its start" in capsys.readouterr().err


def test_part_files_resumed_tables_and_chosen_iterations(tmp_path):
    folder = run_in(tmp_path / "results")
    # The rows of a run that goes on, in chunks with a hole between them.
    spool(folder / ".timings.csv.rows", [timings([5]), None, timings([6, 7], servers=2)])
    assert {event["args"]["iteration"] for event in named(trace_of(folder), "render")} == {5, 6, 7}
    assert {e["args"]["iteration"] for e in named(trace_of(folder, "--iterations", "6:"), "iteration")} == {6, 7}
    # A resumed run adds rows, and counts from 0 again: only those of the last session are in the trace.
    again = run_in(tmp_path / "again", timings(range(6)) + timings(range(2)))
    assert [event["args"]["iteration"] for event in named(trace_of(again), "render")] == [0, 1]


def test_rounded_times_do_not_overlap(tmp_path):
    rows = "0,client,0,0.1,0.0000000004,0.0000000014,0,1,,\n" + "".join(
        f"0,server,{n},{0.3 * n:.9f},,,,,task,{0.3000000012:.9f}\n" for n in range(50)
    )
    events = trace_of(run_in(tmp_path / "results", rows))
    assert len(named(events, "task")) == 50 and len(named(events, "iteration")) == 1


def test_what_is_no_run_gets_a_sentence(tmp_path, capsys):
    empty = run_in(tmp_path / "empty", "")
    for folder, sentence in (
        (tmp_path / "missing", "is no directory"),
        (tmp_path, "has no run.yaml and no timings.csv"),
        (empty, "the run has no times"),
    ):
        assert main("trace", [str(folder)]) == 1
        assert sentence in capsys.readouterr().err
    assert not (empty / "trace.json").exists() and not (empty / ".trace.json.part").exists()
    assert main("trace", [str(run_in(tmp_path / "results")), "--iterations", "two"]) == 1
    assert "trace: 'two' is no number" in capsys.readouterr().err
    assert main("trace", [str(tmp_path / "results"), "--iterations", "7"]) == 1
    assert "the times are of 0 to 2" in capsys.readouterr().err
    assert main("trace", [str(tmp_path / "results"), "-o", str(tmp_path / "no" / "trace.json")]) == 1
    assert "name another file" in capsys.readouterr().err


SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\} (\S+)')


def test_metrics_keep_the_rules_of_their_text(tmp_path):
    folder = run_in(tmp_path / "results", timings(range(3)) + '1,server,3,9,,,,,"say ""hi"" \\",0.5\n')
    path = tmp_path / "metrics.txt"
    trace_of(folder, "--metrics", str(path))
    *lines, last = path.read_text().splitlines()
    assert last == "# EOF" and path.read_text().endswith("\n")
    families, samples, family = {}, {}, None
    for line in lines:
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in families
            families[family] = kind
        elif line.startswith(("# UNIT ", "# HELP ")):
            assert line.split(" ")[2] == family and (
                not line.startswith("# UNIT") or family.endswith("_" + line.split()[3])
            )
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            endings = {"counter": {"_total"}, "gauge": {""}, "info": {"_info"}, "summary": {"", "_count", "_sum"}}
            assert name.removeprefix(family) in endings[families[family]]
            assert (name, labels) not in samples
            samples[name, labels] = float(value)
    assert samples["sidestream_iterations_total", 'of="run",outcome="refused"'] == 1
    assert samples["sidestream_client_seconds_total", 'of="run",part="compute"'] == pytest.approx(1.5)
    assert samples["sidestream_task_seconds_total", 'of="run",task="render",work="yes"'] == pytest.approx(1.2)
    assert samples["sidestream_task_seconds_total", 'of="run",task="idle",work="no"'] == pytest.approx(1.8)
    assert samples["sidestream_task_runs_total", 'of="run",task="say \\"hi\\" \\\\",work="yes"'] == 1
    assert samples["sidestream_held_seconds", 'of="run",quantile="0.5"'] == pytest.approx(0.4)
    assert samples["sidestream_held_seconds_count", 'of="run"'] == 3


CITATION = """\
cff-version: 1.2.0
title: Waves
version: "2.5"
doi: 10.5281/zenodo.1234
repository-code: https://example.org/waves
authors:
  - {given-names: Ada, family-names: Lovelace, orcid: "https://orcid.org/0000-0000-0000-0001", affiliation: Analysts}
  - name: The Waves team
"""


def crate_of(folder, *options):
    """The entities by id, of which each has a type and is reached from the root."""
    assert main("record", [str(folder), *options]) == 0
    found = json.loads((folder / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    assert found["@context"] == "https://w3id.org/ro/crate/1.1/context"
    entities = {entity["@id"]: entity for entity in found["@graph"]}
    assert len(entities) == len(found["@graph"]) and all("@type" in entity for entity in entities.values())
    descriptor = entities["ro-crate-metadata.json"]
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"} and descriptor["about"] == {"@id": "./"}
    assert {"name", "description", "datePublished", "license", "hasPart"} <= set(entities["./"])
    reached, waiting = set(), ["./"]
    while waiting:
        one = waiting.pop()
        if one in reached or one not in entities:
            assert one in reached or one.startswith("http://schema.org/"), one
            continue
        reached.add(one)
        waiting += re.findall(r'"@id": "([^"]*)"', json.dumps(entities[one]))
    assert reached == set(entities) - {"ro-crate-metadata.json"}
    return entities


def test_a_record_lists_all_files_the_run_and_its_software(tmp_path):
    folder = run_in(tmp_path / "results")
    put(folder / "data" / "segment 1#.h5", b"1234567")
    put(folder / "data" / "deeper" / "größe.csv", "x\n")
    put(folder / ".run.lock", "")
    (folder / "link.csv").symlink_to(folder / "timings.csv")
    put(folder / "CITATION.cff", CITATION)
    entities = crate_of(folder, "--license", "CC-BY-4.0", "--name", "My waves", "--description", "Some.")
    listed = {unquote(name) for name, entity in entities.items() if entity["@type"] == "File"}
    files = {str(Path(at, one).relative_to(folder)) for at, _, names in os.walk(folder) for one in names}
    assert listed == files - {".run.lock", "link.csv", "ro-crate-metadata.json"}
    for name in listed:
        (entity,) = [e for i, e in entities.items() if unquote(i) == name]
        assert entity["contentSize"] == str((folder / name).stat().st_size)
    assert entities["data/"]["hasPart"] == [{"@id": "data/deeper/"}, {"@id": "data/segment%201%23.h5"}]
    assert entities["data/segment%201%23.h5"]["encodingFormat"] == "application/x-hdf5"
    root, action = entities["./"], entities["#run"]
    assert (root["name"], root["description"]) == ("My waves", "Some.")
    assert root["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}
    assert [entities[one["@id"]]["name"] for one in root["author"]] == ["Ada Lovelace", "The Waves team"]
    assert entities["https://orcid.org/0000-0000-0000-0001"]["affiliation"] == [{"@id": "#Analysts"}]
    assert action["startTime"] == "2026-11-28T10:00:00.000+00:00"
    assert action["endTime"] == "2026-11-28T10:00:09.500+00:00"
    assert action["actionStatus"]["@id"].endswith("CompletedActionStatus")
    assert action["object"] == [{"@id": "run.yaml"}] and {"@id": "data/"} in action["result"]
    waves, ours = (entities[one["@id"]] for one in action["instrument"])
    assert (waves["name"], waves["softwareVersion"], waves["@id"]) == ("Waves", "2.5", "https://example.org/waves")
    assert (ours["name"], ours["softwareVersion"]) == ("Sidestream", "0.1.0")


def test_a_record_of_a_run_that_was_killed_and_one_that_is_there(tmp_path, capsys):
    folder = run_in(tmp_path / "results", ended=None, account=None)
    entities = crate_of(folder)
    assert entities["#run"]["actionStatus"]["@id"].endswith("FailedActionStatus")
    assert "endTime" not in entities["#run"] and "author" not in entities["./"]
    assert entities["./"]["license"] == {"@id": "#no-licence"}
    assert main("record", [str(folder)]) == 1
    assert "give --replace to write it anew" in capsys.readouterr().err
    assert crate_of(folder, "--replace")["./"]["hasPart"] == entities["./"]["hasPart"]
    put(tmp_path / "other.cff", "title: nothing\n")
    assert main("record", [str(folder), "--replace", "--citation", str(tmp_path / "other.cff")]) == 1
    assert "expected a CITATION.cff" in capsys.readouterr().err
    own = Path(__file__).resolve().parents[2] / "CITATION.cff"
    cited = crate_of(folder, "--replace", "--citation", str(own))
    assert [cited[one["@id"]]["name"] for one in cited["./"]["author"]] == ["The Sidestream authors"]
