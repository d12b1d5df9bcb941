"""Servers in groups that work at the same time. The results are those of one group, and no group waits for another."""

import csv
import re
import signal
import subprocess
import time

import h5py
import pytest
from pairs import few, pairs
from sidecar_support import TOOL, Sidecar, check_complete
from support import ANALYSES, VARIABLES, check_delivered, rank_of, results_of, run, started, wait_for

STEPS = 4
NAMES = ("a", "b", "c")


def in_groups(tasks, names):
    """Deals the entries out among the groups, one after the other."""
    lines, n = [], 0
    for line in tasks.splitlines():
        if line.startswith("  - "):
            line = re.sub(r": \{", f": {{group: {names[n % len(names)]}, ", line, count=1)
            n += 1
        lines.append(line)
    return "\n".join(lines) + "\n"


def groups_text(sizes):
    return "groups: {" + ", ".join(f"{name}: {size}" for name, size in zip(NAMES, sizes, strict=False)) + "}"


TASKS = ANALYSES + "  - histogram: {name: rare, variable: t, bins: 5, every: 2, file: rare.csv}\n"


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """Results of a run with one client and one block, inline, by the program's options."""
    known = {}

    def of(options):
        if options not in known:
            done = run(
                tmp_path_factory.mktemp("reference"), 1, "inline", tasks=TASKS, options=[f"steps={STEPS}", *options]
            )
            assert done.status == 0, done.text
            known[options] = results_of(done)
            assert len(known[options]) > 20
        return known[options]

    return of


def check(done, clients, reference):
    check_delivered(done, clients, STEPS, results_of(done), reference)


def rows_of(done, table):
    with (done.results / table).open(newline="") as text:
        return list(csv.DictReader(text))


CASES = [(1, (1, 1)), (2, (1, 2)), (3, (2, 3)), (5, (1, 1, 1))]


@pytest.mark.keep(1)
@pytest.mark.parametrize(("clients", "sizes"), CASES)
def test_nodes(tmp_path, references, clients, sizes):
    placement = f"{{mode: nodes, {groups_text(sizes)}, buffer: 8 MiB}}"
    tasks = in_groups(TASKS, NAMES[: len(sizes)])
    done = run(
        tmp_path, clients + sum(sizes), placement, tasks=tasks, options=[f"steps={STEPS}", "blocks=3", "ghosts=1"]
    )
    check(done, clients, references(()))


@pytest.mark.test_all
@pytest.mark.parametrize(("clients", "sizes"), few(CASES[1:3]))
def test_nodes_without_a_thread(tmp_path, references, clients, sizes):
    placement = f"{{mode: nodes, buffer: 32 MiB, {groups_text(sizes)}, progress: calls}}"
    tasks = in_groups(TASKS, NAMES[: len(sizes)])
    single = {"FIELD_PROGRAM_THREADS": "single"}
    done = run(
        tmp_path,
        clients + sum(sizes),
        placement,
        tasks=tasks,
        options=[f"steps={STEPS}", "blocks=2"],
        environment=single,
    )
    check(done, clients, references(()))


@pytest.mark.test_all
@pytest.mark.parametrize("move", few(["needed", "all"]))
def test_nodes_with_forwarders(tmp_path, references, move):
    placement = (
        f"{{mode: nodes, groups: {{a: 1, b: 2}}, buffer: 32 MiB, forward: blocks, move: {move}, pretend_nodes: 2}}"
    )
    tasks = in_groups(TASKS, "ab")
    done = run(tmp_path, 10, placement, tasks=tasks, options=[f"steps={STEPS}", "blocks=2"])
    check(done, 5, references(()))


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("per_node", "nodes", "sizes"),
    pairs([(2, 0), (3, 0), (2, 2)], [((1, 1),), ((1, 2),), ((3, 2),)], strength=1),
)
def test_nodes_with_forwarders_that_reduce(tmp_path, references, per_node, nodes, sizes):
    """Each forwarder reduces for one group, on values that it shares with the forwarders of other groups."""
    forward = f"forward: partials, per_node: {per_node}, pretend_nodes: {nodes}"
    placement = f"{{mode: nodes, {groups_text(sizes)}, buffer: 32 MiB, {forward}}}"
    # Both nodes have forwarders and a client besides the servers, which are the last ranks.
    ranks = 2 * (sum(sizes) + per_node + 1) if nodes else sum(sizes) + per_node + 3
    done = run(tmp_path, ranks, placement, tasks=in_groups(TASKS, "ab"), options=[f"steps={STEPS}", "blocks=2"])
    check(done, ranks - sum(sizes) - per_node * max(nodes, 1), references(()))


@pytest.mark.keep(1)
@pytest.mark.parametrize(("clients", "sizes"), CASES)
def test_cores(tmp_path, references, clients, sizes):
    placement = f"{{mode: cores, {groups_text(sizes)}, buffer: 8 MiB}}"
    tasks = in_groups(TASKS, NAMES[: len(sizes)])
    done = run(
        tmp_path, clients + sum(sizes), placement, tasks=tasks, options=[f"steps={STEPS}", "blocks=3", "ghosts=1"]
    )
    check(done, clients, references(()))


def test_cores_of_several_nodes(tmp_path, references):
    placement = "{mode: cores, buffer: 32 MiB, groups: {a: 1, b: 2}, pretend_nodes: 2}"
    done = run(tmp_path, 11, placement, tasks=in_groups(TASKS, "ab"), options=[f"steps={STEPS}", "in_place=1"])
    check(done, 5, references(()))


def test_cores_that_spill(tmp_path, references):
    """Each block is written to the file once, and the servers of both groups read it."""
    disk, seen = tmp_path / "spilled", tmp_path / "seen"
    disk.mkdir()
    spill = f"when_full: spill, spill: {{size: 64 MiB, directory: {disk}}}"
    placement = f"{{mode: cores, groups: {{a: 1, b: 1}}, buffer: 300 KiB, {spill}}}"
    # The second group waits until a file has contents.
    tasks = in_groups(TASKS, "ab") + f"  - await: {{variable: t, at: 0, path: {seen}, group: b}}\n"
    with started(tmp_path, 4, placement, tasks=tasks, options=[f"steps={STEPS}", "blocks=2"]) as going:
        wait_for(lambda: any(file.stat().st_size > 0 for file in disk.iterdir()), "a block in a file")
        seen.touch()
        done = going.finish()
    check(done, 2, references(()))
    assert int(re.search(r"\n  spilled: (\d+)\n", (done.results / "run.yaml").read_text())[1]) > 0


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("clients", "sizes", "nodes"),
    few([(3, (2, 1), 0), (5, (1, 1), 2), (1, (1, 1), 0), (5, (1, 1, 1), 0)], keep=2),
)
def test_sidecar(tmp_path, references, clients, sizes, nodes):
    text = groups_text(sizes).removeprefix("groups: ")
    pretended = {"pretend_nodes": nodes} if nodes else {}
    with Sidecar(tmp_path, in_groups(TASKS, NAMES[: len(sizes)]), groups=text, **pretended) as sidecar:
        servers = sidecar.serve(sum(sizes) * max(1, nodes))
        sidecar.start(clients, f"steps={STEPS}", "blocks=2")
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        for name in ("timings-clients.csv", "iterations-clients.csv"):
            (sidecar.results / name).unlink()
        check(done, clients, references(()))


TWO_TABLES = """\
analyses:
  - statistics: {variable: t, group: a}
  - isosurface: {variable: t, values: [-0.3, 0.4], file: "surface-{index:05}.vtp", group: b}
  - statistics: {name: other, variable: t, file: other.csv, group: b}
"""


@pytest.mark.test_all
def test_sidecar_groups_that_are_stopped_and_replaced_end_at_one_iteration(tmp_path):
    with Sidecar(tmp_path, TWO_TABLES, groups="{a: 1, b: 1}") as sidecar:
        for _ in range(3):
            servers = sidecar.serve(2)
            if sidecar.simulation is None:
                sidecar.endless(2, "pause_ms=2")
            sidecar.wait_for_rows(12)
            servers.signal(signal.SIGTERM)
            assert servers.wait() == 0, servers.text()
            assert sidecar.rows() == sidecar.rows("other.csv"), servers.text()
        done = sidecar.finish()
        accounts = check_complete(done, 2)
        assert accounts[0]["unknown"] == 0
        assert accounts[0]["delivered"] == len(sidecar.rows())


@pytest.mark.test_all
@pytest.mark.parametrize("victim", few([1, 0]))
def test_a_killed_sidecar_server_of_one_group_and_the_next_group(tmp_path, victim):
    """The death of a server ends its job. Iterations without an answer are unknown, and the next servers go on
    together."""
    with Sidecar(tmp_path, TWO_TABLES, groups="{a: 1, b: 1}", when_full="skip") as sidecar:
        servers = sidecar.serve(2)
        sidecar.endless(2, "pause_ms=5")
        sidecar.wait_for_rows(6)
        subprocess.run(["kill", "-9", str(sorted(servers.members("sidestream"))[victim])], check=True)
        servers.wait()
        servers = sidecar.serve(2)
        sidecar.wait_for_rows(6)
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        for account in check_complete(done, 2):
            both = set(sidecar.rows()) & set(sidecar.rows("other.csv"))
            assert len(both) >= account["delivered"] >= len(both) - account["unknown"], done.text
            assert account["unknown"] <= 8


def test_sidecar_servers_of_other_groups_get_a_sentence(tmp_path):
    with Sidecar(tmp_path, TWO_TABLES, groups="{a: 1, b: 2}") as sidecar:
        other = sidecar.write("other.yaml", TWO_TABLES, groups="{a: 2, b: 1}")
        sidecar.start(2, "steps=2")
        servers = sidecar.serve(3, file=other)
        assert servers.wait() != 0
        assert "give both the same placement.groups" in servers.text(), servers.text()


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("option", "mode"),
    few(
        ["moving=1", "gap=1", "still=1"],
        ["nodes", "forward", "reduce", "cores"],
        kept=[("gap=1", "cores"), ("moving=1", "forward")],
    ),
)
def test_blocks_that_come_and_go(tmp_path, references, option, mode):
    """Blocks change, and some arrays do not vary in time."""
    forward = {
        "forward": "mode: nodes, buffer: 32 MiB, forward: blocks",
        "reduce": "mode: nodes, buffer: 32 MiB, forward: partials",
    }
    placement = f"{{{forward.get(mode, f'mode: {mode}')}, groups: {{a: 2, b: 1}}}}"
    if option == "still=1":
        still = "  - statistics: {name: still, variable: s, file: still.csv}\n"
        tasks = TASKS + still
        extra = ""
        variables = "  s: {mesh: grid, type: float64, time_varying: false}\n"
        one = run(tmp_path / "one", 1, "inline", tasks=variables + tasks, options=[f"steps={STEPS}", option])
        assert one.status == 0, one.text
        reference = results_of(one)
        tasks = variables + in_groups(tasks, "ab") + extra
    else:
        reference = references((option,))
        tasks = in_groups(TASKS, "ab")
    done = run(tmp_path / "groups", 7, placement, tasks=tasks, options=[f"steps={STEPS}", option, "blocks=2"])
    check(done, {"forward": 3, "reduce": 2}.get(mode, 4), reference)


PLACEMENTS = [
    "{mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 2}}",
    "{mode: nodes, groups: {a: 1, b: 1}, buffer: 32 MiB, forward: blocks}",
    "{mode: nodes, groups: {a: 1, b: 1}, buffer: 32 MiB, forward: partials}",
    "{mode: cores, buffer: 32 MiB, groups: {a: 1, b: 2}}",
]


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_no_group_waits_for_another(tmp_path, placement):
    """The first iteration of group b ends when the last result of group a is on disk. With one group it would never
    end."""
    last = tmp_path / "results" / "slice-00005.vtp"
    tasks = f"""\
analyses:
  - await: {{variable: t, at: 0, path: {last}, group: b}}
  - histogram: {{variable: t, bins: 17, group: b}}
  - slice: {{variable: t, axis: x, position: 0.5, file: "slice-{{index:05}}.vtp", group: a}}
"""
    done = run(tmp_path, 5, placement, tasks=tasks, options=["steps=6"])
    assert done.status == 0, done.text
    assert all(account["delivered"] == 6 and account["failed"] == 0 for account in done.accounts), done.text
    # Results of a group are in the order of iterations, and iterations.csv has each iteration once.
    assert [int(row["iteration"]) for row in rows_of(done, "iterations.csv")] == list(range(6))
    rows = [row for row in rows_of(done, "timings.csv") if row["task"] == "slice"]
    for rank in {row["rank"] for row in rows}:
        order = [int(row["iteration"]) for row in rows if row["rank"] == rank]
        assert order == list(range(6))


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_an_analysis_that_fails_in_one_group(tmp_path, placement):
    tasks = """\
analyses:
  - statistics: {variable: t, group: a}
  - fail: {variable: t, at: 1, group: b}
  - histogram: {variable: t, bins: 17, group: b}
"""
    done = run(tmp_path, 5, placement, tasks=tasks, options=["steps=4"])
    assert done.status == 0, done.text
    assert all(account["delivered"] == 4 and account["failed"] == 1 for account in done.accounts), done.text
    rows = rows_of(done, "iterations.csv")
    assert [row["outcome"] for row in rows] == ["delivered", "failed", "delivered", "delivered"]
    assert rows[1]["reason"] == "failed: fail"
    assert "fail: planned failure" in (done.results / "run.yaml").read_text()
    for table in ("statistics.csv", "histogram.csv"):
        assert len({row["iteration"] for row in rows_of(done, table)}) == 4


def test_on_error_stop_hears_of_every_group(tmp_path):
    tasks = "analyses:\n  - statistics: {variable: t, group: a}\n  - fail: {variable: t, at: 0, group: b}\n"
    done = run(
        tmp_path,
        4,
        "{mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 1}, max_in_flight: 1}",
        tasks=tasks,
        options=["steps=4"],
        extra=f"on_error: stop\noutput: {{directory: {tmp_path / 'results'}}}\n",
    )
    assert done.status != 0
    assert any("planned failure" in line for line in done.errors), done.text


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_skip_drops_an_iteration_in_all_groups_or_in_none(tmp_path, placement):
    tasks = """\
analyses:
  - statistics: {variable: t, group: a}
  - sleep: {variable: t, seconds: 0.05, group: b}
  - statistics: {name: other, variable: t, file: other.csv, group: b}
"""
    placement = placement[:-1] + ", when_full: skip, max_in_flight: 2}"
    done = run(tmp_path, 5, placement, tasks=tasks, options=["steps=30", "pause_ms=5"])
    assert done.status == 0, done.text
    account = done.accounts[0]
    assert account["refused"] > 0, done.text
    assert account["delivered"] > 0
    assert account["delivered"] + account["refused"] == 30
    delivered = [row["iteration"] for row in rows_of(done, "iterations.csv") if row["outcome"] == "delivered"]
    assert len(delivered) == account["delivered"]
    for table in ("statistics.csv", "other.csv"):
        assert [row["iteration"] for row in rows_of(done, table)] == delivered


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "slow"), pairs(PLACEMENTS, "ab", strength=1))
def test_delays_change_nothing(tmp_path, references, placement, slow):
    """Some iterations of one group take longer than others, and few may be in flight."""
    delays = "".join(
        f"  - sleep: {{name: delay-{n}, variable: t, seconds: {0.05 * n}, every: {n}, group: {slow}}}\n"
        for n in (1, 2, 3)
    )
    tasks = in_groups(TASKS, "ab") + delays
    placement = placement[:-1] + ", max_in_flight: 2}"
    done = run(tmp_path, 6, placement, tasks=tasks, options=[f"steps={STEPS}", "blocks=2"])
    check(done, len(done.accounts), references(()))


@pytest.mark.test_all
def test_conditions_and_events_in_each_group(tmp_path):
    tasks = """\
analyses:
  - statistics: {name: late, variable: t, when: "iteration >= 2", file: late.csv, group: a}
  - statistics: {name: hot, variable: t, when: "max(t) > 0 and change(mean(t)) < 1", file: hot.csv, group: b}
  - statistics: {name: burst, variable: t, on: burst, file: burst.csv, group: b}
"""
    tables = ("late.csv", "hot.csv", "burst.csv")
    found = []
    for name, placement in (
        ("one", "{mode: nodes, buffer: 32 MiB, servers: 3}"),
        ("two", "{mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 2}}"),
    ):
        done = run(tmp_path / name, 6, placement, tasks=tasks, options=["steps=5", "signal_at=3"])
        assert done.status == 0, done.text
        found.append({table: (done.results / table).read_bytes() for table in tables})
    assert found[0] == found[1]
    assert len(found[0]["burst.csv"].splitlines()) == 2


def values_of(file):
    """Every data set that h5py reads, by name."""
    values = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset):
            values[name] = item[()].tolist()

    with h5py.File(file) as opened:
        opened.visititems(take)
    return values


@pytest.mark.test_all
def test_outputs_are_tasks_of_groups_as_well(tmp_path):
    tasks = """\
analyses:
  - statistics: {variable: t, group: a}
outputs:
  - hdf5: {variables: [t, p], file: "fields-{index:05}.h5", group: b}
  - vtk: {variables: [t], file: "fields-{index:05}.pvti", group: a}
  - database: {variables: [t], directory: steps, group: b}
"""
    found = {}
    for name, placement in (
        ("one", "{mode: nodes, buffer: 32 MiB, servers: 2}"),
        ("two", "{mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 2}}"),
    ):
        ranks = 5 if name == "one" else 6
        done = run(tmp_path / name, ranks, placement, tasks=tasks, options=["steps=3"])
        assert done.status == 0, done.text
        assert all(account["delivered"] == 3 and account["failed"] == 0 for account in done.accounts), done.text
        found[name] = [values_of(done.results / f"fields-{n:05}.h5") for n in range(3)]
        listed = subprocess.run([TOOL, "verify", done.results / "steps"], capture_output=True, text=True, check=False)
        assert listed.returncode == 0, listed.stdout + listed.stderr
        assert len(list(done.results.glob("fields-0000?.pvti"))) == 3
    assert found["one"] == found["two"]
    assert any(found["one"][0].values())


@pytest.mark.test_all
def test_sizes_from_earlier_runs(tmp_path):
    """One server does one task by itself, and servers share another. The costs tell which is which."""
    tasks = """\
analyses:
  - statistics: {variable: t, group: a}
  - sleep: {variable: t, seconds: 0.05, every: 2, group: b}
"""
    runs = []
    for servers in (2, 4):
        done = run(
            tmp_path / str(servers),
            2 + servers,
            f"{{mode: nodes, buffer: 32 MiB, servers: {servers}}}",
            tasks,
            ["steps=6"],
        )
        assert done.status == 0, done.text
        runs.append(str(done.results))
    costs = tmp_path / "costs.yaml"
    said = subprocess.run(
        [TOOL, "groups", *runs, "--servers", "5", "--output", costs], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
    sizes = dict(re.findall(r"(\w+): (\d+)", said.stdout.split("groups: {")[1]))
    assert set(sizes) == {"a", "b"}
    assert sum(map(int, sizes.values())) == 5
    written = re.search(r'"sleep": \{constant: (\S+), shared: (\S+), doubling: (\S+), runs: (\S+)\}', costs.read_text())
    assert float(written[4]) == 0.5
    # Each server sleeps equally long, however many there are. A busy machine may make it longer.
    assert float(written[1]) + float(written[2]) / 4 + 2 * float(written[3]) >= 0.045
    placement = f"{{mode: nodes, buffer: 32 MiB, servers: 5, groups: {{a: auto, b: auto}}, measured: {costs}}}"
    done = run(tmp_path / "auto", 7, placement, tasks, ["steps=3"])
    assert done.status == 0, done.text
    record = (done.results / "run.yaml").read_text()
    assert f'groups:\n  "a": {sizes["a"]}\n  "b": {sizes["b"]}\n' in record


def test_one_run_says_what_servers_did_by_themselves(tmp_path):
    tasks = "analyses:\n  - statistics: {variable: t}\n  - histogram: {variable: t, bins: 4}\n"
    done = run(tmp_path / "one", 4, "{mode: nodes, buffer: 32 MiB, servers: 2}", tasks, ["steps=4"])
    rows = [row for row in rows_of(done, "timings.csv") if row["task"] == "histogram"]
    assert rows
    assert all(0 <= float(row["compute"]) <= float(row["seconds"]) for row in rows)
    command = [TOOL, "groups", done.results, "--servers", "4"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    # Without groups in the configuration each task is a group.
    assert {"statistics", "histogram"} == set(re.findall(r"(\w+): \d", said.stdout.split("groups: {")[1]))
    said = subprocess.run([*command, "--group", "x=histogramm"], capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "did you mean 'histogram'?" in said.stderr
    said = subprocess.run([TOOL, "groups", done.results, "--servers", "1"], capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "at least one server for each" in said.stderr


def test_check_and_plan_know_groups(tmp_path):
    file = tmp_path / "run.yaml"
    placement = "{mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 3}}"
    file.write_text(f"placement: {placement}\n{VARIABLES}{in_groups(TASKS, 'ab')}")
    values = ["--set", "n=32", "h=0.1"]
    checked = subprocess.run(
        [TOOL, "check", file, "--ranks", "6", *values], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert "group      a: 1 server for statistics, histogram" in checked.stdout
    assert "group      b: 3 servers for nodes" in checked.stdout
    plan = [TOOL, "plan", file, "--metadata", "grid:32x32x32/2x2x2", *values]
    planned = subprocess.run(plan, capture_output=True, text=True, check=False)
    assert planned.returncode == 0, planned.stderr
    assert "group 'a': 8 blocks exist" in planned.stdout
    assert "servers      1 with 8 to 8 blocks" in planned.stdout
    assert "servers      3 with 2 to 3 blocks" in planned.stdout
    wrong = subprocess.run([*plan, "--servers", "5"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "groups of 4 servers in all" in wrong.stderr
    file.write_text(file.read_text().replace(placement, "nodes"))
    checked = subprocess.run([TOOL, "check", file, *values], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "all servers run everything" in checked.stdout


@pytest.mark.parametrize(("mode", "victim"), few(["nodes", "cores"], [3, 5]))
def test_a_killed_server_of_one_group(tmp_path, victim, mode):
    """The death ends the job, as that of any rank. Results that the other group had committed stay whole."""
    never = tmp_path / "never"
    tasks = f"""\
analyses:
  - slice: {{variable: t, axis: x, position: 0.5, file: "slice-{{index:05}}.vtp", group: a}}
  - await: {{variable: t, at: 1, path: {never}, group: b}}
"""
    with started(
        tmp_path, 6, f"{{mode: {mode}, groups: {{a: 1, b: 2}}, max_in_flight: 4}}", tasks=tasks, options=["steps=50"]
    ) as going:
        last = tmp_path / "results" / "slice-00004.vtp"  # the last result of group a that max_in_flight allows
        deadline = time.monotonic() + 60
        while not last.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert last.exists()
        subprocess.run(["kill", f"-{signal.SIGKILL.value}", str(rank_of(going, victim))], check=True)
        done = going.finish()
    assert done.status != 0
    whole = sorted(tmp_path.glob("results/slice-*.vtp"))
    assert [path.name for path in whole] == [f"slice-{n:05}.vtp" for n in range(5)]
    assert all(path.read_bytes().rstrip().endswith(b"</VTKFile>") for path in whole)


@pytest.mark.parametrize(
    ("placement", "tasks", "sentence"),
    [
        (
            "{mode: nodes, buffer: 32 MiB, servers: 3, groups: {a: 1, b: 1}}",
            "ab",
            "groups of 2 servers in all for the 3 of 'servers'",
        ),
        (
            "{mode: nodes, buffer: 32 MiB, servers: 1, groups: {a: 1, b: 1}}",
            "ab",
            "groups of 2 servers in all for the 1 of 'servers'",
        ),
        ("{mode: nodes, buffer: 32 MiB, groups: {a: 1, c: 1}}", "ab", "unknown group 'b', expected one of a, c"),
        (
            "{mode: nodes, buffer: 32 MiB, groups: {halos: 1, spectra: 1}}",
            ["halos", "spectr"],
            "did you mean 'spectra'?",
        ),
        ("{mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 1}}", "a", "no analysis and no output in the group 'b'"),
        ("{mode: nodes, buffer: 32 MiB, groups: {a: 0, b: 1}}", "ab", "found '0' for the group 'a'"),
        ("{mode: nodes, buffer: 32 MiB, groups: {a: x, b: 1}}", "ab", "a"),
        ("{mode: nodes, buffer: 32 MiB, groups: {}}", "ab", "an empty map for 'groups'"),
        ("{mode: nodes, buffer: 32 MiB, groups: {a: auto, b: 1}, servers: 2}", "ab", "without 'measured'"),
        (
            "{mode: nodes, buffer: 32 MiB, groups: {a: 1, b: 1}, measured: x}",
            "ab",
            "without a group of the size 'auto'",
        ),
        ("{mode: inline, groups: {a: 1, b: 1}}", "ab", "the ranks of the simulation run one task after the other"),
        (
            "{mode: nodes, buffer: 32 MiB, forward: partials, per_node: 1, groups: {a: 1, b: 1}}",
            "ab",
            "found 1 forwarder on each node",
        ),
        ("{mode: job, per_node: 1, groups: {a: 1, b: 1}}", "ab", "found 1 sender on each node for 2 groups"),
        ("{mode: job, groups: {a: auto, b: 1}}", "ab", "without 'measured'"),
        ("{mode: job, groups: {a/b: 1, b: 1}}", ["a/b", "b"], "the folder of its stream ends in it"),
        ("{mode: job, groups: {a: 1, b: 1}, measured: x}", "ab", "without a group of the size 'auto'"),
        ("{mode: inline, measured: x}", "ab", "with 'groups' and 'nodes', 'cores', 'sidecar' or 'job'"),
    ],
)
def test_sentences(tmp_path, placement, tasks, sentence):
    done = run(tmp_path, 5, placement, tasks=in_groups(ANALYSES, tasks), options=["steps=1"])
    assert done.status != 0
    assert sentence in done.text, done.text


def test_names_of_groups_mean_nothing_without_groups(tmp_path, references):
    """A change of one line moves the work to groups."""
    done = run(tmp_path, 1, "inline", tasks=in_groups(TASKS, "ab"), options=[f"steps={STEPS}"])
    check(done, 1, references(()))
