"""Features of servers in groups, while another group stands still: containment, steering, full buffers, databases."""

import csv
import re
import subprocess
import uuid
from pathlib import Path

import pytest
import test_steering as steering
from pairs import few
from programs import built
from sidecar_support import Sidecar, check_complete
from support import run
from test_groups import values_of

TOOL = built("SIDESTREAM_TOOL")
PLUGIN = f"plugins: [{built('SIDESTREAM_MISBEHAVING_PLUGIN')}]\n"
SIZES = "groups: {a: 1, b: 1}"
# The number of ranks that serve or forward.
PLACEMENTS = {
    f"{{mode: nodes, buffer: 32 MiB, {SIZES}}}": 2,
    f"{{mode: nodes, buffer: 32 MiB, {SIZES}, progress: calls}}": 2,
    f"{{mode: cores, buffer: 32 MiB, {SIZES}}}": 2,
    f"{{mode: nodes, {SIZES}, buffer: 32 MiB, forward: blocks}}": 3,
    f"{{mode: nodes, {SIZES}, buffer: 32 MiB, forward: partials}}": 4,
}
NODES, CALLS, CORES, BLOCKS, PARTIALS = PLACEMENTS


def rows_of(folder, table):
    path = Path(folder) / table
    if not path.exists():
        return []
    with path.open(newline="") as text:
        return list(csv.DictReader(text))


def iterations_in(folder, table):
    return [int(row["iteration"]) for row in rows_of(folder, table)]


# Containment


CRASH, LOOP = ("crash", "ended by SIGSEGV"), ("loop", "not answered within 1 s")


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "how", "says", "group"),
    few(PLACEMENTS, [CRASH, LOOP], "ab", kept=[(CORES, *CRASH, "b"), (BLOCKS, *LOOP, "a")]),
)
@pytest.mark.usefixtures("nobody_is_left")
def test_isolated_analyses(tmp_path, placement, how, says, group):
    """An isolated analysis in each group. One of them fails, which costs it an iteration, and others nothing."""
    other = "b" if group == "a" else "a"
    tasks = (
        PLUGIN
        + f"""\
analyses:
  - misbehave: {{variable: t, how: {how}, at: 1, isolate: process, limit: 1 s, group: {group}}}
  - misbehave: {{name: good, variable: t, file: good.csv, isolate: process, group: {other}}}
  - statistics: {{variable: t, group: {other}}}
  - statistics: {{name: same, variable: t, file: same.csv, group: {group}}}
"""
    )
    done = run(tmp_path, 2 + PLACEMENTS[placement], placement, tasks, ["steps=4", "blocks=2"])
    assert done.status == 0, done.text
    assert all(account["delivered"] == 4 and account["failed"] == 1 for account in done.accounts), done.text
    assert says in done.text, done.text
    assert iterations_in(done.results, "above.csv") == [0, 2, 3]
    for table in ("good.csv", "statistics.csv", "same.csv"):
        assert iterations_in(done.results, table) == [0, 1, 2, 3]
    above = {row["iteration"]: row["above"] for row in rows_of(done.results, "good.csv")}
    assert all(above[row["iteration"]] == row["above"] for row in rows_of(done.results, "above.csv"))


@pytest.mark.test_all
@pytest.mark.usefixtures("nobody_is_left")
def test_isolated_analyses_of_sidecar_groups(tmp_path):
    tasks = """\
analyses:
  - statistics: {variable: t, group: a}
  - misbehave: {variable: t, how: crash, at: 1, isolate: process, group: b}
"""
    with Sidecar(tmp_path, tasks, extra=PLUGIN, groups="{a: 1, b: 1}") as sidecar:
        servers = sidecar.serve(2)
        sidecar.start(2, "steps=4")
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
    assert all(account["delivered"] == 4 and account["failed"] == 1 for account in done.accounts), done.text
    assert iterations_in(done.results, "above.csv") == [0, 2, 3]
    assert iterations_in(done.results, "statistics.csv") == [0, 1, 2, 3]


# Steering from the second group

STEERED = """\
analyses:
  - statistics: {variable: t, group: a}
  - setter: {variable: t, set_every: 5, stop_at: 30, group: b}
"""


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "clients"), few(PLACEMENTS, [1, 2, 3, 5], kept=[(CALLS, 3), (PARTIALS, 2)]))
def test_an_analysis_of_the_second_group_steers(tmp_path, placement, clients):
    """Servers look for values of the second group ten times a second, so that later values may replace some."""
    done = steering.run(tmp_path, clients + PLACEMENTS[placement], placement, STEERED, seed=clients)
    steering.check(done, least=1)


@pytest.mark.parametrize("placement", few(list(PLACEMENTS)[:4]))
def test_analyses_of_both_groups_and_a_person_steer(tmp_path, placement):
    """All clients read the same after the same iteration, whoever set it. Otherwise the program hangs or reports it."""
    tasks = """\
analyses:
  - setter: {variable: t, set_every: 3, group: a}
  - setter: {name: second, variable: t, set_every: 7, group: b}
"""
    file = steering.write(tmp_path, placement, tasks)
    with steering.simulation(file, 3 + PLACEMENTS[placement], most=10**9, pause_us=2000) as process:
        steering.wait_for_session(tmp_path, process)
        assert steering.ask(tmp_path, "interval", "0.25").returncode == 0
        accepted = steering.ask(tmp_path, "stop", "1")
        assert accepted.returncode == 0, accepted
        done = steering.finish(process)
    assert done.status == 0 and "error" not in done.text, done.text
    changes = done.changes()
    assert changes[max(changes)][0] == 1
    assert 0.25 in {interval for _, interval in changes.values()}, done.text


@pytest.mark.parametrize("clients", few([2, 5]))
def test_steering_from_the_second_group_where_iterations_are_refused(tmp_path, clients):
    placement = f"{{mode: cores, buffer: 32 MiB, {SIZES}, when_full: skip, max_in_flight: 1}}"
    done = steering.run(
        tmp_path, clients + 2, placement, STEERED + "steering_ahead: 12\n", seed=3, most=10**6, pause_us=50, together=8
    )
    assert done.status == 0 and "error" not in done.text, done.text
    assert done.numbers()["refused"] > 0, done.text
    changes = done.changes()
    assert changes[max(changes)][0] == 1, done.text


@pytest.mark.test_all
def test_the_second_group_of_a_sidecar_steers(tmp_path):
    file = steering.write(tmp_path, f"{{mode: sidecar, buffer: 32 MiB, {SIZES}, session: {uuid.uuid4().hex}}}", STEERED)
    with (
        steering.simulation(file, 3, most=10**9, pause_us=3000) as process,
        steering.job(steering.MPIRUN, "-n", 2, TOOL, "serve", file) as servers,
    ):
        done = steering.finish(process)
        assert steering.finish(servers).status == 0
    steering.check(done, least=1)


@pytest.mark.test_all
def test_the_second_group_of_an_endpoint_steers(tmp_path):
    stream = f"stream: {{directory: {tmp_path}/streams, engine: files}}"
    file = steering.write(tmp_path, f"{{mode: job, buffer: 32 MiB, {SIZES}, {stream}}}", STEERED)
    with (
        steering.simulation(file, 4, most=10**9, pause_us=3000) as process,
        steering.job(steering.MPIRUN, "-n", 2, TOOL, "endpoint", "--wait", "60", file) as endpoint,
    ):
        done = steering.finish(process)
        read = steering.finish(endpoint)
    assert read.status == 0, read.text
    steering.check(done, least=1)


# A transform that stands still does not hold up the halo finder

HALOS = '  - halos: {{variable: t, boundary: 0.35, halo: 0.9, file: "halos-{{index:03}}.csv", group: {0}}}\n'
SPECTRUM = '  - power_spectrum: {{variable: t, file: "spectrum-{{index:03}}.csv", group: {0}}}\n'


def blocked(path, at=0, group="b"):
    return f"  - await: {{variable: t, at: {at}, path: {path}, group: {group}}}\n"


@pytest.mark.parametrize(("placement", "slow"), few(PLACEMENTS, "ab", kept=[(CORES, "a"), (BLOCKS, "b")]))
def test_halos_go_on_while_a_spectrum_stands_still(tmp_path, placement, slow):
    """The group of the spectrum waits in its first iteration until the halos of the last one are on disk."""
    steps, fast = 8, "b" if slow == "a" else "a"
    last = tmp_path / "results" / f"halos-{steps - 1:03}.csv"
    tasks = "analyses:\n" + blocked(last, group=slow) + SPECTRUM.format(slow) + HALOS.format(fast)
    done = run(tmp_path, 2 + PLACEMENTS[placement], placement, tasks, [f"steps={steps}"])
    assert done.status == 0, done.text
    assert all(account["delivered"] == steps and account["failed"] == 0 for account in done.accounts), done.text
    names = {path.name for path in done.results.glob("*-0*.csv")}
    assert names == {f"{kind}-{n:03}.csv" for kind in ("halos", "spectrum") for n in range(steps)}


@pytest.mark.parametrize("slow", few("ab"))
def test_spilled_iterations_let_one_group_run_ahead(tmp_path, slow):
    """The buffer has room for hardly one iteration, so that the other group reads iterations from the file."""
    steps, fast = 20, "b" if slow == "a" else "a"
    last = tmp_path / "results" / f"halos-{steps - 1:03}.csv"
    tasks = "analyses:\n" + blocked(last, group=slow) + HALOS.format(fast)
    tasks += f"  - statistics: {{variable: t, group: {slow}}}\n"
    placement = f"{{mode: cores, {SIZES}, buffer: 300 KiB, when_full: spill, spill: {{size: 64 MiB}}}}"
    done = run(tmp_path, 4, placement, tasks, [f"steps={steps}"])
    assert done.status == 0, done.text
    assert all(account["delivered"] == steps for account in done.accounts), done.text
    assert int(re.search(r"\n  spilled: (\d+)\n", (done.results / "run.yaml").read_text())[1]) > 0
    assert iterations_in(done.results, "statistics.csv") == list(range(steps))


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(PLACEMENTS))
def test_skip_while_one_group_stands_still(tmp_path, placement):
    """The other group gets the iterations that fit. Then both miss the same iterations, and both go on."""
    seen = tmp_path / "results" / "halos-002.csv"  # the last result that the other group can write
    tasks = "analyses:\n" + blocked(seen) + HALOS.format("a") + "  - statistics: {variable: t, group: b}\n"
    options = ["steps=60", "pause_ms=50"]
    done = run(
        tmp_path, 2 + PLACEMENTS[placement], f"{placement[:-1]}, when_full: skip, max_in_flight: 3}}", tasks, options
    )
    assert done.status == 0, done.text
    account = done.accounts[0]
    assert account["delivered"] + account["refused"] == 60, done.text
    taken = [int(row["iteration"]) for row in rows_of(done.results, "iterations.csv") if row["outcome"] == "delivered"]
    assert taken[:3] == [0, 1, 2] and len(taken) > 3, done.text
    assert iterations_in(done.results, "statistics.csv") == taken
    assert sorted(int(path.stem[-3:]) for path in done.results.glob("halos-*.csv")) == taken


# Databases


def contexts(folder):
    return {path.name: values_of(path) for path in sorted(Path(folder).glob("context-*.h5"))}


def verified(folder):
    said = subprocess.run([TOOL, "verify", folder], capture_output=True, text=True, check=False)
    return said.returncode == 0, said.stdout + said.stderr


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(list(PLACEMENTS)[:4]))
def test_checkpoints_in_the_second_group(tmp_path, placement):
    """Each group writes a database at its own interval. A second run resumes both without groups."""
    tasks = """\
outputs:
  - database: {name: often, variables: [t], directory: often, group: a}
  - database: {name: rarely, variables: [t, p], directory: rarely, every: 2, group: b}
"""
    one = run(tmp_path / "one", 5, "{mode: nodes, buffer: 32 MiB, servers: 1}", tasks, ["steps=4"])
    assert one.status == 0, one.text
    clients = 4
    done = run(tmp_path / "two", clients + PLACEMENTS[placement], placement, tasks, ["steps=4"])
    assert done.status == 0, done.text
    assert all(account["delivered"] == 4 and account["failed"] == 0 for account in done.accounts), done.text
    for name, count in (("often", 4), ("rarely", 2)):
        ok, text = verified(done.results / name)
        assert ok, text
        found = contexts(done.results / name)
        assert len(found) == count
        assert found == contexts(one.results / name)
    resumed = f"output: {{directory: {done.results}, existing: resume}}\n"
    more = run(
        tmp_path / "two", clients + 1, "{mode: nodes, buffer: 32 MiB, servers: 1}", tasks, ["steps=2"], extra=resumed
    )
    assert more.status == 0, more.text
    for name, count in (("often", 6), ("rarely", 3)):
        ok, text = verified(done.results / name)
        assert ok, text
        assert len(contexts(done.results / name)) == count


@pytest.mark.test_all
def test_a_checkpoint_of_the_second_group_survives_the_death_of_the_first(tmp_path):
    """Committed contexts are whole, and the next servers add theirs."""
    tasks = """\
analyses:
  - statistics: {variable: t, group: a}
outputs:
  - database: {variables: [t], directory: steps, group: b}
"""
    bad = tasks.replace("outputs:", "  - misbehave: {variable: t, how: kill, at: 12, group: a}\noutputs:")
    with Sidecar(tmp_path, tasks, extra=PLUGIN, groups="{a: 1, b: 1}") as sidecar:
        servers = sidecar.serve(2, file=sidecar.write("bad.yaml", bad))
        sidecar.endless(2, "pause_ms=30")
        assert servers.wait() != 0
        ok, text = verified(sidecar.results / "steps")
        assert ok, text
        before = len(contexts(sidecar.results / "steps"))
        after = sidecar.serve(2)
        sidecar.wait_for_rows(4)
        done = sidecar.finish()
        assert after.wait() == 0, after.text()
        check_complete(done, 2)
        ok, text = verified(sidecar.results / "steps")
        assert ok, text
        assert len(contexts(sidecar.results / "steps")) > before >= 3
