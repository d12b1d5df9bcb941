"""Runs benchmark_io and reads what it leaves."""

import csv
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "benchmarks" / "io" / "benchmark_io"
LIMIT_SECONDS = 1800


class BenchmarkError(Exception):
    """Something to tell the user in a sentence."""


@dataclass
class Figures:
    """One method in one mode of one run. Throughputs in bytes per second, as the study of 2013 defines them."""

    method: str
    mode: str
    minimum: float = 0  # bytes / slowest rank, mean over the steps after the first
    mean: float = 0  # bytes / mean over the ranks, likewise
    initial: float = 0  # of the first step
    ratio: float = 0  # time of raw / time, in the same step; median
    behind: float = 0  # likewise, but time after the simulation could go on; 0 if it waits for the files
    files: float = 0  # a step
    visible: list[float] = field(default_factory=list)  # seconds that a step held the simulation up

    @property
    def spread(self):
        """Largest over median of what a step held the simulation up."""
        return max(self.visible) / median(self.visible)


def run(clients, arguments, *, io="ompio", servers=1, program=PROGRAM, directory=None):
    """Figures by (method, mode), in the order of the program; `clients` simulate beside the servers."""
    if not Path(program).exists():
        raise BenchmarkError(f"{program} does not exist; build it with 'make build', or name it with --program.")
    with tempfile.TemporaryDirectory(prefix="sidestream-io-", dir=directory) as folder:
        table = Path(folder) / "samples.csv"
        command = [str(ROOT / "scripts" / "mpirun-here"), "-n", str(clients + servers), str(program)]
        command += ["--servers", str(servers), "--directory", f"{folder}/files", "--csv", str(table), *arguments]
        # Other MPI libraries have no such components, and do not look at the variable.
        environment = {**os.environ, "OMPI_MCA_io": io}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"'{' '.join(command)}' did not end within {LIMIT_SECONDS} s.") from None
        if done.returncode != 0:
            sys.stderr.write((done.stdout + done.stderr)[-2000:])
            raise BenchmarkError(f"'{' '.join(command)}' failed with status {done.returncode}.")
        print("\n".join(line for line in done.stdout.splitlines() if line.startswith("left out")), file=sys.stderr)
        with table.open() as file:
            return figures(list(csv.DictReader(file)))


def figures(rows):
    """Figures by (method, mode) from the samples of one run."""
    samples = defaultdict(list)
    for row in rows:
        samples[row["method"], row["mode"]].append(row)
    raw = {(row["mode"], row["step"]): float(row["slowest"]) for row in rows if row["method"] == "raw"}
    found = {}
    for (method, mode), several in samples.items():
        of = Figures(method, mode, files=mean(int(row["files"]) for row in several))
        of.initial = int(several[0]["bytes"]) / float(several[0]["slowest"])
        later = several[1:] or several
        of.minimum = mean(int(row["bytes"]) / float(row["slowest"]) for row in later)
        of.mean = mean(int(row["bytes"]) / float(row["mean"]) for row in later)
        of.ratio = median(raw[mode, row["step"]] / float(row["slowest"]) for row in later)
        behind = [raw[mode, row["step"]] / float(row["behind"]) for row in later if float(row["behind"]) > 0]
        of.behind = median(behind) if behind else 0
        of.visible = [float(row["visible_slowest"]) for row in later]
        found[method, mode] = of
    return found
