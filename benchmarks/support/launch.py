"""Starts the oscillators, or another mini-app, in a folder of its own and says how long it and its servers took."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INPUT = ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"
PROGRAM = ROOT / "build" / "release" / "simulations" / "oscillators" / "oscillators"
PEAK_MEMORY = Path(__file__).with_name("peak_memory.py")
LIMIT_SECONDS = 300


class BenchmarkError(Exception):
    """Something to tell the user in a sentence."""


@dataclass
class Job:
    """One run of a program, the oscillators unless told."""

    ranks: int
    configuration: str
    arguments: list[str] = field(default_factory=list)
    beside: tuple[str, ...] = ()  # a command that runs beside it; {sidestream} is the tool
    input: tuple[str, ...] = (str(INPUT),)  # what the program takes before its options


@contextlib.contextmanager
def work_folder(keep=None):
    """The folder for files of runs: `keep`, which is new, or one that is removed at the end. That one is in memory if
    there is room, so that times do not include the disk and its flushes."""
    if keep is not None:
        keep.mkdir(parents=True)
        yield keep
        return
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2 << 30
    with tempfile.TemporaryDirectory(prefix="sidestream-", dir=memory if roomy else None) as folder:
        yield Path(folder)


def run(job, folder, program=PROGRAM, measure_memory=False):
    """Runs `job` in the new folder `folder`, which then holds its results, times.csv and output.txt. With
    `measure_memory` also peak-RANK.txt, bytes. Raises BenchmarkError."""
    folder, program = Path(folder).resolve(), Path(program).resolve()
    if not program.exists():
        raise BenchmarkError(f"{program} does not exist; build it with 'make build', or name it with --program.")
    folder.mkdir(parents=True)
    (folder / "case.yaml").write_text(job.configuration)
    wrapper = [sys.executable, str(PEAK_MEMORY), str(folder / "peak")] if measure_memory else []
    command = [
        *(str(ROOT / "scripts" / "mpirun-here"), "-n", str(job.ranks), *wrapper, str(program), *job.input),
        *("--sidestream", "case.yaml", "--times", "times.csv", "--quiet", *job.arguments),
    ]
    log = folder / "output.txt"
    with log.open("w") as output, _beside(job.beside, folder, program):
        try:
            done = subprocess.run(
                command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"{folder.name} did not end within {LIMIT_SECONDS} s; see {log}.") from None
    if done.returncode != 0:
        sys.stderr.write(log.read_text()[-2000:])
        raise BenchmarkError(f"{folder.name} failed with status {done.returncode}; its output is in {log}.")
    _require_all_delivered(folder)


def tool_beside(program):
    """The `sidestream` command of the build that `program` is from."""
    return Path(program).resolve().parents[2] / "tools" / "sidestream"


def knows(program, command):
    """Tells if that build has the tool's command of that name, which runs next to the program."""
    if not command:
        return True
    text = subprocess.run([str(tool_beside(program)), "--help"], capture_output=True, text=True, check=False).stdout
    return re.search(rf"^\s+{command[command.index('{sidestream}') + 1]}\b", text, re.M) is not None


@contextlib.contextmanager
def _beside(command, folder, program):
    """A process outside the job, which ends when the job does."""
    if not command:
        yield
        return
    words = [str(tool_beside(program)) if word == "{sidestream}" else word for word in command]
    with (folder / "beside.txt").open("w") as output:
        process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield
            process.wait(30)
        except subprocess.TimeoutExpired:
            raise BenchmarkError(f"{folder.name}: '{' '.join(words)}' did not end.") from None
        finally:
            process.kill()


def _require_all_delivered(folder):
    record = folder / "run.yaml"  # none with `placement: off`
    text = record.read_text() if record.exists() else ""
    lost = re.findall(r"^  (refused|failed|unknown): ([1-9]\d*)$", text, re.M)
    if lost:
        raise BenchmarkError(f"{folder.name}: not all steps were analysed ({lost}); see {record}.")
