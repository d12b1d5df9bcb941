"""Placement sidecar: servers of another job find the session by its name. They come early, late, again, or not at
all."""

import os
import signal

import pytest
from pairs import few, pairs
from sidecar_support import STATISTICS, Sidecar, check_complete
from support import ANALYSES, VARIABLES, results_of, run

STEPS = 2


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One client, one block, inline."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    files = results_of(done)
    assert len(files) > 10
    return files


def check_same(sidecar, done, clients, reference):
    for account in check_complete(done, clients):
        assert account["delivered"] == account["iterations"] == STEPS and account["absent"] == 0, done.text
    files = results_of(done)
    del files["timings-clients.csv"], files["iterations-clients.csv"]
    assert sorted(files) == sorted(reference)
    for name, content in reference.items():
        assert files[name] == content, f"{name} differs"


@pytest.mark.parametrize(
    ("clients", "per_node", "nodes"),
    few([(5, 2, 2), (2, 1, 0), (5, 3, 0), (1, 3, 0), (1, 1, 0), (3, 2, 0), (8, 2, 0), (3, 1, 2), (8, 1, 3)]),
)
def test_the_same_bytes_as_inline(tmp_path, reference, clients, per_node, nodes):
    pretended = {"pretend_nodes": nodes} if nodes else {}
    with Sidecar(tmp_path, per_node=per_node, **pretended) as sidecar:
        servers = sidecar.serve(per_node * max(1, nodes))
        sidecar.start(clients, f"steps={STEPS}", "blocks=2", "ghosts=1")
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        check_same(sidecar, done, clients, reference)


@pytest.mark.keep(1)
@pytest.mark.parametrize("options", [("in_place=1",), ("empty=1", "blocks=2"), ("blocks=8",)])
def test_the_same_bytes_in_place_without_blocks_and_with_empty_ones(tmp_path, reference, options):
    with Sidecar(tmp_path) as sidecar:
        servers = sidecar.serve()
        sidecar.start(3, f"steps={STEPS}", *options)
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        check_same(sidecar, done, 3, reference)


def test_servers_without_mpirun_and_before_the_simulation(tmp_path, reference):
    with Sidecar(tmp_path) as sidecar:
        servers = sidecar.serve(0)
        sidecar.wait_until(lambda: servers.members("sidestream"))
        sidecar.start(2, f"steps={STEPS}")
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        check_same(sidecar, done, 2, reference)
        assert not sidecar.sockets()


def test_without_servers_iterations_are_refused_and_the_simulation_is_told_once(tmp_path):
    with Sidecar(tmp_path, STATISTICS, attach_limit=0) as sidecar:
        sidecar.start(3, "steps=20")
        done = sidecar.finish()
        for account in check_complete(done, 3):
            assert account["refused"] == account["here"] == 20
        assert done.text.count("no servers are attached") == 1
        assert sidecar.rows() == []
        assert not sidecar.sockets()


@pytest.mark.keep(1)
@pytest.mark.parametrize(("when_full", "nodes"), pairs(["wait", "skip"], [0, 2], strength=1))
def test_servers_that_come_late_get_whole_iterations_from_one_on(tmp_path, when_full, nodes):
    pretended = {"pretend_nodes": nodes} if nodes else {}
    with Sidecar(tmp_path, STATISTICS, attach_limit=0, when_full=when_full, **pretended) as sidecar:
        sidecar.endless(4, "pause_ms=2")
        sidecar.wait_until(lambda: "no servers" in sidecar.simulation.text())
        servers = sidecar.serve(max(1, nodes))
        sidecar.wait_for_rows(20)
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        accounts = check_complete(done, 4)
        for account in accounts:
            assert account["unknown"] == 0 and account["refused"] > 0
            assert account["delivered"] == accounts[0]["delivered"]
        rows = sidecar.rows()
        assert len(rows) == accounts[0]["delivered"]
        if when_full == "wait":
            assert rows == list(range(rows[0], accounts[0]["iterations"]))
            assert accounts[0]["refused"] == rows[0]


@pytest.mark.parametrize("number", few([signal.SIGTERM, signal.SIGINT, signal.SIGUSR1]))
def test_servers_leave_in_order_and_others_go_on(tmp_path, number):
    with Sidecar(tmp_path, STATISTICS, attach_limit=30) as sidecar:
        sidecar.endless(3, "pause_ms=2")
        for _ in range(3):
            servers = sidecar.serve(0)
            sidecar.wait_for_rows(10)
            servers.signal(number)
            assert servers.wait(20) == 0, servers.text()
        done = sidecar.finish()
        accounts = check_complete(done, 3)
        for account in accounts:
            # Servers that left in good order reported the outcome of all iterations.
            assert account["unknown"] == 0
            assert account["delivered"] == accounts[0]["delivered"]
        rows = sidecar.rows()
        assert rows == sorted(set(rows)) and len(rows) == accounts[0]["delivered"]
        assert "left" in done.text and "without leaving" not in done.text


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few([{"per_node": 1, "pretend_nodes": 2}, {"per_node": 2}]))
def test_the_group_leaves_together_when_one_of_it_is_asked(tmp_path, placement):
    with Sidecar(tmp_path, STATISTICS, **placement) as sidecar:
        sidecar.endless(4, "pause_ms=2")
        servers = sidecar.serve(2)
        sidecar.wait_for_rows(10)
        os.kill(servers.members("sidestream")[0], signal.SIGTERM)
        assert servers.wait(20) == 0, servers.text()
        again = sidecar.serve(2)
        sidecar.wait_for_rows(10)
        done = sidecar.finish()
        assert again.wait() == 0, again.text()
        accounts = check_complete(done, 4)
        assert all(a["unknown"] == 0 and a["delivered"] == len(sidecar.rows()) for a in accounts)


def test_other_analyses_may_come_later(tmp_path):
    with Sidecar(tmp_path, STATISTICS, attach_limit=30) as sidecar:
        sidecar.endless(2, "pause_ms=2")
        first = sidecar.serve(0)
        sidecar.wait_for_rows(5)
        first.signal(signal.SIGTERM)
        assert first.wait() == 0
        other = sidecar.write("other.yaml", "analyses:\n  - histogram: {variable: p, component: 1, bins: 5}\n")
        second = sidecar.serve(0, file=other)
        sidecar.wait_until(lambda: len(sidecar.rows("histogram.csv")) >= 25)
        done = sidecar.finish()
        assert second.wait() == 0, second.text()
        check_complete(done, 2)
        assert min(sidecar.rows("histogram.csv")) > max(sidecar.rows())


# ---- Sentences ----------------------------------------------------------------------------------------------------


@pytest.mark.test_all
def test_a_session_that_is_not_there(tmp_path):
    with Sidecar(tmp_path, STATISTICS) as sidecar:
        servers = sidecar.serve(2, "--wait", "0.5", file=sidecar.write("two.yaml", STATISTICS, per_node=2))
        assert servers.wait(20) != 0
        assert servers.text().count("sidestream serve:") == 1
        assert sidecar.session in servers.text() and "placement.session" in servers.text()


def test_servers_with_a_misspelt_option_do_not_wait_for_the_simulation(tmp_path):
    with Sidecar(tmp_path, "analyses:\n  - histogram: {variable: t, binz: 3}\n") as sidecar:
        servers = sidecar.serve(0, "--wait", "300")
        assert servers.wait(100) == 1
        assert "found the unknown option 'binz' of the analysis 'histogram'" in servers.text(), servers.text()


@pytest.mark.test_all
def test_a_second_group_is_turned_away_and_disturbs_nobody(tmp_path):
    with Sidecar(tmp_path, STATISTICS) as sidecar:
        sidecar.endless(2, "pause_ms=2")
        first = sidecar.serve(0)
        sidecar.wait_for_rows(5)
        second = sidecar.serve(0)
        assert second.wait() == 1
        assert "other servers are attached" in second.text()
        sidecar.wait_for_rows(5)
        done = sidecar.finish()
        assert first.wait() == 0, first.text()
        assert all(a["delivered"] == a["iterations"] for a in check_complete(done, 2))


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("tasks", "variables", "placement", "processes", "words"),
    [
        (STATISTICS, ("unit: K", "unit: degC"), {}, 0, ["wrong.yaml", "run.yaml", "differ"]),
        (STATISTICS, ("  p: {mesh: grid,", "  q: {mesh: grid,"), {}, 0, ["differ"]),
        ("analyses:\n  - statistics: {variable: t, on: flood}\n", ("", ""), {}, 0, ["flood", "events"]),
        (STATISTICS, ("", ""), {"per_node": 2}, 2, ["per_node"]),
        (STATISTICS, ("", ""), {}, 2, ["2 server processes", "expected 1", "per_node"]),
        ("analyses:\n  - statistic: {variable: t}\n", ("", ""), {}, 0, ["statistics"]),
    ],
)
def test_servers_that_do_not_fit_get_a_sentence(tmp_path, tasks, variables, placement, processes, words):
    with Sidecar(tmp_path, STATISTICS) as sidecar:
        sidecar.start(2, "steps=3")
        wrong = sidecar.write("wrong.yaml", tasks, VARIABLES.replace(*variables), **placement)
        servers = sidecar.serve(processes, file=wrong)
        assert servers.wait() != 0
        assert servers.text().count("sidestream serve:") == 1, servers.text()
        for word in words:
            assert word in servers.text()
        # After that the right servers find the places free.
        right = sidecar.serve(0)
        done = sidecar.finish()
        assert right.wait() == 0, right.text()
        assert all(a["delivered"] == 3 for a in check_complete(done, 2))


@pytest.mark.test_all
def test_servers_on_fewer_nodes_than_the_simulation(tmp_path):
    with Sidecar(tmp_path, STATISTICS, pretend_nodes=2) as sidecar:
        sidecar.start(2, "steps=3")
        few = sidecar.serve(1, file=sidecar.write("few.yaml", STATISTICS, pretend_nodes=1))
        assert few.wait() != 0
        assert "runs on 2 nodes" in few.text(), few.text()
        right = sidecar.serve(2)
        assert right.wait() == 0, right.text()
        assert all(a["delivered"] == 3 for a in check_complete(sidecar.finish(), 2))


@pytest.mark.test_all
def test_two_simulations_with_one_name(tmp_path):
    with Sidecar(tmp_path, STATISTICS, attach_limit=0) as sidecar:
        first = sidecar.endless(2, "pause_ms=5")
        sidecar.wait_until(lambda: "no servers" in first.text())
        elsewhere = tmp_path / "elsewhere.yaml"
        elsewhere.write_text(sidecar.file.read_text().replace(str(sidecar.results), str(tmp_path / "elsewhere")))
        command = [str(elsewhere) if word == str(sidecar.file) else word for word in first.process.args]
        second = sidecar.job(command, "second")
        assert second.wait() != 0
        errors = [line for line in second.text().splitlines() if line.startswith("error ")]
        assert len(errors) == 2 and len(set(errors)) == 1, second.text()
        assert sidecar.session in errors[0] and "placement.session" in errors[0]
        assert sidecar.finish().status == 0


@pytest.mark.test_all
def test_the_earlier_run_is_not_overwritten(tmp_path):
    with Sidecar(tmp_path, STATISTICS, extra="", attach_limit=10) as sidecar:
        servers = sidecar.serve()
        sidecar.start(2, "steps=2")
        assert sidecar.finish().status == 0 and servers.wait() == 0
        again = sidecar.start(2, "steps=2")
        assert again.wait() != 0 and "earlier run" in again.text()


def test_records_of_both_sides(tmp_path):
    with Sidecar(tmp_path, ANALYSES) as sidecar:
        servers = sidecar.serve()
        sidecar.start(2, "steps=4")
        done = sidecar.finish()
        assert servers.wait() == 0
        clients = (done.results / "timings-clients.csv").read_text().splitlines()
        assert {tuple(r.split(",")[:3]) for r in clients[1:]} == {
            (str(c), "client", str(i)) for c in range(2) for i in range(4)
        }
        analysed = [r.split(",") for r in (done.results / "timings.csv").read_text().splitlines()[1:]]
        assert {int(r[2]) for r in analysed if r[8] == "statistics"} == {0, 1, 2, 3}
        for name in ("run.yaml", "run-clients.yaml"):
            assert "delivered: 4" in (done.results / name).read_text()


@pytest.mark.test_all
def test_servers_do_not_wait_for_a_simulation_that_fails_before_its_start(tmp_path):
    with Sidecar(tmp_path, STATISTICS, per_node=2) as sidecar:
        servers = sidecar.serve(2, "--wait", "100")
        sidecar.wait_until(lambda: "waiting for the simulation of the session" in servers.text())
        wrong = sidecar.write("wrong.yaml", "analyses:\n  - statistics: {variable: nothing}\n")
        assert sidecar.start(2, file=wrong).wait() == 1
        assert servers.wait() == 1
        assert servers.text().count("has ended before it started") == 1, servers.text()


def test_servers_say_what_they_wait_for_and_how_it_ended(tmp_path):
    with Sidecar(tmp_path, STATISTICS) as sidecar:
        servers = sidecar.serve(1, "--wait", "100")
        sidecar.wait_until(lambda: "at most 100 s" in servers.text())
        assert sidecar.start(2, "steps=3").wait() == 0, sidecar.simulation.text()
        assert servers.wait() == 0, servers.text()
        said = servers.text().splitlines()
        assert len([line for line in said if "waiting for the simulation" in line]) == 1, said
        closing = (
            f"served the session '{sidecar.session}': 3 iterations delivered, 0 failed, 0 refused; results are in "
        )
        assert [line for line in said if closing in line and str(sidecar.results) in line], said
