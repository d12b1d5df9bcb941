"""Servers in groups: deaths in every phase, a failing group of a sidecar, and processes that pause at random."""

import os
import random
import signal
import time

import pytest
from pairs import few, pairs
from programs import built
from sidecar_support import Sidecar, check_complete
from support import check_delivered, rank_of, ranks_of, results_of, run, send, started, wait_for
from test_groups import TASKS, in_groups

PLUGIN = f"plugins: [{built('SIDESTREAM_MISBEHAVING_PLUGIN')}]\n"
SLICE = '  - slice: {{name: {0}, variable: t, axis: x, position: {1}, file: "{0}-{{index:05}}.vtp", group: {0}}}\n'
BOTH = SLICE.format("a", 0.5) + SLICE.format("b", 0.3)
STEPS = 12

# By placement: the ranks, 6 or 7 with forwarders, and which is a client, a server of group a, and one of group b.
PLACEMENTS = {
    "nodes": ("mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 2}", 6, {"client": 1, "a": 3, "b": 5}),
    "cores": ("mode: cores, buffer: 32 MiB, groups: {a: 1, b: 2}", 6, {"client": 1, "a": 3, "b": 4}),
    "blocks": (
        "mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 1}, forward: blocks",
        6,
        {"client": 1, "forwarder": 3, "a": 4, "b": 5},
    ),
    "partials": (
        "mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 1}, forward: partials",
        7,
        {"client": 1, "forwarder of a": 3, "forwarder of b": 4, "a": 5, "b": 6},
    ),
}


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory):
    """The results of both groups, from an inline run."""
    done = run(tmp_path_factory.mktemp("one"), 1, "inline", tasks=f"analyses:\n{BOTH}", options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    return results_of(done, endings=(".vtp",))


PHASES = ["a is ahead", "b is ahead", "nothing is settled", "one is not begun"]
VICTIMS = [(mode, victim) for mode, (_, _, victims) in PLACEMENTS.items() for victim in victims]
FIRST = [("b is ahead", "cores", "b")]  # a server of the second group


@pytest.mark.parametrize(("phase", "mode", "victim"), few(PHASES, VICTIMS, kept=FIRST))
def test_a_death_in_each_phase(tmp_path, surfaces, mode, victim, phase):
    """The death ends the job soon, as that of any rank. Results that either group had committed stay and are right."""
    head, ranks, victims = PLACEMENTS[mode]
    never, results = tmp_path / "never", tmp_path / "results"

    def standing(group, at):
        return f"  - await: {{name: {group}-stands, variable: t, at: {at}, path: {never}, group: {group}}}\n"

    first, second = SLICE.format("a", 0.5), SLICE.format("b", 0.3)
    # The group that waits, the iteration, and the last file before nothing more happens.
    tasks, last = {
        "nothing is settled": (standing("a", 0) + standing("b", 0) + first + second, "run.yaml"),
        "a is ahead": (standing("b", 1) + first + second, "a-00004.vtp"),
        "b is ahead": (standing("a", 1) + first + second, "b-00004.vtp"),
        "one is not begun": (standing("b", 0) + first + second, "a-00003.vtp"),
    }[phase]
    with started(
        tmp_path, ranks, f"{{{head}, max_in_flight: 4}}", tasks=f"analyses:\n{tasks}", options=[f"steps={STEPS}"]
    ) as going:
        wait_for(lambda: (results / last).exists(), last)
        if phase == "nothing is settled":
            time.sleep(0.3)
        os.kill(rank_of(going, victims[victim]), signal.SIGKILL)
        done = going.finish()
    assert done.status != 0
    found = {path.name: path.read_bytes() for path in results.glob("*.vtp")}
    assert all(surfaces[name] == content for name, content in found.items())
    ahead, behind = ("b", "a") if phase == "b is ahead" else ("a", "b")
    assert len([name for name in found if name.startswith(ahead)]) >= (0 if phase == "nothing is settled" else 4)
    assert len([name for name in found if name.startswith(behind)]) == int(phase.endswith("ahead"))


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "group", "on_error"), pairs(PLACEMENTS, "ab", ["report", "stop"]))
def test_on_error_hears_of_either_group(tmp_path, placement, group, on_error):
    """Either group may fail: with `stop` the next call tells it, with `report` the account."""
    head, ranks, _ = PLACEMENTS[placement]
    tasks = f"analyses:\n{BOTH}  - fail: {{variable: t, at: 1, group: {group}}}\n"
    done = run(
        tmp_path,
        ranks,
        f"{{{head}, max_in_flight: 2}}",
        tasks=tasks,
        options=[f"steps={STEPS}"],
        extra=f"on_error: {on_error}\noutput: {{directory: {tmp_path / 'results'}}}\n",
    )
    if on_error == "stop":
        assert done.status != 0
        assert any("planned failure" in line for line in done.errors), done.text
        return
    assert done.status == 0, done.text
    assert all(account["delivered"] == STEPS and account["failed"] == 1 for account in done.accounts), done.text
    assert len(list(done.results.glob("*.vtp"))) == 2 * STEPS


TWO_TABLES = """\
analyses:
  - statistics: {variable: t, group: a}
  - statistics: {name: other, variable: t, file: other.csv, group: b}
"""


@pytest.mark.test_all
@pytest.mark.parametrize("how", ["kill", "exit", "abort"])
@pytest.mark.parametrize("group", ["a", "b"])
@pytest.mark.parametrize("when_full", ["wait", "skip"])
def test_one_group_of_a_sidecar_fails(tmp_path, how, group, when_full):
    """A group fails during an iteration. The servers of both groups end, and the next servers go on with both."""
    with Sidecar(tmp_path, TWO_TABLES, extra=PLUGIN, groups="{a: 1, b: 1}", when_full=when_full) as sidecar:
        wrong = f"  - misbehave: {{variable: t, how: {how}, at: 5, group: {group}}}\n"
        bad = sidecar.write("bad.yaml", TWO_TABLES + wrong)
        servers = sidecar.serve(2, file=bad)
        sidecar.endless(2, "pause_ms=10")
        assert servers.wait() != 0 or how == "exit"
        assert sidecar.simulation.process.poll() is None, sidecar.simulation.text()
        after = sidecar.serve(2)
        sidecar.wait_for_rows(8)
        done = sidecar.finish()
        assert after.wait() == 0, after.text()
        tables = {"a": sidecar.rows(), "b": sidecar.rows("other.csv")}
        for account in check_complete(done, 2):
            both = set(tables["a"]) & set(tables["b"])
            assert len(both) >= account["delivered"] >= len(both) - account["unknown"], done.text
            assert account["unknown"] <= 8
        for rows in tables.values():
            assert rows == sorted(set(rows))
        # The group's committed results stay; the other group may have been behind.
        assert set(tables[group]) >= set(range(5))
        assert "about to" in servers.text()


@pytest.mark.test_all
@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("killed", ["the one that stands still", "the one that is ahead"])
@pytest.mark.parametrize("on_error", ["report", "stop"])
def test_a_sidecar_server_is_killed_while_one_group_is_ahead(tmp_path, victim, killed, on_error):
    extra = f"on_error: {on_error}\n"
    with Sidecar(tmp_path, TWO_TABLES, extra=extra, groups="{a: 1, b: 1}", max_in_flight=4) as sidecar:
        servers = sidecar.serve(2)
        sidecar.endless(2, "pause_ms=2")
        sidecar.wait_for_rows(6)
        members = sorted(servers.members("sidestream"))
        os.kill(members[victim], signal.SIGSTOP)
        time.sleep(0.5)  # the other group goes on for four iterations
        os.kill(members[victim if killed.endswith("still") else 1 - victim], signal.SIGKILL)
        send(members[victim], signal.SIGCONT)
        servers.wait()
        if on_error == "stop":
            assert sidecar.simulation.wait() != 0
            assert "have ended without leaving" in sidecar.simulation.text()
            return
        after = sidecar.serve(2)
        sidecar.wait_for_rows(6)
        done = sidecar.finish()
        assert after.wait() == 0, after.text()
        for account in check_complete(done, 2):
            both = set(sidecar.rows()) & set(sidecar.rows("other.csv"))
            assert len(both) >= account["delivered"] >= len(both) - account["unknown"], done.text
            assert account["unknown"] <= 4


@pytest.mark.test_all
def test_the_simulation_of_a_sidecar_with_groups_is_killed(tmp_path):
    """Both groups finish all iterations that all clients had ended, even if one group was behind."""
    with Sidecar(tmp_path, TWO_TABLES, groups="{a: 1, b: 1}", max_in_flight=6) as sidecar:
        servers = sidecar.serve(2)
        sidecar.endless(3, "pause_ms=2")
        sidecar.wait_for_rows(6)
        second = sorted(servers.members("sidestream"))[1]
        os.kill(second, signal.SIGSTOP)
        time.sleep(0.5)
        for pid in sidecar.simulation.members("field_program"):
            send(pid, signal.SIGKILL)
        send(second, signal.SIGCONT)
        assert servers.wait() != 0
        assert servers.text().count("ended without closing") == 1, servers.text()
        assert sidecar.rows() == sidecar.rows("other.csv") == list(range(len(sidecar.rows())))


def stand_still_now_and_then(processes, going_on, chance):
    """Stops one process after the other for some time, while the run goes on."""
    stops = 0
    while going_on():
        alive = processes()
        if not alive:
            time.sleep(0.02)
            continue
        pid = chance.choice(alive)
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(chance.uniform(0, 0.15))
            os.kill(pid, signal.SIGCONT)
            stops += 1
        except ProcessLookupError:
            continue
        time.sleep(chance.uniform(0, 0.05))
    return stops


@pytest.mark.test_all
@pytest.mark.parametrize(("seed", "mode"), few([1, 2], PLACEMENTS))
def test_random_delays(tmp_path, mode, seed):
    """Clients, forwarders and servers of both groups pause at random, with few iterations in flight; results keep
    their bytes."""
    steps, options = 30, ["steps=30", "blocks=2", "pause_ms=5"]
    reference = run(tmp_path / "one", 1, "inline", tasks=TASKS, options=[f"steps={steps}"])
    assert reference.status == 0, reference.text
    head, ranks, victims = PLACEMENTS[mode]
    chance = random.Random(int(os.environ.get("SIDESTREAM_SEED", "0")) + seed)
    placement = f"{{{head}, max_in_flight: {chance.choice([1, 2, 3])}}}"
    with started(tmp_path / "many", ranks, placement, tasks=in_groups(TASKS, "ab"), options=options) as going:
        stops = stand_still_now_and_then(
            lambda: list(ranks_of(going.process).values()), lambda: going.process.poll() is None, chance
        )
        done = going.finish()
    assert stops > 3
    check_delivered(
        done, min(n for who, n in victims.items() if who != "client"), steps, results_of(done), results_of(reference)
    )


@pytest.mark.test_all
@pytest.mark.parametrize("seed", [1, 2])
def test_random_delays_of_a_sidecar(tmp_path, seed):
    steps = 30
    reference = run(tmp_path / "one", 1, "inline", tasks=TASKS, options=[f"steps={steps}"])
    assert reference.status == 0, reference.text
    chance = random.Random(int(os.environ.get("SIDESTREAM_SEED", "0")) + seed)
    with Sidecar(tmp_path / "many", in_groups(TASKS, "ab"), groups="{a: 1, b: 1}", max_in_flight=2) as sidecar:
        servers = sidecar.serve(2)
        job = sidecar.start(2, f"steps={steps}", "blocks=2", "pause_ms=5")
        stops = stand_still_now_and_then(
            lambda: servers.members("sidestream") + job.members("field_program"),
            lambda: job.process.poll() is None,
            chance,
        )
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        for name in ("timings-clients.csv", "iterations-clients.csv"):
            (sidecar.results / name).unlink()
    assert stops > 3
    check_delivered(done, 2, steps, results_of(done), results_of(reference))
