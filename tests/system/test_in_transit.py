"""Placement `nodes`: the ranks that serve, the ways in which data leave clients, and that only needed data move."""

import csv
import os
import re
import signal
import socket
import time

import numpy as np
import pytest
from pairs import few, pairs
from support import TCP, rank_of, run, started, wait_for
from test_placements import STEPS, check, reference  # noqa: F401 (a fixture)

STATISTICS = "analyses: [{statistics: {variable: t}}]\n"

WAYS = {
    "calls": "{mode: nodes, servers: 2, progress: calls, buffer: 8 MiB}",
    "thread": "{mode: nodes, servers: 2, progress: thread, buffer: 8 MiB}",
    "forwarders": "{mode: nodes, servers: 2, forward: blocks, per_node: 1, buffer: 8 MiB}",
    "forwarders on nodes": "{mode: nodes, ranks: [0, 5], forward: blocks, pretend_nodes: 2, buffer: 8 MiB}",
    "ranks": "{mode: nodes, ranks: [2, 0], buffer: 8 MiB}",
    "whole nodes": "{mode: nodes, whole_nodes: 1, pretend_nodes: 3, buffer: 8 MiB}",
    "partials": "{mode: nodes, servers: 2, forward: partials, per_node: 1, buffer: 8 MiB}",
    "partials on nodes": "{mode: nodes, ranks: [0, 5], forward: partials, pretend_nodes: 2, buffer: 8 MiB}",
    "more servers than forwarders": "{mode: nodes, servers: 3, forward: partials, per_node: 1, buffer: 8 MiB}",
}
EXTRA = {
    "forwarders": 3,
    "forwarders on nodes": 4,
    "partials": 3,
    "partials on nodes": 4,
    "more servers than forwarders": 4,
}


@pytest.mark.keep(1)
@pytest.mark.parametrize(("way", "clients"), pairs(WAYS, [1, 3, 5], strength=1))
def test_the_same_results_whatever_the_way(tmp_path, reference, way, clients):  # noqa: F811
    if "nodes" in way:
        clients += 1  # whole nodes: 6 ranks on 3 nodes
    ranks = {"whole nodes": clients // 2 * 3}.get(way, clients + EXTRA.get(way, 2))
    done = run(tmp_path, ranks, WAYS[way], options=[f"steps={STEPS}", "blocks=3", "ghosts=1"])
    check(done, clients, reference)


PARTITIONERS = [
    "{stripe: {width: 2}}",
    "{balanced: {by: bytes}}",
    "{balanced: {by: cost}}",
    "local",
    "{replicated: {copies: 2}}",
    "{regrid: {shape: slabs, axis: x}}",
    "{regrid: {shape: pencils, axis: z}}",
    "{regrid: {shape: bricks}}",
]


@pytest.mark.keep(2)
@pytest.mark.parametrize(("partitioner", "clients", "servers"), pairs(PARTITIONERS, [(3, 2), (2, 3)], strength=1))
def test_the_same_results_whatever_the_partitioner(tmp_path, reference, partitioner, clients, servers):  # noqa: F811
    placement = f"{{mode: nodes, servers: {servers}, partitioner: {partitioner}, buffer: 8 MiB}}"
    done = run(tmp_path, clients + servers, placement, options=[f"steps={STEPS}", "blocks=3", "ghosts=1"])
    check(done, clients, reference)


@pytest.mark.keep(1)
@pytest.mark.parametrize("way", few(["calls", "partials", "thread", "forwarders"], keep=2))
def test_over_tcp(tmp_path, reference, way):  # noqa: F811
    # Without shared memory MPICH takes every rank for a node of its own.
    placement = WAYS[way].replace("per_node: 1", "per_node: 1, pretend_nodes: 1")
    options = [f"steps={STEPS}", "blocks=2"]
    done = run(tmp_path, 3 + EXTRA.get(way, 2), placement, options=options, environment=TCP)
    check(done, 3, reference)


@pytest.mark.test_all
def test_without_threads_values_are_pushed(tmp_path, reference):  # noqa: F811
    done = run(
        tmp_path,
        5,
        "{mode: nodes, servers: 2, buffer: 8 MiB}",
        options=[f"steps={STEPS}", "blocks=2"],
        environment={"FIELD_PROGRAM_THREADS": "single"},
    )
    check(done, 3, reference)
    done = run(
        tmp_path,
        3,
        "{mode: nodes, buffer: 32 MiB, servers: 1, progress: thread}",
        options=["steps=1"],
        environment={"FIELD_PROGRAM_THREADS": "single"},
    )
    assert done.status != 0
    assert "MPI_THREAD_MULTIPLE" in done.text


# ---- Who serves and where -------------------------------------------------------------------------------------------


def test_servers_are_bound_to_the_cores_that_are_named(tmp_path):
    core = max(os.sched_getaffinity(0))
    placement = f"{{mode: nodes, buffer: 32 MiB, servers: 1, bind: [{core}]}}"
    with started(tmp_path, 3, placement, STATISTICS, options=["steps=20", "pause_ms=50"]) as process:
        affinity = {rank: os.sched_getaffinity(rank_of(process, rank)) for rank in (0, 1, 2)}
        done = process.finish()
    assert done.status == 0, done.text
    assert affinity[2] == {core}
    assert affinity[0] == affinity[1] == os.sched_getaffinity(0)
    assert f"1 server: rank 2 ({socket.gethostname()} core {core})" in done.text


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there are no two cores: NOT TESTED")
def test_a_server_and_a_forwarder_of_one_node_get_cores_of_their_own(tmp_path):
    first, second = sorted(os.sched_getaffinity(0))[:2]
    placement = f"{{mode: nodes, servers: 1, buffer: 32 MiB, forward: blocks, per_node: 1, bind: [{first}, {second}]}}"
    done = run(tmp_path, 4, placement, STATISTICS, options=["steps=2"], alone=True)  # ranks stay bound
    assert done.status == 0, done.text
    host = socket.gethostname()
    told = re.search(
        rf"1 server: rank (\d) \({host} core (\d+)\); 1 forwarder: rank (\d) \({host} core (\d+)\)", done.text
    )
    assert told, done.text
    cores = {int(told[1]): int(told[2]), int(told[3]): int(told[4])}
    assert [cores[rank] for rank in sorted(cores)] == [first, second]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="on one core everything is bound: NOT TESTED")
def test_no_core_is_named_for_servers_that_may_run_on_any(tmp_path):
    done = run(tmp_path, 3, "{mode: nodes, buffer: 32 MiB, servers: 1}", STATISTICS, options=["steps=2"])
    assert done.status == 0, done.text
    assert f"1 server: rank 2 ({socket.gethostname()})" in done.text


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("bind: [100000]", "names core 100000"),
        ("ranks: [0, 0]", "names a rank twice"),
        ("ranks: [0, 7]", "names rank 7"),
        ("whole_nodes: 1", "leave at least one for the simulation"),
        ("servers: 1, per_node: 2, forward: blocks", "leave at least one rank for the simulation"),
        ("partitioner: {mapped: {servers: [0, 5]}}", "found the server 5"),
    ],
)
def test_what_does_not_fit_is_said_at_the_start(tmp_path, option, sentence):
    done = run(tmp_path, 3, f"{{mode: nodes, buffer: 32 MiB, {option}}}", STATISTICS, options=["steps=1"])
    assert done.status != 0
    assert sentence in done.text
    assert "run.yaml:1:" in done.text
    assert not done.accounts


def test_a_partitioner_that_wants_costs_gets_them(tmp_path):
    done = run(
        tmp_path,
        5,
        "{mode: nodes, buffer: 32 MiB, servers: 2, partitioner: costed}",
        STATISTICS,
        ["steps=4", "blocks=2"],
    )
    assert done.status == 0, done.text
    assert "without a cost" not in done.text
    assert all(account["delivered"] == 4 for account in done.accounts), done.text
    rows = [r for r in movement(done) if r["role"] == "server" and r["bytes"] > 0]
    assert {r["rank"] for r in rows} == {4}  # by the partitioner's plan
    assert len(rows) == 4


# ---- A server that stands still -------------------------------------------------------------------------------------


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("way", "when_full"), few(["thread", "calls", "forwarders", "partials"], ["wait", "skip"], keep=2)
)
def test_a_server_that_is_stopped_for_a_while(tmp_path, way, when_full):
    """The server is stopped, not dead. With wait the run takes longer, with skip iterations are refused. The account
    has all iterations."""
    limits = f", when_full: {when_full}, max_in_flight: 2}}"
    placement = WAYS[way].replace("servers: 2", "servers: 1").replace("}", limits)
    ranks = 2 + EXTRA.get(way, 2) - 1
    until, table = tmp_path / "until", tmp_path / "results" / "statistics.csv"

    def rows():
        return len(table.read_text().splitlines()) if table.exists() else 0

    options = ["steps=100000000", "pause_ms=20", f"until={until}"]
    with started(tmp_path, ranks, placement, STATISTICS, options) as process:
        server = rank_of(process, ranks - 1)
        wait_for(lambda: rows() > 3, "rows")
        os.kill(server, signal.SIGSTOP)
        time.sleep(1)
        os.kill(server, signal.SIGCONT)
        more = rows() + 5  # the server may need a long time for this
        wait_for(lambda: rows() > more, "rows")
        until.touch()
        done = process.finish()
    assert done.status == 0, done.text
    assert len(done.accounts) == 2
    iterations = done.accounts[0]["iterations"]
    for account in done.accounts:
        assert account["iterations"] == iterations > 8
        assert account["delivered"] + account["refused"] == iterations
        assert account["unknown"] == account["failed"] == 0
        assert (account["refused"] == 0) == (when_full == "wait"), done.text


# ---- What moves -----------------------------------------------------------------------------------------------------


def movement(done):
    """Rows of movement.csv."""
    with (done.results / "movement.csv").open() as file:
        return [{k: v if k == "role" else int(v) for k, v in row.items()} for row in csv.DictReader(file)]


def slabs(clients, blocks, n):
    """The k-slabs of field_program, in the order of clients and ids (ids run against position)."""
    count = clients * blocks
    order = []
    for client in range(clients):
        mine = [(count - 1 - b, client, n * b // count, n * (b + 1) // count) for b in range(count)]
        order += sorted(
            m for m in mine if m[0] in [count - 1 - b for b in range(client * blocks, (client + 1) * blocks)]
        )
    return order


def field(n, time):
    """The values of t from field_program. NumPy may differ in the last bit, but the limits of ranges are not that
    close."""
    x, y, z = (np.arange(n)[:, None, None] + 0.5) / n, (np.arange(n)[None, :, None] + 0.5) / n, (np.arange(n) + 0.5) / n
    return np.sin(6.3 * x + time) * np.cos(4.1 * y) + 0.7 * np.sin(5.2 * z[None, None, :] - 0.5 * time) + 0.1 * x * y


def expected(needed, order, servers, halo, n):
    """Bytes of blocks and of layers by server, if each gets a contiguous part of the needed blocks."""
    active = [slab for slab in order if slab[0] in needed]
    share, more = divmod(len(active), servers)
    result, at = [], 0
    for server in range(servers):
        mine = active[at : at + share + (server < more)]
        at += len(mine)
        own = {k for _, _, lo, hi in mine for k in range(lo, hi)}
        reach = {k for _, _, lo, hi in mine for k in range(max(0, lo - halo), min(n, hi + halo))}
        result.append((len(mine), len(own) * n * n * 8, len(reach - own) * n * n * 8))
    return result


def compare(done, steps, servers, expect):
    """Counters of servers equal a count by brute force in each iteration, and those of clients have the same sum."""
    rows = movement(done)
    for step in range(steps):
        here = [r for r in rows if r["iteration"] == step and r["role"] == "server"]
        found = [(r["blocks"], r["bytes"], r["layer_bytes"]) for r in sorted(here, key=lambda r: r["rank"])]
        assert (found or [(0, 0, 0)] * servers) == expect(step), step
        sent = sum(r["bytes"] for r in rows if r["iteration"] == step and r["role"] != "server")
        assert sent == sum(b + layers for _, b, layers in expect(step))


CASES = [(3, 3, 2), (1, 4, 1), (8, 2, 1), (5, 2, 3)]


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("clients", "blocks", "servers", "forward"),
    few(CASES, ["none", "blocks"], kept=[(3, 3, 2, "none"), (5, 2, 3, "blocks")]),
)
def test_a_slice_moves_the_blocks_it_cuts(tmp_path, clients, blocks, servers, forward):
    n, steps = 24, 2
    task = "analyses: [{slice: {variable: t, axis: z, position: 0.4}}]\n"
    forwarders = 1 if forward == "blocks" else 0
    done = run(
        tmp_path,
        clients + servers + forwarders,
        f"{{mode: nodes, buffer: 32 MiB, servers: {servers}, forward: {forward}}}",
        task,
        options=[f"grid={n}", f"steps={steps}", f"blocks={blocks}", "ghosts=2"],
    )
    assert done.status == 0, done.text
    order = slabs(clients, blocks, n)
    h = 1 / n
    # A slab reaches from its first cell centre to that of the next slab. At the ends of the mesh it reaches to the
    # faces.
    spans = {i: ((lo + 0.5) * h if lo else 0, (hi + 0.5) * h if hi < n else 1) for i, _, lo, hi in order if hi > lo}
    needed = {i for i, (low, high) in spans.items() if low <= 0.4 <= high}
    assert 1 <= len(needed) <= 2
    compare(done, steps, servers, lambda step: expected(needed, order, servers, 1, n))


@pytest.mark.keep(1)
@pytest.mark.parametrize(("clients", "blocks", "servers"), CASES)
def test_an_isosurface_moves_the_blocks_that_bracket_its_values(tmp_path, clients, blocks, servers):
    n, steps, values = 24, 3, [1.5, 1.6]
    task = f"analyses: [{{isosurface: {{variable: t, values: {values}, normals: false}}}}]\n"
    done = run(
        tmp_path,
        clients + servers,
        f"{{mode: nodes, buffer: 32 MiB, servers: {servers}}}",
        task,
        options=[f"grid={n}", f"steps={steps}", f"blocks={blocks}", "ghosts=1"],
    )
    assert done.status == 0, done.text
    order = slabs(clients, blocks, n)

    def expect(step):
        t = field(n, 0.1 * step)
        needed = set()
        for i, _, lo, hi in order:
            part = t[:, :, lo : min(hi + 1, n)]
            if hi > lo and any(part.min() < v <= part.max() for v in values):
                needed.add(i)
        assert 0 < len(needed) < len(order) or clients * blocks < 6
        return expected(needed, order, servers, 1, n)

    compare(done, steps, servers, expect)


def test_nothing_moves_where_nothing_is_needed(tmp_path):
    task = "analyses: [{isosurface: {variable: t, values: [99]}}, {statistics: {variable: t, every: 2}}]\n"
    done = run(tmp_path, 4, "{mode: nodes, buffer: 32 MiB, servers: 2}", task, options=["steps=4", "blocks=2"])
    assert done.status == 0, done.text
    by_step = {
        step: sum(r["bytes"] for r in movement(done) if r["iteration"] == step and r["role"] == "server")
        for step in range(4)
    }
    whole = 20**3 * 8
    assert by_step == {0: whole, 1: 0, 2: whole, 3: 0}


def test_move_all_moves_what_analyses_read_and_no_more(tmp_path):
    task = "analyses: [{slice: {variable: t, axis: z, position: 0.4}}]\n"
    done = run(
        tmp_path, 4, "{mode: nodes, buffer: 32 MiB, servers: 2, move: all}", task, options=["steps=1", "blocks=2"]
    )
    assert done.status == 0, done.text
    assert sum(r["bytes"] for r in movement(done) if r["role"] == "server") == 20**3 * 8  # only t, not p
