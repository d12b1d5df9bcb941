"""Two hosts made of namespaces (see two-hosts). Processes on different hosts must not share memory."""

import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from pairs import few
from programs import built
from support import ANALYSES, MPIRUN, PROGRAM, VARIABLES, Run, results_of, run

STEPS = 2
TWO_HOSTS = str(Path(__file__).with_name("two-hosts"))
TOOL = built("SIDESTREAM_TOOL")


@dataclass
class Case:
    """Ranks on each host of the simulation's job, and of the servers' own job if there is one."""

    placement: str
    ranks: tuple[int, int]
    clients: int
    beside: str = ""  # the subcommand of `sidestream` in the other job
    others: tuple[int, int] = (1, 1)


JOB = "{mode: job, buffer: 32 MiB, stream: {directory: STREAMS, engine: files}}"
CASES = {
    "inline": Case("inline", (2, 1), 3),
    # Each host is a node, so that one server for each node makes two.
    "cores": Case("{mode: cores, per_node: 1, buffer: 8 MiB}", (3, 2), 3),
    "cores, two servers each": Case("{mode: cores, per_node: 2, buffer: 8 MiB}", (3, 4), 3),
    "nodes": Case("{mode: nodes, servers: 2, buffer: 8 MiB}", (3, 3), 4),
    "nodes, calls": Case("{mode: nodes, ranks: [0, 4], progress: calls, buffer: 8 MiB}", (3, 3), 4),
    "nodes, whole": Case("{mode: nodes, whole_nodes: 1, buffer: 8 MiB}", (3, 2), 3),
    "nodes, blocks": Case("{mode: nodes, ranks: [0, 5], forward: blocks, per_node: 1, buffer: 8 MiB}", (3, 3), 2),
    "nodes, blocks, whole": Case("{mode: nodes, whole_nodes: 1, forward: blocks, buffer: 8 MiB}", (3, 2), 2),
    "nodes, partials": Case("{mode: nodes, servers: 1, forward: partials, per_node: 1, buffer: 8 MiB}", (3, 4), 4),
    "sidecar": Case("{mode: sidecar, session: two-hosts, buffer: 8 MiB}", (2, 2), 4, "serve"),
    "job": Case(JOB, (3, 2), 3, "endpoint"),
    "job, elsewhere": Case(JOB, (3, 2), 3, "endpoint", (0, 2)),
}


def hosts_can_be_made():
    """An empty string if there can be two hosts, or else the reason."""
    probe = subprocess.run([TWO_HOSTS, "true"], capture_output=True, text=True, timeout=60, check=False)
    if probe.returncode == 0:
        return ""
    return "the two hosts are NOT TESTED: " + (probe.stderr.strip() or f"two-hosts exits with {probe.returncode}")


def commands():
    """The subcommands of this build's `sidestream`."""
    text = subprocess.run([TOOL, "--help"], capture_output=True, text=True, timeout=60, check=False).stdout
    return [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()]


@pytest.fixture
def tmp_path():
    """A folder on a disk, which the hosts share, unlike memory."""
    with tempfile.TemporaryDirectory(prefix="two-hosts-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Results of a run with one client and one block, inline, on one host. Skips if there cannot be two hosts."""
    if why := hosts_can_be_made():
        pytest.skip(why)
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    return results_of(done)


def mpirun(ranks, command):
    """A command line for the first host's shell that starts `command` on ranks[n] ranks of host n."""
    hosts = zip(("sidestream-one", "sidestream-two"), ranks, strict=True)
    where = ",".join(f"{host}:{n}" for host, n in hosts if n > 0)
    launch = [MPIRUN, "--host", where, "-n", str(sum(ranks)), "--map-by", "slot", "--mca", "plm", "rsh"]
    launch += ["--mca", "btl", "tcp,self"]
    return f'{shlex.join(launch)} --mca plm_rsh_agent "$TWO_HOSTS_AGENT" {shlex.join(command)}'


def on_two_hosts(folder, case, options, tasks=ANALYSES, kill_when=None, timeout=100):
    """Like `run` of support.py, on two hosts."""
    results, file = folder / "results", folder / "run.yaml"
    placement = case.placement.replace("STREAMS", str(folder / "streams"))
    file.write_text(f"placement: {placement}\n{VARIABLES}{tasks}output: {{directory: {results}}}\n")
    script = mpirun(case.ranks, [PROGRAM, str(file), *options])
    if case.beside:
        other = mpirun(case.others, [TOOL, case.beside, "--wait", "60", str(file)])
        script = f"{other} & {script}; status=$?; wait $! && exit $status"
    kill = ["--kill-second-when", str(kill_when)] if kill_when else []
    # Output goes to a file, because one waits for a pipe as long as any process has it.
    with (folder / "output.txt").open("w") as output:
        try:
            done = subprocess.run(
                [TWO_HOSTS, *kill, "sh", "-c", script], stdout=output, stderr=output, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired as late:
            said = (folder / "output.txt").read_text()
            raise AssertionError(f"not done after {timeout} s; it said:\n{said}") from late
    return Run(done.returncode, (folder / "output.txt").read_text(), results)


@pytest.mark.parametrize("name", few(sorted(CASES), kept=["nodes, partials"]))
def test_the_same_results_as_on_one_host(tmp_path, reference, name):
    case = CASES[name]
    if case.beside and case.beside not in commands():
        pytest.skip(f"NOT TESTED: this build has no `sidestream {case.beside}`")
    done = on_two_hosts(tmp_path, case, [f"steps={STEPS}", "blocks=2", "ghosts=1"])
    assert done.status == 0, done.text
    assert len(done.accounts) == case.clients, done.text
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] == STEPS, done.text
        assert account["refused"] == account["failed"] == account["unknown"] == account["absent"] == 0
    files = {
        name: content
        for name, content in results_of(done).items()
        if not any(table in name for table in ("timings", "movement", "iterations"))
    }
    assert sorted(files) == sorted(reference)
    for file, content in reference.items():
        assert files[file] == content, f"{file} differs"


@pytest.mark.test_all
@pytest.mark.usefixtures("reference")
@pytest.mark.parametrize("name", few(["nodes", "cores", "nodes, blocks, whole", "nodes, partials"]))
def test_the_job_ends_when_the_servers_host_dies(tmp_path, name):
    """Results of earlier iterations are kept. Ranks of the first host must not wait for the dead for ever."""
    tasks = "analyses:\n  - statistics: {variable: t}\n"
    first_row = tmp_path / "results" / "statistics.csv"
    done = on_two_hosts(tmp_path, CASES[name], ["steps=100000", "pause_ms=5"], tasks, kill_when=first_row)
    assert done.status != 0, done.text
    assert len(done.accounts) == 0
    assert first_row.read_text().splitlines()[1].startswith("0,")
