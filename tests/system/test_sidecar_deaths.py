"""Placement sidecar: servers and simulations are stopped, or killed many times at random moments."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from pairs import few
from sidecar_support import STATISTICS, Sidecar, check_complete, shared_memory_users
from support import STOPPED, send

# Kills for each value of when_full; use hundreds to search for a bug.
KILLS = int(os.environ.get("SIDESTREAM_KILLS", "40" if os.environ.get("SIDESTREAM_TEST_ALL") == "1" else "8"))


def descriptors(pid):
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def resident_kib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} has no VmRSS")


def held(sidecar):
    """Memory in KiB and descriptors of each client."""
    return {pid: (resident_kib(pid), descriptors(pid)) for pid in sidecar.simulation.members("field_program")}


def check_nothing_is_left(sidecar, clients):
    assert not sidecar.sockets()
    assert not set(clients) & set(shared_memory_users())


@pytest.mark.parametrize("when_full", few(["skip", "wait"]))
def test_servers_killed_at_random_times(tmp_path, when_full):
    chance, in_flight = random.Random(when_full), 4
    placement = {"when_full": when_full, "buffer": "600 KiB", "max_in_flight": in_flight}
    with Sidecar(tmp_path, STATISTICS, **placement) as sidecar:
        sidecar.endless(2, "pause_ms=1")
        steady, killed, killed_before = {}, 0, 0
        for kill in range(KILLS):
            servers = sidecar.serve(0)
            if kill % 4 == 0:
                sidecar.wait_for_rows(1 + chance.randrange(10))
            if kill == KILLS // 8 * 4:
                steady, killed_before = held(sidecar), killed
            time.sleep(chance.random() * 0.25)
            # Sometimes the next group comes before this one has gone.
            ahead = sidecar.serve(0) if kill % 4 == 3 else None
            for group in filter(None, [servers, ahead]):
                if group is ahead:
                    time.sleep(chance.random() * 0.4)
                os.kill(group.process.pid, signal.SIGKILL)
                assert group.wait(10) == -signal.SIGKILL, group.text()
                killed += 1
            assert sidecar.simulation.process.poll() is None, sidecar.simulation.text()
        last = sidecar.serve(0)
        sidecar.wait_for_rows(20)
        now, since = held(sidecar), killed - killed_before
        assert set(now) == set(steady) and since >= 4
        for pid, (memory, files) in now.items():
            # Each dead group may cost less than half of a buffer and less than one descriptor. Kept timings grow, too.
            assert memory < steady[pid][0] + 1024 + 300 * since
            assert files < steady[pid][1] + since
        done = sidecar.finish()
        assert last.wait() == 0, last.text()
        accounts = check_complete(done, 2)
        for account in accounts:
            assert account["delivered"] >= 20  # at least those of the last group
            assert account["refused"] > 0
            # At most the iterations in flight at each death.
            assert account["unknown"] <= in_flight * killed
        rows = sidecar.rows()
        assert rows == sorted(set(rows))
        # A row may be of an iteration whose outcome the server could not announce before it died, never of a refused
        # one.
        most = accounts[0]
        assert most["delivered"] <= len(rows) <= most["delivered"] + most["unknown"]
        check_nothing_is_left(sidecar, sidecar.simulation.members("field_program"))


@pytest.mark.test_all
@pytest.mark.parametrize("placement", [{"per_node": 2}, {"per_node": 1, "pretend_nodes": 2}])
def test_one_of_a_group_is_killed(tmp_path, placement):
    chance = random.Random(5)
    with Sidecar(tmp_path, STATISTICS, **placement) as sidecar:
        sidecar.endless(3, "pause_ms=1")
        for _ in range(12):
            servers = sidecar.serve(2, "--wait", "20")
            if chance.random() < 0.7:
                sidecar.wait_for_rows(3)
            time.sleep(chance.random() * 0.2)
            members = servers.members("sidestream")
            if members:
                send(chance.choice(members), signal.SIGKILL)
            if not members:
                servers.process.kill()
            servers.wait(20)
            assert sidecar.simulation.process.poll() is None, sidecar.simulation.text()
        last = sidecar.serve(2)
        sidecar.wait_for_rows(10)
        done = sidecar.finish()
        assert last.wait() == 0, last.text()
        check_complete(done, 3)
        check_nothing_is_left(sidecar, [])


@pytest.mark.test_all
def test_clients_that_wait_are_freed_when_their_servers_die(tmp_path):
    """Clients wait for a stopped server, which is only slow, but not for a killed one."""
    with Sidecar(tmp_path, STATISTICS, when_full="wait", buffer="600 KiB") as sidecar:
        sidecar.endless(2)
        servers = sidecar.serve(0)
        sidecar.wait_for_rows(5)
        servers.signal(signal.SIGSTOP)
        time.sleep(1)
        assert "have ended" not in sidecar.simulation.text()
        servers.signal(signal.SIGKILL)
        servers.wait(10)
        sidecar.wait_until(lambda: "have ended" in sidecar.simulation.text(), 10)
        done = sidecar.finish()
        for account in check_complete(done, 2):
            assert account["refused"] > 0


@pytest.mark.test_all
@pytest.mark.parametrize("when_full", ["wait", "skip"])
def test_servers_that_are_stopped_for_a_while(tmp_path, when_full):
    with Sidecar(tmp_path, STATISTICS, when_full=when_full, buffer="600 KiB") as sidecar:
        sidecar.endless(2, "pause_ms=2")
        servers = sidecar.serve(0)
        sidecar.wait_for_rows(5)
        servers.signal(signal.SIGSTOP)
        time.sleep(STOPPED)
        servers.signal(signal.SIGCONT)
        sidecar.wait_for_rows(5)
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        accounts = check_complete(done, 2)
        for account in accounts:
            assert account["unknown"] == 0
            assert account["delivered"] == accounts[0]["delivered"] == len(sidecar.rows())
            assert (account["refused"] > 0) == (when_full == "skip")


@pytest.mark.test_all
@pytest.mark.parametrize("everybody", [True, False])
@pytest.mark.parametrize("nodes", [1, 2])
def test_the_simulation_is_killed(tmp_path, everybody, nodes):
    with Sidecar(tmp_path, STATISTICS, pretend_nodes=nodes) as sidecar:
        sidecar.endless(4, "pause_ms=2")
        servers = sidecar.serve(nodes)
        sidecar.wait_for_rows(10)
        ranks = sidecar.simulation.members("field_program")
        for pid in ranks if everybody else ranks[-1:]:
            send(pid, signal.SIGKILL)
        assert servers.wait() != 0
        assert servers.text().count("ended without closing") == 1, servers.text()
        rows = sidecar.rows()
        assert rows == list(range(len(rows))) and len(rows) >= 10
        assert "account" in (sidecar.results / "run.yaml").read_text()
        sidecar.simulation.wait()
        check_nothing_is_left(sidecar, ranks)


@pytest.mark.test_all
def test_both_are_killed_and_nothing_is_left(tmp_path):
    before = set(Path("/dev/shm").iterdir())
    with Sidecar(tmp_path, STATISTICS) as sidecar:
        sidecar.endless(2, "pause_ms=2")
        servers = sidecar.serve(0)
        sidecar.wait_for_rows(5)
        ranks = sidecar.simulation.members("field_program")
        assert sidecar.sockets() and set(ranks) <= set(shared_memory_users())
        for pid in [*ranks, servers.process.pid]:
            send(pid, signal.SIGKILL)
        servers.wait(10)
        sidecar.simulation.wait()
        sidecar.wait_until(lambda: not sidecar.sockets(), 10)
        check_nothing_is_left(sidecar, [*ranks, servers.process.pid])
        left = {file.name for file in set(Path("/dev/shm").iterdir()) - before}
        others = ("sidestream-test-", "sidestream-fuzz-")  # folders of tests that run at the same time
        assert not [name for name in left if "sidestream" in name and not name.startswith(others)]


@pytest.mark.test_all
def test_the_simulation_learns_of_a_death_from_its_calls(tmp_path):
    """With `on_error: stop` the call that ends an iteration reports it once, and the simulation decides."""
    with Sidecar(tmp_path, STATISTICS, extra="on_error: stop\n") as sidecar:
        sidecar.start(2, "steps=1000000", "pause_ms=2")
        servers = sidecar.serve(0)
        sidecar.wait_for_rows(5)
        servers.signal(signal.SIGKILL)
        assert sidecar.simulation.wait() != 0
        assert "have ended without leaving" in sidecar.simulation.text()
