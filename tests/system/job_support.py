"""A simulation and its endpoint as two MPI jobs, each with a time limit."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from launched import run_in_job
from programs import built
from support import ANALYSES, MPIRUN, PROGRAM, VARIABLES, Run, launcher_hangs, results_of, send, wait_for

TOOL = built("SIDESTREAM_TOOL")
ENGINES = os.environ.get("SIDESTREAM_ENGINES", "files").split(",")

STATISTICS = "analyses:\n  - statistics: {variable: t}\n"
TABLES = STATISTICS + "  - histogram: {variable: t, bins: 17}\n"


def write_configuration(folder, stream="", placement="", tasks=ANALYSES, extra="", name="run.yaml", results="results"):
    """Writes a configuration with `placement: job` whose stream is in the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if (
        "buffer:" not in placement
    ):  # all pages of the default buffer are made at the start, which would take longer than most tests
        placement = f"buffer: 32 MiB, {placement}"
    (folder / name).write_text(
        f"placement: {{mode: job, {placement} stream: {{directory: {folder}/streams, {stream}}}}}\n"
        f"{VARIABLES}{tasks}output: {{directory: {folder}/{results}}}\n{extra}"
    )


class Process:
    """A job that runs. `finish` waits for it, and the end of the `with` block kills remaining processes."""

    def __init__(self, command, environment=None):
        self.running = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.running.poll() is None:
            self.kill()
        self.running.communicate()

    def kill(self):
        self.signal_ranks(signal.SIGKILL)
        self.running.kill()

    def finish(self, timeout=100):
        try:
            text, _ = self.running.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            if not launcher_hangs(str(late.stdout)) and self.ranks():  # else no rank is left, and only mpirun waits
                raise
            self.kill()
            text, _ = self.running.communicate()
        return self.running.returncode, text

    def wait_for_text(self, text):
        """Waits until the job has printed the text. `finish` returns only later output."""
        said = ""
        while text not in said:
            line = self.running.stdout.readline()
            assert line, f"the job ended without saying '{text}':\n{said}"
            said += line
        return said

    def ranks(self):
        """The processes that mpirun has started and that have not ended, in the order of ranks."""
        line = ["pgrep", "--runstates", "R,S,D,T,t", "-P", str(self.running.pid)]
        found = subprocess.run(line, capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def signal_ranks(self, number):
        for pid in self.ranks():
            send(pid, number)


def simulation(folder, clients, options=(), forwarders=1, name="run.yaml", environment=None):
    command = [MPIRUN, "-n", str(clients + forwarders), PROGRAM, str(Path(folder) / name), *options]
    return Process(command, environment)


class GoingOn(Process):
    """A simulation that goes on until `end`, so that tests act while it runs, however slow the machine is."""

    def __init__(self, folder, clients, options, pause_ms, name, forwarders):
        self.until = Path(folder) / "until"
        every = ["steps=100000000", f"pause_ms={pause_ms}", f"until={self.until}", *options]
        super().__init__([MPIRUN, "-n", str(clients + forwarders), PROGRAM, str(Path(folder) / name), *every])

    def end(self):
        self.until.touch()


def going_on(folder, clients, options=(), pause_ms=20, name="run.yaml", forwarders=1):
    return GoingOn(folder, clients, options, pause_ms, name, forwarders)


def endpoint(folder, ranks=1, options=(), name="run.yaml"):
    wait = [] if "--wait" in options else ["--wait", "60"]
    return Process([MPIRUN, "-n", str(ranks), TOOL, "endpoint", *wait, *options, str(Path(folder) / name)])


def finished(folder, process, timeout=100, results="results"):
    """Lets a simulation end, and returns its Run."""
    status, text = process.finish(timeout)
    return Run(status, text, Path(folder) / results)


def all_ranks(reader, count):
    """Returns the processes of an endpoint, once all of them have been started."""
    wait_for(lambda: len(reader.ranks()) == count, f"the endpoint's {count} processes")
    return reader.ranks()


def kill_one(reader, rng):
    """Kills one process of an endpoint, and waits for its end. Returns 1, or 0 if it had ended by itself."""
    found = []

    def begun():
        found[:] = reader.ranks()
        return found or reader.running.poll() is not None

    wait_for(begun, "the endpoint's processes")
    if found:
        send(rng.choice(found), signal.SIGKILL)
    reader.finish(30)
    return len(found[:1])


def serve_with_kills(folder, job, processes, kills, rng, connected=lambda _: None):
    """Kills endpoints at random moments and replaces them until the simulation ends. Returns how many were killed.
    `connected` returns once an endpoint may be killed."""
    killed = 0
    while job.running.poll() is None:
        with endpoint(folder, processes, ["--wait", "3"]) as reader:
            if killed < kills:
                connected(reader)
                time.sleep(rng.uniform(0.2, 2.0))
                killed += kill_one(reader, rng)
            else:
                reader.finish(100)
    return killed


def both(folder, clients, endpoints, options=(), stream="engine: files", placement="", **configuration):
    """Runs both jobs to their ends, and returns the simulation's Run. The endpoint must succeed.

    The simulation uses a job that other runs share, except with SST, which has its own threads."""
    write_configuration(folder, stream, placement, **configuration)
    forwarders = 2 if "per_node: 2" in placement else 1
    with contextlib.ExitStack() as ended:
        if "sst" in stream:
            job = ended.enter_context(simulation(folder, clients, options, forwarders))
        reader = ended.enter_context(endpoint(folder, endpoints))
        if "sst" in stream:
            done = finished(folder, job)
        else:
            arguments = [Path(folder) / "run.yaml", *options]
            said = run_in_job(PROGRAM, clients + forwarders, Path(folder) / "printed", arguments)
            done = Run(*said, Path(folder) / "results")
        status, text = reader.finish()
    assert status == 0, text + done.text
    done.endpoint_text = text
    return done


def tables_of(done):
    files = results_of(done, endings=(".csv",))
    return {name: content for name, content in files.items() if not name.startswith("endpoint-")}


def some_results(folder, results="results"):
    """The number of iterations in the table if there are several, so that the first ones have been acknowledged;
    otherwise 0."""
    table = folder / results / "statistics.csv"
    rows = len(table.read_text().splitlines()) - 1 if table.exists() else 0
    return rows if rows > 2 else 0
