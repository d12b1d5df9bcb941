"""Runs of benchmarks/visualisation: the oscillators with pictures, inline and beside a dedicated core."""

import csv
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, pstdev

ROOT = Path(__file__).resolve().parents[2]
INPUT = ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"
LIMIT_SECONDS = 600
CONFIGURATION = """\
placement: {placement}
output: {{directory: results, existing: replace}}
meshes:
  grid: {{type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables:
  field: {{mesh: grid, type: float64, centering: cell, label: Field}}
{rest}
"""
# Room for more iterations than a picture takes, or else the simulation waits for each.
PLACEMENTS = {"inline": "inline", "dedicated": "{mode: cores, per_node: 1, max_in_flight: 32}"}
LEVELS = "[-0.8, -0.6, -0.4, -0.25, -0.1, 0.1, 0.25, 0.4, 0.6, 0.8]"
LAYERS = {
    "isosurfaces": f"isosurface: {{variable: field, values: {LEVELS}, opacity: 0.6}}",
    "ray casting": "volume: {variable: field, opacity: [0.8, 0.3, 0, 0.3, 0.8], length: 0.2}",
}


class BenchmarkError(Exception):
    """Something to tell the user in a sentence."""


def picture(layer, size, every=1):
    """An entry of `analyses:`."""
    look = "colours: coolwarm, range: [-1, 1], background: white"
    name = f'"{layer.replace(" ", "-")}-{{index:05}}.png"'
    return f"render: {{{LAYERS[layer]}, {look}, size: {list(size)}, every: {every}, file: {name}}}"


@dataclass
class Run:
    """One run. Iterations without the first one, which warms memory."""

    iterations: list[float]  # seconds of the slowest client
    pictures: list[float]  # seconds of the slowest server
    processor: float  # seconds of all processes
    sent: tuple[int, int] | None  # bytes and messages of all ranks; None if MPI does not tell
    folder: Path
    steps: int

    @property
    def mean(self):
        return mean(self.iterations)

    @property
    def deviation(self):
        return pstdev(self.iterations)

    @property
    def spread(self):
        return max(self.iterations) / median(self.iterations)


def _rows(table):
    with table.open() as file:
        return list(csv.DictReader(file))


def iteration_times(rows):
    """Seconds of the slowest client in each iteration: computing, publishing, waiting, and the end."""
    slowest = defaultdict(float)
    for row in rows:
        if row["role"] == "client":
            seconds = sum(float(row[name]) for name in ("compute", "publish", "wait", "end"))
            slowest[int(row["iteration"])] = max(slowest[int(row["iteration"])], seconds)
    return [slowest[n] for n in sorted(slowest)]


def picture_times(rows):
    """Seconds of the slowest server for the pictures of each iteration that has some."""
    slowest = defaultdict(float)
    for row in rows:
        if row["role"] == "server" and row["task"] == "render":
            slowest[int(row["iteration"])] = max(slowest[int(row["iteration"])], float(row["seconds"]))
    return [slowest[n] for n in sorted(slowest)]


def sent_by_all(folder):
    """Bytes and messages of all ranks, by Open MPI's monitoring; None if there is none."""
    found = [
        (int(count), int(messages))
        for file in folder.glob("sent*.prof")
        for count, messages in re.findall(r"^[EI]\t\d+\t\d+\t(\d+) bytes\t(\d+) msgs", file.read_text(), re.M)
    ]
    return (sum(count for count, _ in found), sum(messages for _, messages in found)) if found else None


def _monitored(folder):
    names = {"enable": "2", "enable_output": "3", "filename": str(folder / "sent")}
    return {f"OMPI_MCA_pml_monitoring_{name}": value for name, value in names.items()}


def simulate(folder, options, placement, rest, *, ranks, steps, repeat=1, beside=None, counts=False):
    """Runs once in the new `folder`. `beside`: makes, of the output directory, a viewer who is there before the run
    begins. Raises BenchmarkError."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "run.yaml").write_text(CONFIGURATION.format(placement=PLACEMENTS[placement], rest=rest))
    program = options.build / "simulations" / "oscillators" / "oscillators"
    if not program.exists():
        raise BenchmarkError(f"{program} does not exist; build it with 'make build', or name the build with --build.")
    words = [ROOT / "scripts" / "mpirun-here", "-n", ranks, program, INPUT, "--grid", options.grid, "--steps", steps]
    words += ["--compute-repeat", repeat, "--quiet", "--sidestream", "run.yaml"]
    environment = {**os.environ, **(_monitored(folder) if counts else {})}
    viewer = beside(folder / "results") if beside else None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (folder / "output.txt").open("w") as log:
        run = subprocess.Popen(list(map(str, words)), cwd=folder, stdout=log, stderr=log, env=environment)
        try:
            if viewer:
                viewer.begin(run)
            status = run.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"{folder.name} did not end within {LIMIT_SECONDS} s") from None
        finally:
            run.kill()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)  # the viewer's page has not ended yet
            if viewer:
                viewer.end()
    if status:
        sys.stderr.write((folder / "output.txt").read_text()[-2000:])
        raise BenchmarkError(f"{folder.name} failed with status {status}.")
    rows = _rows(folder / "results" / "timings.csv")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    times = iteration_times(rows)
    sent = sent_by_all(folder) if counts else None
    return Run(times[1:] or times, picture_times(rows)[1:], processor, sent, folder, steps)


def wait_for(path, run, seconds=60):
    """Waits until the run has written a file. Raises BenchmarkError if it ends before."""
    until = time.monotonic() + seconds
    while not path.exists():
        if run.poll() is not None or time.monotonic() > until:
            raise BenchmarkError(f"the run wrote no '{path.name}'")
        time.sleep(0.01)
