"""Steering: every client reads the same after the same iteration, in every placement, and people get answers.

Ranks that read different values would hang in the program's collective operations. The time limits of runs are part of
the check.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass

import pytest
from launched import run_in_job
from pairs import few, pairs
from programs import built
from support import MPIRUN

PROGRAM = built("SIDESTREAM_STEERING_PROGRAM")
PLUGIN = built("SIDESTREAM_STEERING_PLUGIN")
C_PLUGIN = built("SIDESTREAM_STEERING_C_PLUGIN")
TOOL = built("SIDESTREAM_TOOL")
LIMIT = 60

CONFIGURATION = """\
placement: {PLACEMENT}
output: {{directory: {FOLDER}/results, timings: false}}
meshes: {{grid: {{type: uniform, size: [$n]}}}}
variables: {{t: {{mesh: grid}}}}
steering:
  stop: {{type: integer, default: 0, minimum: 0, maximum: 1}}
  interval: {{type: real, default: 0.5, minimum: 0.01}}
plugins: [{PLUGIN}, {C_PLUGIN}]
"""
SETTER = "analyses: [setter: {variable: t, set_every: 5, stop_at: 30}]\n"


@dataclass
class Done:
    status: int
    text: str

    def numbers(self):
        """Iterations of rank 0: all, delivered, and refused ones."""
        return {k: int(v) for k, v in re.findall(r"(iterations|delivered|refused)=(\d+)", self.text)}

    def changes(self):
        """Values that rank 0 read, by the iterations after which they changed."""
        found = re.findall(r"after (\d+) stop=(\d) interval=(\S+)", self.text)
        return {int(n): (int(stop), float(interval)) for n, stop, interval in found}


def write(folder, placement, extra=SETTER):
    text = CONFIGURATION.format(PLACEMENT=placement, FOLDER=folder, PLUGIN=PLUGIN, C_PLUGIN=C_PLUGIN) + extra
    (folder / "run.yaml").write_text(text)
    return folder / "run.yaml"


@contextlib.contextmanager
def job(*command):
    """A process in the background, which is killed with all its children at the end."""
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def finish(process):
    text, _ = process.communicate(timeout=LIMIT)
    return Done(process.returncode, text)


def simulation(file, ranks, **options):
    return job(MPIRUN, "-n", ranks, PROGRAM, file, *(f"{k}={v}" for k, v in options.items()))


def run(folder, ranks, placement, extra=SETTER, **options):
    """Runs the program without steering by hand."""
    words = [f"{key}={value}" for key, value in ({"most": 10**9} | options).items()]
    file = write(folder, placement, extra)
    return Done(*run_in_job(PROGRAM, ranks, folder / "printed", [file, *words], LIMIT))


def check(done, stop_at=30, every=5, least=3):
    """Checks that all ranks read the same, that the analysis' values came in order, and that `stop` ended the run."""
    assert done.status == 0, done.text
    assert "error" not in done.text, done.text
    changes = done.changes()
    last = max(changes)
    assert changes[last][0] == 1, done.text
    assert done.numbers()["iterations"] == last + 1, done.text
    assert last > stop_at
    intervals = [interval for _, interval in changes.values()]
    assert intervals == sorted(intervals) and len(set(intervals)) >= least, done.text
    for interval in set(intervals[:-1]):
        assert interval == 0.5 or interval > every


DEDICATED = {
    "inline": 0,
    "{mode: cores, buffer: 32 MiB, per_node: 1}": 1,
    "{mode: cores, buffer: 32 MiB, per_node: 2, max_in_flight: 2}": 2,
    "{mode: nodes, buffer: 32 MiB, servers: 2}": 2,
    "{mode: nodes, buffer: 32 MiB, servers: 1, progress: calls, max_in_flight: 3}": 1,
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: blocks}": 2,
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials}": 2,
}


_, _, CORES, NODES, _, BLOCKS, _ = DEDICATED


@pytest.mark.parametrize(
    ("placement", "clients"), few(DEDICATED, [1, 2, 3, 5, 8], kept=[(NODES, 3), (CORES, 5), (BLOCKS, 2)])
)
def test_an_analysis_steers(tmp_path, placement, clients):
    # Values that other servers than the first set are looked for ten times a second.
    least = 1 if "partials" in placement else 3
    check(run(tmp_path, clients + DEDICATED[placement], placement, seed=clients), least=least)


@pytest.mark.parametrize("placement", ["inline", "{mode: cores, buffer: 32 MiB, per_node: 1}"])
def test_an_analysis_in_c_steers(tmp_path, placement):
    """The analysis also checks its refusals, and does not steer if one is wrong."""
    done = run(tmp_path, 2 + DEDICATED[placement], placement, "analyses: [c_setter: {}]\n", most=5000)
    assert done.status == 0 and "error" not in done.text, done.text
    changes = done.changes()
    last = max(changes)
    assert last > 12 and changes[last] == (1, 7.5), done.text
    assert (0, 7.5) in changes.values(), done.text
    assert done.numbers()["iterations"] == last + 1, done.text


def test_a_run_on_two_nodes(tmp_path):
    check(run(tmp_path, 6, "{mode: cores, buffer: 32 MiB, pretend_nodes: 2, max_in_flight: 1}", seed=9))


@pytest.mark.parametrize(
    ("clients", "placement"),
    pairs(
        [2, 5],
        ["{mode: cores, buffer: 32 MiB, when_full: skip}", "{mode: nodes, servers: 1, when_full: skip}"],
        strength=1,
    ),
)
def test_iterations_that_are_refused_count(tmp_path, placement, clients):
    """Clients that skip run ahead of their servers, though not further than `steering_ahead`."""
    full = placement[:-1] + ", max_in_flight: 1}"
    done = run(
        tmp_path, clients + 1, full, SETTER + "steering_ahead: 12\n", seed=3, most=10**6, pause_us=50, together=8
    )
    assert done.status == 0 and "error" not in done.text, done.text
    assert done.numbers()["refused"] > 0, done.text
    changes = done.changes()
    assert changes[max(changes)][0] == 1, done.text


@pytest.mark.keep(2)
@pytest.mark.parametrize("placement", ["inline", "{mode: cores, buffer: 32 MiB}", "{mode: nodes, servers: 2}"])
def test_the_same_iteration_everywhere_if_it_is_said(tmp_path, placement):
    ahead = SETTER + "steering_ahead: 10\n"
    done = run(tmp_path, 2 + {"inline": 0, "{mode: cores, buffer: 32 MiB}": 1}.get(placement, 2), placement, ahead)
    check(done)
    assert done.changes() == {
        **{n + 11: (0, n + 1.0) for n in (5, 10, 15, 20, 25)},
        41: (1, 31.0),
    }, done.text


def test_off_has_the_defaults(tmp_path):
    done = run(tmp_path, 2, "off", most=5)
    assert done.status == 0 and done.changes() == {} and "error" not in done.text, done.text


def ask(folder, *arguments, wait="30"):
    command = [TOOL, "set", *arguments, "--directory", str(folder / "results"), "--wait", wait]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


def wait_for_session(folder, process):
    deadline = time.monotonic() + LIMIT
    while not (folder / "results" / ".sidestream-steering" / "parameters").exists():
        assert process.poll() is None and time.monotonic() < deadline, "the session did not start"
        time.sleep(0.02)


def steer_by_hand(folder, process):
    """Does what a person may type. Returns the iterations that were promised."""
    wait_for_session(folder, process)
    listed = ask(folder)
    assert listed.stdout == "stop = 0 (integer, from 0, to 1)\ninterval = 0.5 (real, from 0.01)\n", listed
    for arguments, says in (
        (
            ("intervals", "2"),
            "refused: the parameter 'intervals' is unknown, expected one of stop, interval; did you mean",
        ),
        (("stop", "7"), "refused: 'stop' is 7, expected at most 1; give a value in that range"),
        (("stop", "maybe"), "refused: 'stop' is 'maybe', expected a whole number"),
        (("interval", "1e-9"), "refused: 'interval' is 1e-09, expected at least 0.01"),
    ):
        refused = ask(folder, *arguments)
        assert refused.returncode == 1 and refused.stdout.startswith(says), refused
    promised = {}
    for name, value in (("interval", "2.5"), ("interval", "1e3"), ("stop", "1")):
        done = ask(folder, name, value)
        found = re.fullmatch(rf"accepted: '{name}' is \S+ from the end of iteration (\d+) on\n", done.stdout)
        assert done.returncode == 0 and found, done
        promised[int(found[1])] = (1, 1e3) if name == "stop" else (0, float(value))
    return promised


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "ranks"),
    few(
        [
            ("inline", 3),
            ("{mode: nodes, buffer: 32 MiB, forward: blocks}", 4),
            ("{mode: cores, buffer: 32 MiB}", 4),
            ("{mode: nodes, buffer: 32 MiB, servers: 2}", 5),
        ],
        keep=2,
    ),
)
def test_a_person_steers(tmp_path, placement, ranks):
    with simulation(write(tmp_path, placement, ""), ranks, most=10**9, pause_us=2000) as process:
        promised = steer_by_hand(tmp_path, process)
        done = finish(process)
    assert done.status == 0 and "error" not in done.text, done.text
    assert done.changes() == promised, done.text
    assert done.numbers()["iterations"] == max(promised) + 1
    # No mailbox is left in which people would ask in vain.
    assert not (tmp_path / "results" / ".sidestream-steering").exists()
    late = ask(tmp_path, "stop", "0")
    assert late.returncode == 1 and "no session that can be steered runs in" in late.stderr, late


def test_a_session_that_does_not_answer(tmp_path):
    """The request is withdrawn, so that nobody takes it later."""
    folder = tmp_path / "results" / ".sidestream-steering"
    folder.mkdir(parents=True)
    (folder / "parameters").write_text("stop = 0 (integer)\n")
    late = ask(tmp_path, "stop", "1", wait="0.2")
    assert late.returncode == 1 and "no answer in 0.2 s; the request is withdrawn" in late.stderr, late
    assert sorted(path.name for path in folder.iterdir()) == ["parameters"]
    # A run that comes into the folder takes no requests for another run.
    (folder / "request-old").write_text("stop\n1\n")
    done = run(tmp_path, 2, "inline", "", most=20, pause_us=20000)
    assert done.status == 0 and done.changes() == {} and done.numbers()["iterations"] == 20, done.text


@pytest.mark.test_all
def test_a_sidecar_that_is_replaced(tmp_path):
    """After a group is killed, values stay, and the next group tells all values to all clients."""
    session = uuid.uuid4().hex
    file = write(tmp_path, f"{{mode: sidecar, buffer: 32 MiB, session: {session}}}", "")
    with simulation(file, 3, most=10**9, pause_us=3000) as process:
        with job(MPIRUN, "-n", 1, TOOL, "serve", file) as first:
            wait_for_session(tmp_path, first)
            accepted = ask(tmp_path, "interval", "4")
            assert accepted.returncode == 0, accepted
            children = subprocess.run(["pgrep", "-P", str(first.pid)], capture_output=True, text=True, check=True)
            os.kill(int(children.stdout.split()[0]), signal.SIGKILL)
            finish(first)
        with job(MPIRUN, "-n", 1, TOOL, "serve", file) as second:
            accepted = ask(tmp_path, "stop", "1")
            assert accepted.returncode == 0 and "'stop' is 1" in accepted.stdout, accepted
            done = finish(process)
            served = finish(second)
    assert done.status == 0 and "error 0" not in done.text, done.text
    assert served.status == 0, served.text
    # The session is over, so that no other servers need the values.
    assert not (tmp_path / "results" / ".sidestream-steering").exists()
    changes = done.changes()
    assert [changes[n] for n in sorted(changes)] == [(0, 4.0), (1, 4.0)], done.text


@pytest.mark.test_all
def test_an_endpoint_steers_its_simulation(tmp_path):
    """With `job`, values that an analysis sets in another job go the same way as people's changes."""
    file = write(tmp_path, f"{{mode: job, buffer: 32 MiB, stream: {{directory: {tmp_path}/streams, engine: files}}}}")
    with (
        simulation(file, 4, most=10**9, pause_us=20000) as process,
        job(MPIRUN, "-n", 2, TOOL, "endpoint", "--wait", "60", file) as endpoint,
    ):
        done = finish(process)
        read = finish(endpoint)
    assert read.status == 0, read.text
    check(done, least=1)  # requests that come at the same time take effect together
