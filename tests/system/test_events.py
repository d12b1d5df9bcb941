"""Events with values, and barriers: all servers have them in one order, whatever the delays."""

import contextlib
import csv
import os
import random
import signal
import subprocess
import uuid
from collections import defaultdict

import pytest
from launched import run_in_job
from programs import built
from sidecar_support import Job
from support import MPIRUN, send, wait_for

PROGRAM = built("SIDESTREAM_EVENTS_PROGRAM")
PLUGIN = built("SIDESTREAM_EVENTS_PLUGIN")
TOOL = built("SIDESTREAM_TOOL")
STEPS = 20


def configure(folder, placement, options="", extra="", handlers=""):
    (folder / "run.yaml").write_text(
        f"placement: {placement}\n"
        "meshes: {grid: {type: uniform, size: [$n]}}\n"
        "variables: {t: {mesh: grid, type: float64, centering: cell}}\n"
        f"plugins: [{PLUGIN}]\nevents: [poke, prod, meet, ring]\n"
        f"analyses:\n  - watch: {{variable: t{options}}}\n"
        f"  - statistics: {{variable: t, on: meet}}\n{handlers}"
        f"output: {{directory: {folder}/results}}\n{extra}"
    )


def finish(process, timeout=60):
    try:
        return process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        raise


def begin(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def simulate(folder, ranks, *options):
    return begin([MPIRUN, "-n", str(ranks), PROGRAM, str(folder / "run.yaml"), f"steps={STEPS}", *options])


def run(folder, ranks, placement, *options, **configuration):
    configure(folder, placement, **configuration)
    arguments = [folder / "run.yaml", f"steps={STEPS}", *options]
    status, text = run_in_job(PROGRAM, ranks, folder / "printed", arguments, timeout=60)
    assert status == 0, text
    return raised_in(folder), seen_in(folder / "results" / "seen.csv")


def raised_in(folder):
    """The events that clients raised: (iteration, client, number, name, scope)."""
    lines = [line.split() for file in folder.glob("raised-*.txt") for line in file.read_text().splitlines()]
    return [(*map(int, numbers), name, scope) for *numbers, name, scope in lines]


def seen_in(path):
    """The events that servers saw in their order, by iteration and server."""
    seen = defaultdict(lambda: defaultdict(list))
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            server, place, name, client, scope, raised, kind, *values = row["event"].split()
            events = seen[int(row["iteration"])][int(server)]
            assert int(place) == len(events)
            events.append((name, int(client), scope, int(raised), kind, tuple(map(int, values))))
    return seen


def expected_of_all(raised, clients, refused=()):
    """The events that all servers see, by iteration: in order of client and number, each barrier when the last
    client reaches it."""
    takes_effect = {}
    for step in range(STEPS):
        later = [n for n in range(step, STEPS) if n not in refused]
        takes_effect[step] = later[0] if later else None
    comings, reached = defaultdict(int), 0
    events = defaultdict(list)
    for step in range(STEPS):
        for _, client, number, name, scope in sorted(one for one in raised if one[0] == step):
            if scope == "all":
                events[takes_effect[step]].append((name, client, "all", step, "int64", (client, number, step)))
            elif scope == "barrier":
                comings[client] += 1
                if len(comings) == clients and min(comings.values()) > reached:
                    reached += 1
                    events[takes_effect[step]].append((name, -1, "all", step, "uint8", ()))
    return events


def check(raised, seen, clients, servers, refused=()):
    expected = expected_of_all(raised, clients, refused)
    assert any(scope == "barrier" for *_, scope in raised) and any(scope == "all" for *_, scope in raised)
    for step in range(STEPS):
        for server in range(servers):
            of_all = [event for event in seen[step][server] if event[2] == "all"]
            assert of_all == expected[step], (step, server)
            # Events of one client are in the client's order, whoever sees them.
            for client in range(clients):
                numbers = [event[5][1] for event in seen[step][server] if event[1] == client]
                assert numbers == sorted(numbers)
    return expected


def check_scopes(raised, seen, servers, node_of_server, of_client, node_of_client):
    """Checks which servers see events for one server, or for one node."""
    there = defaultdict(set)
    for by_server in seen.values():
        for server, events in by_server.items():
            for name, client, scope, _, _, values in events:
                there[client, values[1] if values else None, name, scope].add(server)
    for _, client, number, name, scope in raised:
        if scope == "server":
            assert there[client, number, name, scope] == {of_client(client)}
        elif scope == "node":
            mine = {s for s in range(servers) if node_of_server(s) == node_of_client(client)} | {of_client(client)}
            assert there[client, number, name, scope] == mine


@pytest.mark.keep(1)
@pytest.mark.parametrize(("clients", "seed"), [(1, 1), (2, 2), (5, 4)])
def test_inline(tmp_path, clients, seed):
    raised, seen = run(tmp_path, clients, "inline", f"seed={seed}")
    check(raised, seen, clients, clients)
    check_scopes(raised, seen, clients, lambda s: 0, lambda c: c, lambda c: 0)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("clients", "servers", "seed"), [(2, 1, 2), (3, 2, 3), (8, 3, 5)])
def test_cores(tmp_path, clients, servers, seed):
    raised, seen = run(
        tmp_path, clients + servers, f"{{mode: cores, buffer: 32 MiB, per_node: {servers}}}", f"seed={seed}"
    )
    check(raised, seen, clients, servers)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("clients", "servers", "seed", "more"), [(1, 2, 1, ""), (5, 3, 3, ""), (3, 2, 5, ", progress: calls")]
)
def test_nodes(tmp_path, clients, servers, seed, more):
    raised, seen = run(
        tmp_path, clients + servers, f"{{mode: nodes, buffer: 32 MiB, servers: {servers}{more}}}", f"seed={seed}"
    )
    check(raised, seen, clients, servers)


@pytest.mark.keep(1)
@pytest.mark.parametrize("forward", ["partials", "blocks"])
def test_forwarders(tmp_path, forward):
    raised, seen = run(tmp_path, 5, f"{{mode: nodes, buffer: 32 MiB, servers: 1, forward: {forward}}}", "seed=6")
    check(raised, seen, 3, 1)


@pytest.mark.test_all
def test_two_nodes(tmp_path):
    """Pretended nodes are ranks 0 to 3 and 4 to 7, each with one server, the node's last rank."""
    raised, seen = run(tmp_path, 8, "{mode: cores, buffer: 32 MiB, per_node: 1, pretend_nodes: 2}", "seed=7")
    check(raised, seen, 6, 2)
    check_scopes(raised, seen, 2, lambda s: s, lambda c: c // 3, lambda c: c // 3)


@pytest.mark.keep(2)
@pytest.mark.parametrize(
    "placement", ["inline", "{mode: cores, buffer: 32 MiB, per_node: 2}", "{mode: nodes, servers: 2}"]
)
def test_an_iteration_that_is_refused(tmp_path, placement):
    """Events of a refused iteration take effect in the next one, before its own events."""
    dedicated = 0 if placement == "inline" else 2
    raised, seen = run(tmp_path, 3 + dedicated, placement, "seed=8", "refuse_at=7")
    expected = check(raised, seen, 3, dedicated or 3, refused={7})
    assert any(event[3] == 7 for event in expected[8])
    assert not any(seen[7].values())


def test_isolated(tmp_path):
    raised, seen = run(
        tmp_path, 5, "{mode: cores, buffer: 32 MiB, per_node: 2}", "seed=9", options=", isolate: process"
    )
    check(raised, seen, 3, 2)


def test_on_runs_at_barriers(tmp_path):
    raised, _ = run(tmp_path, 3, "inline", "seed=10")
    expected = expected_of_all(raised, 3)
    ran = [int(line.split(",")[0]) for line in (tmp_path / "results/statistics.csv").read_text().splitlines()[1:]]
    assert ran == [step for step in range(STEPS) if any(event[0] == "meet" for event in expected[step])]


def reached(raised, names, members):
    """The steps in which all of these clients have raised one of these events once more."""
    comings, complete, steps = defaultdict(int), 0, set()
    for step, client, _, name, _ in sorted(raised):
        if name not in names or client not in members:
            continue
        comings[client] += 1
        if len(comings) == len(members) and min(comings.values()) > complete:
            complete += 1
            steps.add(step)
    return steps


def rows_of(path):
    """The count, smallest and largest value in each iteration of a table of statistics."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {int(row["iteration"]): tuple(float(row[c]) for c in ("count", "minimum", "maximum")) for row in rows}


@pytest.mark.keep(3)
@pytest.mark.parametrize(
    ("placement", "clients", "servers", "node_size"),
    [
        ("inline", 3, 3, 3),
        ("{mode: inline, pretend_nodes: 2}", 4, 4, 2),
        ("{mode: cores, buffer: 32 MiB, per_node: 2}", 3, 2, 3),
        ("{mode: cores, buffer: 32 MiB, per_node: 1, pretend_nodes: 2}", 6, 2, 3),
        ("{mode: nodes, buffer: 32 MiB, servers: 2}", 3, 2, 3),
    ],
)
def test_handlers_run_where_the_clients_of_an_event_are(tmp_path, placement, clients, servers, node_size):
    handlers = "".join(
        f"  - statistics: {{variable: t, name: {source}-{event}, on: {event}, from: {source}, "
        f"file: {source}-{event}.csv}}\n"
        for source in ("one", "node", "all")
        for event in ("ring", "meet")
    )
    ranks = clients if "inline" in placement else clients + servers
    raised, seen = run(tmp_path, ranks, placement, "seed=14", "ring=1", handlers=handlers)
    server_of = {}
    for by_server in seen.values():
        for server, events in by_server.items():
            server_of.update({client: server for _, client, scope, *_ in events if scope == "server" and client >= 0})
    assert len(server_of) == clients
    nodes = [set(range(first, first + node_size)) for first in range(0, clients, node_size)]

    def statistics_of(servers, step):
        values = [client + step for client in range(clients) if server_of[client] in servers]
        return (float(len(values)), float(min(values)), float(max(values)))

    for event in ("ring", "meet"):
        one, node = defaultdict(set), defaultdict(set)
        for step, client, _, name, _ in raised:
            if name == event:
                one[step].add(server_of[client])
        for members in nodes:
            for step in reached(raised, {event}, members):
                node[step] |= {server_of[client] for client in members}
        whole = {step: set(range(servers)) for step in reached(raised, {event}, set(range(clients)))}
        for source, expected in (("one", one), ("node", node), ("all", whole)):
            table = rows_of(tmp_path / "results" / f"{source}-{event}.csv")
            assert table == {step: statistics_of(there, step) for step, there in expected.items()}, (source, event)
            assert len(table) > 1


def test_handlers_that_cannot_be(tmp_path):
    for handler, placement, sentence in (
        ("{variable: t, from: one}", "inline", "found 'from: one' without 'on'"),
        ("{variable: t, on: ring, from: some}", "inline", "one, node, all"),
        (
            "{variable: t, on: ring, from: node}",
            f"{{mode: job, stream: {{directory: {tmp_path}/streams, engine: files}}}}",
            "found it with 'placement: job'",
        ),
    ):
        configure(tmp_path, placement, handlers=f"  - statistics: {{name: own, file: own.csv, {handler[1:]}\n")
        out, err = finish(simulate(tmp_path, 2))
        assert sentence in out + err


def test_sidecar(tmp_path):
    session = uuid.uuid4().hex[:12]
    configure(tmp_path, f"{{mode: sidecar, buffer: 32 MiB, per_node: 2, session: {session}}}")
    program = simulate(tmp_path, 3, "seed=11")
    servers = begin([MPIRUN, "-n", "2", TOOL, "serve", str(tmp_path / "run.yaml")])
    out, err = finish(program)
    served = finish(servers)
    assert program.returncode == 0 and servers.returncode == 0, out + err + served[0] + served[1]
    check(raised_in(tmp_path), seen_in(tmp_path / "results/seen.csv"), 3, 2)


def iterations_seen(folder):
    """The number of iterations in the table of the events that servers saw."""
    path = folder / "results" / "seen.csv"
    lines = path.read_text().splitlines() if path.exists() else []
    return len({line.split(",")[0] for line in lines if line[:1].isdigit()})


def wait_for_more(folder, more):
    """Waits until servers have seen events of so many more iterations."""
    wanted = iterations_seen(folder) + more
    wait_for(lambda: iterations_seen(folder) >= wanted, f"what servers see of {more} iterations")


@pytest.mark.test_all
def test_servers_that_die_while_events_are_exchanged(tmp_path):
    """One of two servers is killed, once or more, while they exchange events in each iteration. Both see events once
    and in the same order, and the last servers see all events that are raised from then on."""
    chance, until = random.Random(13), tmp_path / "until"
    configure(tmp_path, f"{{mode: sidecar, buffer: 32 MiB, per_node: 2, session: {uuid.uuid4().hex[:12]}}}")
    file = str(tmp_path / "run.yaml")
    with contextlib.ExitStack() as ended:

        def start(name, *command):
            return ended.enter_context(Job(command, tmp_path / f"{name}.txt"))

        options = ["seed=13", "steps=100000000", "pause_us=5000", f"until={until}"]
        program = start("program", MPIRUN, "-n", "3", PROGRAM, file, *options)
        serve = [MPIRUN, "-n", "2", TOOL, "serve", file]
        for n in range(3 if os.environ.get("SIDESTREAM_TEST_ALL") == "1" else 1):
            servers = start(f"servers-{n}", *serve)
            wait_for_more(tmp_path, 10 + chance.randrange(100))
            send(chance.choice(sorted(servers.members("sidestream"))), signal.SIGKILL)
            servers.wait()
            assert program.process.poll() is None, program.text()
        servers = start("servers", *serve)
        wait_for_more(tmp_path, 70)
        until.touch()
        assert program.wait() == 0, program.text() + servers.text()
        assert servers.wait() == 0, servers.text()
    seen = seen_in(tmp_path / "results/seen.csv")
    of_all, twice = {}, set()
    for step, by_server in seen.items():
        each = [[event for event in by_server[server] if event[2] == "all"] for server in (0, 1)]
        assert each[0] == each[1], step
        of_all[step] = [event[5] for event in each[0] if event[5]]
        assert not twice & set(of_all[step]), step
        twice |= set(of_all[step])
    raised = raised_in(tmp_path)
    late = {(client, number, step) for step, client, number, _, scope in raised if scope == "all"}
    late = {values for values in late if values[2] >= max(raised)[0] - 50}
    assert late and late <= twice


def test_job(tmp_path):
    configure(tmp_path, f"{{mode: job, buffer: 32 MiB, stream: {{directory: {tmp_path}/streams, engine: files}}}}")
    program = simulate(tmp_path, 5, "seed=12")
    endpoint = begin([MPIRUN, "-n", "2", TOOL, "endpoint", str(tmp_path / "run.yaml")])
    out, err = finish(program)
    read = finish(endpoint)
    assert program.returncode == 0 and endpoint.returncode == 0, out + err + read[0] + read[1]
    check(raised_in(tmp_path), seen_in(tmp_path / "results/seen.csv"), 4, 2)
