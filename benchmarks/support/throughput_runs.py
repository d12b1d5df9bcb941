"""Runs of benchmarks/effective_throughput: extracts and pictures of simulations/bec, and small files."""

import csv
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 600
CONFIGURATION = """\
placement: inline
output: {{directory: results, fsync: {fsync}}}
analyses:
  - {task}
"""
SURFACE = "variable: density, values: [0.15 * $bulk]"
TASKS = {
    "extract": f'isosurface: {{{SURFACE}, file: "surface-{{index:05}}.vtp", pieces: true}}',
    "extract, one file": f'isosurface: {{{SURFACE}, file: "surface-{{index:05}}.vtp", pieces: false}}',
    "render": f'render: {{isosurface: {{{SURFACE}}}, size: SIZE, file: "frame-{{index:05}}.png"}}',
}
HELD = ("publish", "wait", "end")


class BenchmarkError(Exception):
    """Something to tell the user in a sentence."""


@dataclass
class Run:
    """One run. Seconds, files and bytes are those of a step, medians over the steps but the first."""

    ranks: int
    cells: int
    seconds: float  # of the slowest rank
    first: float
    files: int
    bytes: float
    triangles: float


def weak(each, ranks):
    """Cells along an axis of the whole grid if each rank has `each`³."""
    return round(each * ranks ** (1 / 3))


def launch(words, folder):
    """Runs a program under MPI, `words` being -n, ranks, the program, and its arguments. Returns what it printed.
    Raises BenchmarkError."""
    if not Path(words[2]).exists():
        raise BenchmarkError(f"{words[2]} does not exist; build it (bec needs a Fortran compiler), or see --build.")
    command = [str(ROOT / "scripts" / "mpirun-here"), *map(str, words)]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False, env=os.environ
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"'{' '.join(command)}' did not end within {LIMIT_SECONDS} s.") from None
    if done.returncode != 0:
        sys.stderr.write((done.stdout + done.stderr)[-2000:])
        raise BenchmarkError(f"'{' '.join(command)}' failed with status {done.returncode}.")
    return done.stdout


def held_up(table):
    """Seconds that Sidestream held up the slowest rank in each iteration."""
    slowest = defaultdict(float)
    with table.open() as file:
        for row in csv.DictReader(file):
            if row["role"] == "client":
                seconds = sum(float(row[name]) for name in HELD)
                slowest[int(row["iteration"])] = max(slowest[int(row["iteration"])], seconds)
    return [slowest[n] for n in sorted(slowest)]


def _triangles(files):
    found = (re.search(rb'NumberOfPolys="(\d+)"', file.read_bytes()[:4096]) for file in files)
    return sum(int(match[1]) for match in found if match)


def simulate(task, ranks, each, folder, options, picture=(1024, 768)):
    """Runs the condensate. A finer grid has the same vortices, as a grows with the square of the cells' size."""
    folder.mkdir(parents=True)
    text = TASKS[task].replace("SIZE", str(list(picture)))
    (folder / "run.yaml").write_text(CONFIGURATION.format(task=text, fsync="true" if options.fsync else "false"))
    cells = weak(each, ranks)
    words = ["-n", ranks, options.build / "simulations" / "bec" / "bec", "--size", cells]
    words += ["--a", min(1, 200 / cells**2), "--relax", 10, "--every", 1, "--steps", options.steps]
    launch([*words, "--quiet", "--sidestream", "run.yaml"], folder)
    times = held_up(folder / "results" / "timings.csv")
    last = f"-{len(times) - 1:05}"
    results = folder / "results"
    made = [path for path in results.rglob("*") if path.is_file() and last in path.relative_to(results).parts[0]]
    sizes = sum(path.stat().st_size for path in made)
    surfaces = [path for path in made if path.suffix == ".vtp"]
    return Run(ranks, cells, median(times[1:] or times), times[0], len(made), sizes, _triangles(surfaces))


@dataclass
class Merged:
    """Counts of benchmark_compositing for the busiest rank, with radix 8."""

    messages: int
    most: int  # messages by the program's own model
    bytes: float
    seconds: float


def composite(ranks, options):
    program = options.build / "benchmarks" / "benchmark_compositing"
    text = launch(["-n", ranks, program, 1024, 5], ROOT)
    found = re.search(
        r"radix 8: \d+ ranks, (\d+) messages \(model: at most (\d+)\), ([\d.]+) MB \([\d.]+\), ([\d.]+) ms", text
    )
    if not found:
        raise BenchmarkError(f"benchmark_compositing printed no line of radix 8: {text[:500]}")
    return Merged(int(found[1]), int(found[2]), float(found[3]) * 1e6, float(found[4]) * 1e-3)


def small_files(folder, total, counts, fsync):
    """Seconds to write `total` bytes into each number of files, one process after the other: medians of three."""
    data, found = os.urandom(total), []
    for count in counts:
        times = []
        for turn in range(3):
            place = folder / f"small-{count}-{turn}"
            place.mkdir(parents=True)
            start = time.perf_counter()
            for n in range(count):
                with (place / f"{n:06}").open("wb", buffering=0) as file:
                    file.write(data[total * n // count : total * (n + 1) // count])
                    if fsync:
                        os.fsync(file.fileno())
            times.append(time.perf_counter() - start)
        found.append((count, median(times)))
    return found
