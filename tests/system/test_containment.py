"""Isolated analyses: a failure there costs them an iteration, and nothing else, in every placement."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from job_support import endpoint, simulation, write_configuration
from pairs import few, pairs
from programs import built
from sidecar_support import Sidecar
from support import ANALYSES, prepare, results_of, run
from workers import workers

pytestmark = pytest.mark.usefixtures("nobody_is_left")
PLUGIN = built("SIDESTREAM_MISBEHAVING_PLUGIN")
C_PLUGIN = built("SIDESTREAM_MISBEHAVING_C_PLUGIN")
STEPS = 4
PLACEMENTS = {
    "inline": 2,
    "{mode: cores, buffer: 32 MiB, per_node: 2}": 5,
    "{mode: nodes, buffer: 32 MiB, servers: 2}": 5,
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials}": 4,
}
# The fault of the analysis, and the text of the report.
DEATHS = {
    "crash": "ended by SIGSEGV",
    "abort": "ended by SIGABRT",
    "exit": "exited with status 0",
    "_exit": "exited with status 3",
    "kill": "ended by SIGKILL",
    "stack": "ended by SIGSEGV",
    "write": "ended by SIGSEGV",
    "child": "ended by SIGABRT",
}


def tasks_with(how, options="isolate: process", at=1):
    return f"""\
plugins: [{PLUGIN}]
analyses:
  - misbehave: {{variable: t, how: {how}, at: {at}, {options}}}
  - statistics: {{variable: t}}
"""


def rows(path):
    lines = [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]
    return [line.split(",") for line in lines[1:]]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The results without failures, from the server's own process."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", tasks_with("nothing", "every: 1"), [f"steps={STEPS}"])
    assert done.status == 0, done.text
    return rows(done.results / "above.csv"), rows(done.results / "statistics.csv")


def check(results, reference, lost):
    """Checks that only lost rows of the isolated analysis are missing, and that the other one has all."""
    above, statistics = reference
    assert rows(Path(results) / "above.csv") == [row for row in above if int(row[0]) not in lost]
    assert rows(Path(results) / "statistics.csv") == statistics


def check_run(done, reference, report, lost=(1,)):
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == STEPS and account["failed"] == len(lost), done.text
    assert "misbehave: lost its process in iteration 1" in done.text and report in done.text, done.text
    check(done.results, reference, lost)
    assert report in (done.results / "run.yaml").read_text()


@pytest.mark.keep(1)
@pytest.mark.parametrize("how", DEATHS)
def test_a_process_that_dies(tmp_path, reference, how):
    done = run(tmp_path, 3, "{mode: cores, buffer: 32 MiB}", tasks_with(how), [f"steps={STEPS}"])
    check_run(done, reference, DEATHS[how])
    assert f"about to {how} in process" in done.text
    if how != "stack":  # for which MPI libraries print longer traces than the report keeps
        assert f"about to {how} in process" in (done.results / "run.yaml").read_text()


@pytest.mark.keep(2)
@pytest.mark.parametrize(("placement", "how"), pairs(PLACEMENTS, ["crash", "loop"], strength=1))
def test_every_placement(tmp_path, reference, placement, how):
    report = {"crash": "ended by SIGSEGV", "loop": "not answered within 1 s"}[how]
    tasks = tasks_with(how, "isolate: process, limit: 1 s")
    done = run(tmp_path, PLACEMENTS[placement], placement, tasks, [f"steps={STEPS}", "blocks=2", "ghosts=1"])
    check_run(done, reference, report)


@pytest.mark.keep(1)
@pytest.mark.parametrize("how", ["loop", "deaf"])
def test_the_limit(tmp_path, reference, how):
    done = run(tmp_path, 2, "inline", tasks_with(how, "isolate: process, limit: 500 ms"), [f"steps={STEPS}"])
    check_run(done, reference, "not answered within 0.5 s")


def test_sidecar(tmp_path, reference):
    with Sidecar(tmp_path, tasks_with("crash"), per_node=2) as sidecar:
        servers = sidecar.serve(2)
        assert sidecar.start(3, f"steps={STEPS}").wait() == 0, sidecar.simulation.text()
        assert servers.wait() == 0, servers.text()
    assert "ended by SIGSEGV" in servers.text()
    check(sidecar.results, reference, {1})


def test_job(tmp_path, reference):
    write_configuration(tmp_path, stream="engine: files", tasks=tasks_with("crash"))
    with simulation(tmp_path, 3, [f"steps={STEPS}"]) as clients, endpoint(tmp_path, 2) as readers:
        status, text = clients.finish()
        read, said = readers.finish()
    assert status == 0 and read == 0, text + said
    assert "ended by SIGSEGV" in said
    check(tmp_path / "results", reference, {1})


def test_memory(tmp_path, reference):
    tasks = tasks_with("leak", "isolate: process, memory_limit: 256 MiB")
    done = run(tmp_path, 2, "inline", tasks, [f"steps={STEPS}"])
    assert done.status == 0, done.text
    assert "misbehave: no memory left" in done.text, done.text
    check(done.results, reference, {1})


@pytest.mark.parametrize(("how", "sentence"), [("throw", "misbehave: planned failure"), ("odd", "no std::exception")])
def test_what_is_thrown_costs_no_process(tmp_path, reference, how, sentence):
    done = run(tmp_path, 2, "inline", tasks_with(how), [f"steps={STEPS}"])
    assert done.status == 0 and sentence in done.text and "lost its process" not in done.text, done.text
    check(done.results, reference, {1})


def test_much_output(tmp_path, reference):
    """Output beyond the size of a pipe is passed on, and the report has its end."""
    done = run(tmp_path, 1, "inline", tasks_with("print"), [f"steps={STEPS}"])
    check_run(done, reference, "ended by SIGABRT")
    assert "line 19999 of many" in (done.results / "run.yaml").read_text()
    assert "line 0 of many" in done.text and "line 0 of many" not in (done.results / "run.yaml").read_text()


@pytest.mark.test_all
def test_a_worker_that_is_killed_while_it_waits_costs_nothing(tmp_path, reference):
    command, results = prepare(tmp_path, 1, "inline", tasks_with("nothing"), [f"steps={STEPS}", "pause_ms=400"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        wait_for(results / "above.csv", program)
        (worker,) = workers()
        os.kill(worker, signal.SIGKILL)
        text, _ = program.communicate(timeout=60)
    assert program.returncode == 0 and "failed=0" in text, text
    check(results, reference, set())


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(["{mode: cores, buffer: 32 MiB}", "inline"]))
def test_the_worker_dies_with_its_server(tmp_path, placement):
    """The server ends during `local`, which does not return. The fixture looks for remaining workers."""
    ranks = {"inline": 1, "{mode: cores, buffer: 32 MiB}": 2}[placement]
    command, _ = prepare(tmp_path, ranks, placement, tasks_with("loop"), [f"steps={STEPS}"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        for line in program.stdout:
            if "about to loop" in line:
                break
        (worker,) = workers()
        server = int(re.search(r"PPid:\s+(\d+)", Path(f"/proc/{worker}/status").read_text()).group(1))
        os.kill(server, signal.SIGKILL)
        program.communicate(timeout=60)
    assert program.returncode != 0


def wait_for(file, program):
    """Waits until the program, or a worker, has made the file."""
    deadline = time.monotonic() + 60
    while not file.exists() and program.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert file.exists(), program.communicate()[0]


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(["{mode: cores, buffer: 32 MiB}", "inline", "{mode: nodes, servers: 1}"]))
def test_a_worker_that_is_killed_while_it_starts(tmp_path, reference, placement):
    """A worker that fails at its start costs one iteration, and the next iteration starts another."""
    ranks, held = 1 if placement == "inline" else 3, tmp_path / "held"
    tasks = tasks_with("nothing", f"isolate: process, hold: {held}")
    command, results = prepare(tmp_path, ranks, placement, tasks, [f"steps={STEPS}"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        wait_for(held, program)
        (worker,) = workers()
        os.kill(worker, signal.SIGKILL)
        text, _ = program.communicate(timeout=60)
    assert program.returncode == 0 and "failed=1" in text, text
    assert "misbehave: could not be started in a process of its own" in text and "ended by SIGKILL" in text, text
    check(results, reference, {0})


@pytest.mark.test_all
@pytest.mark.parametrize("placement", ["inline", "{mode: cores, buffer: 32 MiB}"])
def test_a_worker_that_starts_dies_with_its_server(tmp_path, placement):
    """The fixture looks for remaining workers."""
    ranks, held = {"inline": 1, "{mode: cores, buffer: 32 MiB}": 2}[placement], tmp_path / "held"
    tasks = tasks_with("nothing", f"isolate: process, hold: {held}")
    command, _ = prepare(tmp_path, ranks, placement, tasks, [f"steps={STEPS}"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        wait_for(held, program)
        (worker,) = workers()
        server = int(re.search(r"PPid:\s+(\d+)", Path(f"/proc/{worker}/status").read_text()).group(1))
        os.kill(server, signal.SIGKILL)
        program.communicate(timeout=60)
    assert program.returncode != 0


@pytest.mark.test_all
def test_a_sidecar_that_dies_while_a_worker_starts(tmp_path):
    """The simulation goes on without servers."""
    held = tmp_path / "held"
    with Sidecar(tmp_path, tasks_with("nothing", f"isolate: process, hold: {held}", at=100)) as sidecar:
        servers = sidecar.serve(1)
        simulation = sidecar.start(2, f"steps={STEPS}")
        deadline = time.monotonic() + 60
        while not held.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        (worker,) = workers()
        server = int(re.search(r"PPid:\s+(\d+)", Path(f"/proc/{worker}/status").read_text()).group(1))
        os.kill(server, signal.SIGKILL)
        assert servers.wait() != 0
        assert simulation.wait() == 0, simulation.text()


C_DEATHS = {
    "crash": "ended by SIGSEGV",
    "abort": "ended by SIGABRT",
    "exit": "exited with status 0",
    "loop": "not answered within 1 s",
}


INLINE, CORES, NODES, PARTIALS = PLACEMENTS


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "how"),
    few(
        [(CORES, how) for how in ("refuse", "nothing", "crash", "abort", "exit", "loop")]
        + [(placement, "crash") for placement in (INLINE, NODES, PARTIALS)],
        kept=[(CORES, "refuse"), (CORES, "nothing"), (NODES, "crash")],
    ),
)
def test_plugins_in_c(tmp_path, reference, placement, how):
    tasks = tasks_with(how, "isolate: process, limit: 1 s").replace(PLUGIN, C_PLUGIN)
    tasks = tasks.replace("misbehave:", "misbehave_c: ")
    done = run(tmp_path, PLACEMENTS[placement], placement, tasks, [f"steps={STEPS}", "blocks=2", "ghosts=1"])
    assert done.status == 0, done.text
    lost = set() if how == "nothing" else {1}
    assert all(account["failed"] == len(lost) for account in done.accounts), done.text
    assert C_DEATHS.get(how, "planned failure in C" if how == "refuse" else "") in done.text, done.text
    assert ("misbehave_c: lost its process in iteration 1" in done.text) == (how in C_DEATHS), done.text
    check(done.results, reference, lost)


@pytest.mark.test_all
def test_the_same_results(tmp_path):
    """All built-in analyses, each in a process of its own and in the server's."""
    isolated = re.sub(r"^(  - \w+: \{)", r"\1isolate: process, ", ANALYSES, flags=re.MULTILINE)
    assert isolated.count("isolate") == ANALYSES.count("  - ")
    options = ["steps=2", "blocks=3", "ghosts=1"]
    own = run(tmp_path / "own", 3, "inline", ANALYSES, options)
    assert own.status == 0, own.text
    for n, (placement, ranks) in enumerate(PLACEMENTS.items()):
        other = run(tmp_path / str(n), ranks, placement, isolated, options)
        assert other.status == 0, other.text
        assert all(account["failed"] == 0 for account in other.accounts), other.text
        assert results_of(other) == results_of(own), placement


def test_expressions_of_others(tmp_path):
    """Other analyses, before and after the isolated one, have an expression instead of a name."""
    tasks = """\
analyses:
  - statistics: {variable: t * 2, file: before.csv}
  - statistics: {isolate: process, variable: t + 1, file: isolated.csv}
  - statistics: {isolate: process, variable: t}
  - statistics: {variable: sqrt(abs(t)), file: after.csv}
"""
    own = run(tmp_path / "own", 2, "inline", tasks.replace("isolate: process, ", ""), ["steps=2"])
    other = run(tmp_path / "other", 3, "{mode: nodes, buffer: 32 MiB, servers: 1}", tasks, ["steps=2"])
    assert own.status == 0 and other.status == 0, own.text + other.text
    assert all(account["failed"] == 0 for account in other.accounts), other.text
    assert results_of(other) == results_of(own)


@pytest.mark.test_all
def test_a_warning_where_nothing_can_be_ended(tmp_path):
    tasks = "analyses:\n  - sleep: {variable: t, seconds: 0.7, limit: 100 ms}\n"
    done = run(tmp_path, 1, "inline", tasks, ["steps=2"])
    assert done.status == 0, done.text
    # Reports come after 0.1, 0.2 and 0.4 s, later on a slow machine, and then maybe once more.
    times = [float(time) for time in re.findall(r"iteration 1: 'sleep' has been at work for (\S+) s", done.text)]
    assert len(times) >= 2 and all(time >= 0.0995 * 2**n for n, time in enumerate(times)), done.text
    assert "sleep: took longer than its limit of 0.1 s in 2 iterations on server 0" in done.text


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("fail: {variable: t, at: 0, isolate: process}", "which the program itself has registered"),
        ("statistics: {variable: t, memory_limit: 1 GiB}", "found 'memory_limit' without 'isolate: process'"),
        ("statistics: {variable: t, limit: soon}", "found 'soon' for 'limit', expected a time above 0"),
        ("statistics: {variable: t, limit: -1 s}", "found '-1 s' for 'limit', expected a time above 0"),
        ("statistics: {variable: t, isolate: thread}", "found 'thread'"),
    ],
)
def test_mistakes(tmp_path, task, sentence):
    done = run(tmp_path, 2, "inline", f"analyses:\n  - {task}\n", ["steps=1"])
    assert done.status != 0 and len(done.errors) == 2, done.text
    assert all(sentence in line for line in done.errors), done.text


def test_outputs_are_not_isolated(tmp_path):
    done = run(tmp_path, 1, "inline", "outputs:\n  - hdf5: {variables: [t], isolate: process}\n", ["steps=1"])
    assert done.status != 0 and "for an output, expected an analysis" in done.text, done.text


SCRIPT = """
import ctypes, os, sys

def above(block, how="nothing", at=1):
    if block.data.index == at and block.id == 0:
        print("about to", how)
        if how == "loop":
            while True:
                pass
        if how == "crash":
            ctypes.string_at(8)
        if how == "exit":
            os._exit(5)
        if how == "sys_exit":
            sys.exit(3)
        if how == "memory":
            kept = [bytes(1 << 24) + b"x" for _ in range(1000)]
    return {"above": int((block["t"] > 0)[block.counted("t")].sum())}
"""


@pytest.mark.keep(1)
@pytest.mark.skipif(not os.environ.get("SIDESTREAM_ANALYSES_IN_PYTHON"), reason="NOT TESTED: built without Python")
@pytest.mark.parametrize(
    ("how", "options", "report"),
    [
        ("loop", "limit: 2 s", "not answered within 2 s"),
        ("crash", "limit: 1 min", "ended by SIGSEGV"),
        ("exit", "limit: 1 min", "exited with status 5"),
        ("sys_exit", "limit: 1 min", "SystemExit"),
        ("memory", "memory_limit: 1 GiB", "MemoryError"),
    ],
)
def test_python(tmp_path, how, options, report):
    (tmp_path / "analyses.py").write_text(SCRIPT)
    entry = "python: {variables: t, script: analyses.py, call: above, file: above.csv"
    own = run(tmp_path, 2, "inline", f"analyses:\n  - {entry}}}\n", [f"steps={STEPS}"])
    assert own.status == 0, own.text
    whole = rows(own.results / "above.csv")
    tasks = f"analyses:\n  - {entry}, arguments: {{how: {how}}}, isolate: process, {options}}}\n"
    done = run(tmp_path, 3, "{mode: cores, buffer: 32 MiB}", tasks, [f"steps={STEPS}"])
    assert done.status == 0 and report in done.text, done.text
    assert rows(done.results / "above.csv") == [row for row in whole if row[0] != "1"]
    if how in ("loop", "crash"):  # the report tells where it was
        assert 'analyses.py", line' in (done.results / "run.yaml").read_text()
