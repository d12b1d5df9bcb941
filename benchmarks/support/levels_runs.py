"""Runs of simulations on refinement levels and octrees for benchmarks/needed_levels, and what they leave."""

import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from launch import LIMIT_SECONDS, PEAK_MEMORY, ROOT, BenchmarkError
from records import WAITING, _number, _rows, peak_memory

MPIRUN = str(ROOT / "scripts" / "mpirun-here")


@dataclass
class Simulation:
    """A program, how it is called, and what is analysed of it."""

    program: str
    arguments: list[str]
    analyses: dict[str, str]  # by name in the tables
    declared: str = ""  # a mesh of its kind, as a configuration declares it

    @property
    def name(self):
        return f"{self.program} {self.arguments[0]}"


@dataclass
class Step:
    """One iteration of a run, summed over its servers."""

    bytes: int  # of values that came to them, halos included
    blocks: int  # pieces
    solver: float  # seconds since the iteration before, without Sidestream's part; of the slowest client
    analysis: float  # of the busiest server


@dataclass
class Row:
    """One case."""

    simulation: str
    analysis: str
    placement: str
    move: str
    clients: int
    servers: int
    steps: list[Step]
    memory: int  # bytes resident at most, of the server with most
    seconds: float  # until both jobs, or the one, had ended
    published: int  # bytes that clients published in an iteration, mean

    @property
    def cost(self):
        """CPU-hours: all ranks, all the time."""
        return self.seconds * (self.clients + self.servers) / 3600

    @property
    def moved(self):
        return mean(step.bytes for step in self.steps)

    @property
    def processing(self):
        return mean(step.analysis for step in self.steps)


def refusal(simulation, analysis, builds, folder):
    """Why the build does not do that analysis on such a mesh; nothing if it does."""
    text = f"meshes: {{m: {simulation.declared}}}\nvariables:\n  density: {{mesh: m}}\n"
    if "refined" in simulation.declared:
        text += "  refined: {mesh: m, type: uint8}\n"
    file = folder / "check.yaml"
    file.write_text(f"{text}analyses:\n  - {analysis}\n")
    line = [str(builds / "tools" / "sidestream"), "check", str(file)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip() if done.returncode else ""


def configuration(simulation, analysis, placement):
    return (
        f"placement: {placement}\n"
        "output: {directory: ., existing: replace}\n"
        f"analyses:\n  - {simulation.analyses[analysis]}\n"
    )


def run(simulation, text, folder, builds, clients, servers, job=False, memory=True):
    """Runs it in the new folder, with an endpoint beside it if `job`; returns the seconds it took."""
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(text)
    program = builds / "simulations" / simulation.program / simulation.program
    if not program.exists():
        raise BenchmarkError(f"{program} does not exist; build it with 'make build'.")

    def wrapped(what):
        return [sys.executable, str(PEAK_MEMORY), str(folder / what)] if memory else []

    # With `job` one rank more sends.
    ranks = clients + (1 if job else servers)
    line = [MPIRUN, "-n", str(ranks), *wrapped("peak"), str(program), *simulation.arguments]
    line += ["--sidestream", "case.yaml", "--quiet"]
    endpoint = [MPIRUN, "-n", str(servers), *wrapped("endpoint"), str(builds / "tools" / "sidestream"), "endpoint"]
    began = time.monotonic()
    with (folder / "output.txt").open("w") as output:
        beside = None
        if job:
            beside = subprocess.Popen([*endpoint, "case.yaml"], cwd=folder, stdout=output, stderr=output)
        try:
            done = subprocess.run(
                line, cwd=folder, stdout=output, stderr=output, timeout=LIMIT_SECONDS, check=False
            ).returncode
            done = done or (beside.wait(LIMIT_SECONDS) if beside else 0)
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"{folder.name} did not end within {LIMIT_SECONDS} s.") from None
        finally:
            if beside and beside.poll() is None:
                beside.kill()
    if done != 0:
        sys.stderr.write((folder / "output.txt").read_text()[-2000:])
        raise BenchmarkError(f"{folder.name} failed with status {done}.")
    return time.monotonic() - began


def read_steps(folder, job):
    """Returns the data and the work of servers in each iteration, and the simulation's work meanwhile."""
    prefix = "endpoint-" if job else ""
    moved, blocks, work, solver = defaultdict(int), defaultdict(int), defaultdict(float), defaultdict(float)
    for row in _rows(folder / f"{prefix}movement.csv"):
        if row["role"] == "server":
            iteration = int(row["iteration"])
            moved[iteration] += int(row["bytes"]) + int(row["layer_bytes"])
            blocks[iteration] += int(row["blocks"])
    for row in _rows(folder / f"{prefix}timings.csv"):
        if row["role"] == "server" and row["task"] not in WAITING:
            work[int(row["iteration"]), row["rank"]] += _number(row, "seconds")
    for row in _rows(folder / "timings.csv"):
        if row["role"] == "client":
            iteration = int(row["iteration"])
            solver[iteration] = max(solver[iteration], _number(row, "compute"))
    busiest = defaultdict(float)
    for (iteration, _), seconds in work.items():
        busiest[iteration] = max(busiest[iteration], seconds)
    if not solver:
        raise BenchmarkError(f"{folder}: no iteration was recorded.")
    return [Step(moved[n], blocks[n], solver[n], busiest[n]) for n in sorted(solver)]


def measure(simulation, analysis, move, folder, builds, clients, servers, job=False):
    """One case as a Row."""
    if job:
        placement = "{mode: job, per_node: 1, stream: {name: s, directory: ., engine: files}}"
    else:
        placement = f"{{mode: nodes, servers: {servers}, move: {move}, buffer: 512 MiB}}"
    text = configuration(simulation, analysis, placement)
    seconds = run(simulation, text, folder, builds, clients, servers, job)
    steps = read_steps(folder, job)
    if job:
        found = [int(path.read_text()) for path in folder.glob("endpoint-[0-9]*.txt")]
    else:
        found = [most for rank, most in peak_memory(folder).items() if rank >= clients]
    return Row(simulation.name, analysis, "job" if job else "nodes", move, clients, servers, steps, max(found), seconds,
               0)  # fmt: skip


def results(folder):
    """The bytes of what the analysis left, by name."""
    own = ("movement", "timings", "iterations", "endpoint")
    return {
        path.name: path.read_bytes()
        for ending in ("csv", "vtu", "vtp", "h5", "png")
        for path in sorted(Path(folder).glob(f"*.{ending}"))
        if not path.name.startswith(own)
    }
