"""Placement `job` with groups of servers: the endpoint is divided, and each group reads its own stream."""

import contextlib
import csv
import os
import random
import re
import signal
import subprocess
import time

import pytest
from job_support import (
    ENGINES,
    TOOL,
    all_ranks,
    both,
    endpoint,
    finished,
    going_on,
    serve_with_kills,
    simulation,
    write_configuration,
)
from pairs import few
from programs import built
from support import ANALYSES, check_delivered, needs_small_disks, results_of, run, send, small_disk, wait_for
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
    """The number of rows of a table of results, 0 if it does not exist yet."""
    path = folder / "results" / table
    return max(len(path.read_text().splitlines()) - 1, 0) if path.exists() else 0


@pytest.mark.parametrize(
    ("clients", "sizes", "engine"),
    few([(5, (1, 1, 2)), (1, (1, 1)), (2, (1, 2)), (3, (2, 1))], ENGINES, keep=len(ENGINES)),
)
def test_results_are_those_of_inline(tmp_path, reference, engine, clients, sizes):
    names = "abc"[: len(sizes)]
    options = [f"steps={STEPS}", f"blocks={3 if clients < 5 else 1}", "ghosts=1"]
    write_configuration(tmp_path, f"engine: {engine}", f"{groups_text(sizes)},", tasks=in_groups(TASKS, names))
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
    assert f'groups:\n  "a": {sizes[0]}\n  "b": {sizes[1]}\n' in record
    assert f"  delivered: {STEPS}\n" in record
    # Each group has timings only of its own tasks.
    first = {row["task"] for row in rows_of(done, "endpoint-timings.csv") if row["rank"] == "0"}
    assert "statistics" in first
    assert "nodes" not in first


@pytest.mark.test_all
def test_no_group_waits_for_another(tmp_path):
    """The second group stands still. The first one goes on for as many iterations as may be in flight."""
    write_configuration(tmp_path, "engine: files", TWO + " max_in_flight: 6,", tasks=TABLES)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2, forwarders=2) as job:
        _, second = all_ranks(reader, 2)
        wait_for(lambda: rows_in(tmp_path, "histogram.csv"), "the first result")
        send(second, signal.SIGSTOP)
        done_by_second = rows_in(tmp_path, "histogram.csv") // 17
        wait_for(lambda: rows_in(tmp_path, "statistics.csv") >= done_by_second + 5, "results of the first group")
        assert rows_in(tmp_path, "histogram.csv") // 17 <= done_by_second + 1
        send(second, signal.SIGCONT)
        job.end()
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert status == 0, text
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] and account["failed"] == 0, done.text


@pytest.mark.test_all
def test_one_group_alone_fails(tmp_path):
    """The account counts an iteration as failed if a task of any group failed in it."""
    tasks = TABLES + "  - misbehave: {variable: t, how: throw, at: 1, group: b}\n"
    plugin = f"plugins: [{built('SIDESTREAM_MISBEHAVING_PLUGIN')}]\n"
    done = both(tmp_path, 2, 2, ["steps=4"], placement=TWO + " per_node: 2,", tasks=tasks, extra=plugin)
    assert done.status == 0, done.text
    assert all(account["delivered"] == 4 and account["failed"] == 1 for account in done.accounts), done.text
    for table in ("iterations.csv", "endpoint-iterations.csv"):
        assert [row["outcome"] for row in rows_of(done, table)] == ["delivered", "failed", "delivered", "delivered"]
    assert rows_in(tmp_path, "statistics.csv") == 4


def long_reference(folder, tasks, steps):
    done = run(folder / "long", 1, "inline", tasks=tasks, options=[f"steps={steps}"])
    assert done.status == 0, done.text
    return results_of(done, endings=(".csv",))


@pytest.mark.test_all
@pytest.mark.parametrize("engine", few(ENGINES))
@pytest.mark.parametrize("victims", few([((0, 2),), ((0,),), ((1,),), ((2,),)]))
def test_a_killed_group_is_replaced_and_nothing_is_lost(tmp_path, engine, victims):
    """Kills processes of an endpoint of three: the first group's, one of the two of the second group, or one of
    each."""
    steps = 100
    expected = long_reference(tmp_path, TABLES, steps)
    write_configuration(tmp_path, f"engine: {engine}, reader_limit: 60", "groups: {a: 1, b: 2},", tasks=TABLES)
    with simulation(tmp_path, 2, [f"steps={steps}", "pause_ms=40", "blocks=2"], forwarders=2) as job:
        for _ in range(2):
            before = rows_in(tmp_path, "statistics.csv"), rows_in(tmp_path, "histogram.csv")
            with endpoint(tmp_path, 3) as reader:
                ranks = all_ranks(reader, 3)
                wait_for(
                    lambda known=before: (
                        rows_in(tmp_path, "statistics.csv") > known[0] + 2
                        and rows_in(tmp_path, "histogram.csv") > known[1] + 2 * 17
                    ),
                    "results of both groups",
                )
                for victim in victims:
                    send(ranks[victim], signal.SIGKILL)
                assert reader.finish(30)[0] != 0
        with endpoint(tmp_path, 3) as reader:
            done = finished(tmp_path, job)
            status, text = reader.finish()
    assert status == 0, text + done.text
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] == steps, done.text
        assert account["refused"] == account["unknown"] == 0
    for name, content in expected.items():
        assert (done.results / name).read_bytes() == content, f"{name} differs\n{done.text}"


@pytest.mark.test_all
def test_random_kills(tmp_path):
    """Any process of either group is killed at any moment. A group gets iterations again that it has not
    acknowledged."""
    kills = int(os.environ.get("SIDESTREAM_KILLS", "4"))
    rng = random.Random(int(os.environ.get("SIDESTREAM_SEED", "3")))
    expected = long_reference(tmp_path, TABLES, 60)
    write_configuration(tmp_path, "engine: files, reader_limit: 60", "groups: {a: 2, b: 1},", tasks=TABLES)
    with simulation(tmp_path, 3, ["steps=60", "pause_ms=40", "blocks=2"], forwarders=2) as job:
        killed = serve_with_kills(tmp_path, job, 3, kills, rng)
        done = finished(tmp_path, job)
    assert killed > 0
    assert done.status == 0, done.text
    assert all(account["delivered"] == account["iterations"] == 60 for account in done.accounts), done.text
    for name, content in expected.items():
        assert (done.results / name).read_bytes() == content, f"{name} differs after {killed} kills\n{done.text}"


@pytest.mark.test_all
def test_leaving_and_coming_back(tmp_path):
    expected = long_reference(tmp_path, TABLES, 60)
    write_configuration(tmp_path, "engine: files", TWO, tasks=TABLES)
    with simulation(tmp_path, 2, ["steps=60", "pause_ms=40"], forwarders=2) as job:
        with endpoint(tmp_path, 2) as first:
            wait_for(lambda: rows_in(tmp_path, "histogram.csv") > 17, "the first results")
            first.signal_ranks(signal.SIGUSR1)
            status, text = first.finish(30)
            assert status == 0, text
        with endpoint(tmp_path, 2) as second:
            done = finished(tmp_path, job)
            status, text = second.finish()
            assert status == 0, text
    assert all(account["delivered"] == 60 for account in done.accounts), done.text
    for name, content in expected.items():
        assert (done.results / name).read_bytes() == content, f"{name} differs"
    # The second endpoint's table includes the work of the first one.
    assert [int(row["iteration"]) for row in rows_of(done, "endpoint-iterations.csv")][-1] == 59


@pytest.mark.test_all
def test_an_endpoint_that_is_not_replaced(tmp_path):
    write_configuration(tmp_path, "engine: files, reader_limit: 3, when_full: skip", TWO, tasks=TABLES)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2, forwarders=2) as job:
        wait_for(lambda: rows_in(tmp_path, "histogram.csv") > 3 * 17, "the first results")
        send(reader.ranks()[1], signal.SIGKILL)
        reader.finish()
        for group in "ab":
            wait_for(lambda one=group: list(tmp_path.glob(f"streams/stream-{one}/gone-*")), "the death to be seen")
        time.sleep(0.5)
        job.end()
        done = finished(tmp_path, job)
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] > 0 and account["refused"] > 0, done.text
        assert account["delivered"] + account["refused"] == account["iterations"]


@pytest.mark.test_all
def test_one_group_that_is_stopped_does_not_hold_up_the_other(tmp_path):
    """A group is given up, its iterations are refused, and it comes back, while the other group goes on."""
    write_configuration(tmp_path, "engine: files, reader_limit: 2, when_full: skip", TWO, tasks=TABLES)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2, forwarders=2) as job:
        wait_for(lambda: rows_in(tmp_path, "histogram.csv") > 3 * 17, "the first results")
        second = reader.ranks()[1]
        send(second, signal.SIGSTOP)
        wait_for(lambda: list(tmp_path.glob("streams/stream-b/gone-*")), "it to be given up")
        before = rows_in(tmp_path, "statistics.csv")
        wait_for(lambda: rows_in(tmp_path, "statistics.csv") > before + 5, "the other group's results")
        send(second, signal.SIGCONT)
        known = rows_in(tmp_path, "histogram.csv")
        wait_for(lambda: rows_in(tmp_path, "histogram.csv") > known + 3 * 17, "its results when it goes on")
        job.end()
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert done.status == 0, done.text
    assert status == 0, text
    account = done.accounts[0]
    assert account["refused"] > 0 and account["delivered"] + account["refused"] == account["iterations"], done.text
    # Iterations that only the first group delivered, while the second was away, count as refused. The table names the
    # group.
    reasons = {row["reason"] for row in rows_of(done, "iterations.csv") if row["outcome"] == "refused"}
    assert any("refused by the group 'b'" in reason for reason in reasons), reasons
    assert rows_in(tmp_path, "statistics.csv") > account["delivered"]


@pytest.mark.test_all
@pytest.mark.parametrize("when_full", ["wait", "skip"])
def test_a_sender_that_is_stopped_for_too_long(tmp_path, when_full):
    """Its group takes it for dead and leaves, and so do the others. When it goes on nobody waits."""
    stream = f"engine: files, reader_limit: 1, when_full: {when_full}"
    write_configuration(tmp_path, stream, TWO, tasks=TABLES)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2, forwarders=2) as job:
        wait_for(lambda: rows_in(tmp_path, "histogram.csv") > 3 * 17, "the first results")
        beat = (tmp_path / "streams" / "stream-b" / "stream.yaml").read_text()
        sender = int(re.search(r"process: \S+ \S+ \S+ (\d+)", beat)[1])
        send(sender, signal.SIGSTOP)
        reader.wait_for_text("stream-b' has died")
        send(sender, signal.SIGCONT)
        status, text = reader.finish(60)
        assert status == 1 and "died" in text, text
        job.end()
        done = finished(tmp_path, job)
    assert done.status == 0, done.text
    # With skip one group may have delivered iterations that the other refused.
    least = 3 if when_full == "wait" else 0
    for account in done.accounts:
        assert account["delivered"] > least and account["refused"] > 0, done.text
        assert account["delivered"] + account["refused"] == account["iterations"]


@needs_small_disks
@pytest.mark.parametrize(("groups", "engine"), few([TWO, ""], ENGINES, keep=0))
def test_a_full_disk_and_an_endpoint_that_is_stopped(tmp_path, groups, engine):
    """The results fill their disk while the endpoint stops and goes on. Nothing is lost but the files without room."""
    tasks = TABLES if groups else TABLES.replace(", group: a", "").replace(", group: b", "")
    tasks += f"outputs:\n  - hdf5: {{variables: [t]{', group: a' if groups else ''}}}\n"
    with small_disk(tmp_path / "results", "700k", in_use=True):
        write_configuration(tmp_path, f"engine: {engine}, reader_limit: 30", groups, tasks=tasks)
        forwarders = 2 if groups else 1
        with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2, forwarders=forwarders) as job:
            wait_for(lambda: rows_in(tmp_path, "statistics.csv") > 3, "the first results")
            for _ in range(2):
                stopped = reader.ranks()
                reader.signal_ranks(signal.SIGSTOP)
                time.sleep(1)
                for pid in stopped:
                    send(pid, signal.SIGCONT)
                time.sleep(1)
            job.end()
            done = finished(tmp_path, job)
            status, text = reader.finish()
        assert "No space left on device" in done.text + text
    assert done.status == 0 and status == 0, done.text + text
    for account in done.accounts:
        assert account["failed"] > 0 and account["delivered"] > 3, done.text
        assert account["delivered"] + account["refused"] == account["iterations"]


@pytest.mark.test_all
def test_a_group_that_fails_ends_the_others(tmp_path):
    """The stream of a group is replaced. The group ends with a sentence, and so does the endpoint; the simulation
    goes on."""
    write_configuration(tmp_path, "engine: files, reader_limit: 2, when_full: skip", TWO, tasks=TABLES)
    with endpoint(tmp_path, 2) as reader, going_on(tmp_path, 2, forwarders=2) as job:
        wait_for(lambda: rows_in(tmp_path, "histogram.csv") > 3 * 17, "the first results")
        folder = tmp_path / "streams" / "stream-b"
        _, second = all_ranks(reader, 2)
        # The reader must not look between these two changes, because a missing stream has ended in good order.
        send(second, signal.SIGSTOP)
        folder.rename(tmp_path / "elsewhere")
        folder.write_text("a file")
        send(second, signal.SIGCONT)
        status, text = reader.finish(60)
        assert status == 1 and "stream-b" in text, text
        before = rows_in(tmp_path, "statistics.csv")
        folder.unlink()
        (tmp_path / "elsewhere").rename(folder)
        with endpoint(tmp_path, 2) as second:
            wait_for(lambda: rows_in(tmp_path, "statistics.csv") > before + 3, "more results")
            known = rows_in(tmp_path, "histogram.csv")
            wait_for(lambda: rows_in(tmp_path, "histogram.csv") > known + 3 * 17, "more results of the other group")
            job.end()
            done = finished(tmp_path, job)
            status, text = second.finish()
    assert done.status == 0, done.text
    assert status == 0, text
    assert all(a["delivered"] + a["refused"] == a["iterations"] for a in done.accounts), done.text


@pytest.mark.test_all
def test_a_simulation_that_dies_ends_all_groups(tmp_path):
    write_configuration(tmp_path, "engine: files", TWO, tasks=TABLES)
    with (
        endpoint(tmp_path, 2) as reader,
        simulation(tmp_path, 2, ["steps=50", "pause_ms=40", "die_at=20"], forwarders=2) as job,
    ):
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert done.status != 0
    assert status == 1 and "died" in text, text
    for table in ("statistics.csv", "histogram.csv"):
        rows = (done.results / table).read_text().splitlines()
        assert all(line.count(",") == rows[0].count(",") for line in rows) and len(rows) > 5


@pytest.mark.test_all
@pytest.mark.parametrize("processes", few([1, 3]))
def test_an_endpoint_of_another_size(tmp_path, processes):
    write_configuration(tmp_path, "engine: files", TWO, tasks=TABLES)
    with endpoint(tmp_path, processes) as reader:
        status, text = reader.finish(30)
    assert status == 1
    assert f"groups of 2 servers in all and an endpoint of {processes} process" in text, text
    assert "mpirun -n 2" in text


def test_check_and_sizes(tmp_path):
    """The checker names the streams. Sizes come from the endpoint's records, not from the senders."""
    done = both(tmp_path, 2, 2, ["steps=4"], placement=TWO + " per_node: 2,", tasks=TABLES)
    assert done.status == 0, done.text
    command = [TOOL, "check", tmp_path / "run.yaml", "--ranks", "4", "--set", "n=32", "h=0.1"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    folder = tmp_path / "streams"
    assert f"2 ranks on each node send the streams {folder}/stream-a, {folder}/stream-b" in checked.stdout
    assert "group      b: 1 server for histogram" in checked.stdout, checked.stdout
    command = [TOOL, "groups", done.results, "--servers", "3"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    sizes = dict(re.findall(r"(\w+): (\d+)", said.stdout.split("groups: {")[1]))
    assert set(sizes) == {"a", "b"} and sum(map(int, sizes.values())) == 3
    assert "the simulation computes" in said.stdout


@pytest.mark.test_all
def test_sizes_that_the_endpoint_chooses(tmp_path, reference):
    """Sizes come from the times of an earlier endpoint, for the present number of processes, which may be another
    one."""
    tasks = in_groups(TASKS, "ab")
    fixed = "groups: {a: 2, b: 1}, per_node: 2,"
    done = both(tmp_path / "earlier", 2, 3, [f"steps={STEPS}"], placement=fixed, tasks=tasks)
    assert done.status == 0, done.text
    costs = tmp_path / "costs.yaml"
    command = [TOOL, "groups", done.results, "--servers", "5", "--output", costs]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    sizes = dict(re.findall(r"(\w+): (\d+)", said.stdout.split("groups: {")[1]))
    assert sum(map(int, sizes.values())) == 5
    automatic = f"groups: {{a: auto, b: auto}}, measured: {costs}, per_node: 2,"
    options = [f"steps={STEPS}", "blocks=2", "ghosts=1"]
    done = both(tmp_path / "auto", 2, 5, options, placement=automatic, tasks=tasks)
    check_delivered(done, 2, STEPS, results_without_records(done), reference)
    record = (done.results / "endpoint.yaml").read_text()
    assert f'groups:\n  "a": {sizes["a"]}\n  "b": {sizes["b"]}\n' in record
    assert 'groups:\n  "a": auto\n  "b": auto\n' in (done.results / "run.yaml").read_text()
    file = tmp_path / "auto" / "run.yaml"
    command = [TOOL, "check", file, "--ranks", "4", "--set", "n=32", "h=0.1"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "group      b: servers for" in checked.stdout, checked.stdout


@pytest.mark.test_all
@pytest.mark.parametrize(
    ("tasks", "processes", "sentence"),
    [
        (TABLES, 1, "groups of at least 2 servers in all and an endpoint of 1 process"),
        (TABLES + "  - probe: {variable: t, points: [[0.5, 0.5, 0.5]], group: b}\n", 3, "found no costs of 'probe'"),
        (TABLES.replace("group: b", "group: c"), 3, "unknown group 'c', expected one of a, b"),
    ],
)
def test_sizes_that_cannot_be_chosen(tmp_path, tasks, processes, sentence):
    costs = tmp_path / "costs.yaml"
    costs.write_text("tasks: {statistics: {constant: 1}, histogram: {shared: 1}}\n")
    write_configuration(tmp_path, "engine: files", f"groups: {{a: auto, b: auto}}, measured: {costs},", tasks=tasks)
    with endpoint(tmp_path, processes) as reader:
        status, text = reader.finish(30)
    assert status == 1
    assert text.count(sentence) == 1, text


def test_what_two_groups_need_is_sent_to_each_alone(tmp_path):
    """A group's stream lacks variables that the group does not need."""
    tasks = """\
analyses:
  - statistics: {variable: t, group: a}
  - statistics: {name: n, variable: p, file: n.csv, group: b}
"""
    done = both(tmp_path, 2, 2, ["steps=3"], placement=TWO + " per_node: 2,", tasks=tasks)
    assert done.status == 0, done.text
    bytes_of = {"0": 0, "1": 0}
    for row in rows_of(done, "endpoint-movement.csv"):
        bytes_of[row["rank"]] += int(row["bytes"])
    # Both variables have 8 bytes for each point; both blocks have the nodes between them.
    assert bytes_of == {"0": 3 * 8 * 20**3, "1": 3 * 8 * 21 * 21 * (21 + 1)}


def spilled_bytes(folder):
    return sum(file.stat().st_size for file in (folder / "spilled").iterdir())


@pytest.mark.test_all
@pytest.mark.parametrize(
    ("senders", "nodes", "placement"),
    few(
        [
            (6, 2, "per_node: 3, pretend_nodes: 2, max_in_flight: 1,"),
            (2, 1, "buffer: 600 KiB, when_full: spill, spill: {size: 64 MiB, directory: HERE},"),
            (3, 1, "per_node: 3,"),  # two forwarders send to the first group
            (4, 2, "pretend_nodes: 2,"),
        ]
    ),
)
def test_senders_of_several_nodes_and_full_buffers(tmp_path, reference, senders, nodes, placement):
    options = [f"steps={STEPS}", "blocks=2", "ghosts=1"]
    (tmp_path / "spilled").mkdir()
    placement = placement.replace("HERE", str(tmp_path / "spilled"))
    write_configuration(tmp_path, "engine: files", f"groups: {{a: 1, b: 2}}, {placement}", tasks=in_groups(TASKS, "ab"))
    clients = 2 * nodes
    with simulation(tmp_path, clients, options, forwarders=senders) as job, contextlib.ExitStack() as ended:
        if "spill" in placement:  # before anybody reads, so that the room is used up
            wait_for(lambda: spilled_bytes(tmp_path) > 0, "blocks in files")
        reader = ended.enter_context(endpoint(tmp_path, 3))
        done = finished(tmp_path, job)
        status, text = reader.finish()
    assert status == 0, text + done.text
    check_delivered(done, clients, STEPS, results_without_records(done), reference)
    if "spill" in placement:
        assert int(re.search(r"\n  spilled: (\d+)\n", (done.results / "run.yaml").read_text())[1]) > 0


def test_a_group_feeds_another_endpoint(tmp_path):
    """A stream that one group passes on is read undivided, whatever groups the file names."""
    onward = f"outputs:\n  - stream: {{name: second, directory: {tmp_path}/streams, variables: [t], group: b}}\n"
    write_configuration(tmp_path, "engine: files", TWO, tasks=TABLES + onward)
    second = tmp_path / "second.yaml"
    second.write_text(
        f"placement: {{mode: job, buffer: 32 MiB, {TWO} stream: {{directory: {tmp_path}/streams}}}}\n"
        f"analyses:\n  - statistics: {{name: again, variable: t, file: again.csv, group: a}}\n"
        f"  - histogram: {{variable: t, bins: 17, file: bins.csv, group: b}}\n"
        f"output: {{directory: {tmp_path}/second}}\n"
    )
    with (
        simulation(tmp_path, 2, ["steps=4"], forwarders=2) as job,
        endpoint(tmp_path, 2) as first,
        endpoint(tmp_path, 3, ["--stream", "second"], name="second.yaml") as last,
    ):
        done = finished(tmp_path, job)
        for reader in (first, last):
            status, text = reader.finish()
            assert status == 0, text + done.text
    assert all(account["delivered"] == 4 for account in done.accounts), done.text
    for mine, theirs in (("statistics.csv", "again.csv"), ("histogram.csv", "bins.csv")):
        assert (done.results / mine).read_bytes() == (tmp_path / "second" / theirs).read_bytes()
