"""Runs the field program under mpirun, each run with a time limit, and reads its output."""

import contextlib
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from launched import run_in_job
from programs import built

PROGRAM = built("SIDESTREAM_FIELD_PROGRAM")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
# Seconds for which servers are stopped that clients must wait for.
STOPPED = float(os.environ.get("SIDESTREAM_STOPPED", "3"))

# Settings without MPI's shared memory: TCP with Open MPI, UCX's transports with MPICH. Each library ignores the
# other's. UCX_TLS=tcp is left out, because with it Debian 12's MPICH sometimes hangs in MPI_Finalize, in any program.
TCP = {"OMPI_MCA_btl": "tcp,self", "MPIR_CVAR_NOLOCAL": "1"}

needs_small_disks = pytest.mark.skipif(
    os.geteuid() != 0, reason="mounting a small tmpfs needs root: full disks are NOT TESTED"
)


@contextmanager
def small_disk(folder, size, in_use=False):
    """Makes a folder, and mounts a file system of that size ("700k") there meanwhile. Nobody may use it at the end,
    unless with `in_use`."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", *(["-l"] if in_use else []), str(folder)], check=True)


def wait_for(condition, what, limit=60):
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < limit, f"waited {limit} s for {what}"
        time.sleep(0.01)


def send(pid, number):
    """Sends a signal to a process that may have ended, because mpirun kills all ranks after one was killed."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


VARIABLES = """\
meshes: {grid: {type: uniform, size: [$n, $n, $n], spacing: [$h, $h, $h]}}
variables:
  t: {mesh: grid, type: float64, centering: cell, unit: K}
  p: {mesh: grid, type: float32, centering: node, components: 2, order: row}
"""

ANALYSES = """\
analyses:
  - statistics: {variable: t}
  - statistics: {name: nodes, variable: p, file: "nodes.csv"}
  - histogram: {variable: t, bins: 17}
  - slice: {variable: t, origin: [0.5, 0.5, 0.5], normal: [0.8, -0.5, 0.3], file: "slice-{index:05}.vtp"}
  - slice: {name: node-slice, variable: p, axis: x, position: 0.31, file: "node-slice-{index:05}.vtp"}
  - isosurface: {variable: t, values: [-0.3, 0.4], file: "surface-{index:05}.vtp"}
  - isosurface: {name: node-surface, variable: p, component: 0, values: [0.2], file: "node-surface-{index:05}.vtp"}
  - render: {isosurface: {variable: t, values: [-0.3, 0.4]}, slice: {variable: t, axis: z, position: 0.2},
             size: [160, 120], file: "frame-{index:05}.png"}
"""


class Run:
    """A finished run: its exit status, its output, the accounts of its clients, and the folder of its results."""

    def __init__(self, status, text, results):
        self.status = status
        self.text = text
        self.results = Path(results)
        self.accounts = [
            {k: int(v) for k, v in re.findall(r"(\w+)=(-?\d+)", line)}
            for line in text.splitlines()
            if line.startswith("account ")
        ]
        self.errors = [line for line in text.splitlines() if line.startswith("error ")]


def prepare(folder, ranks, placement, tasks, options, extra=""):
    """Writes the configuration. Returns the command and the folder of results."""
    folder = Path(folder)
    results = folder / "results"
    if results.exists() and "existing:" not in extra:
        shutil.rmtree(results)
    folder.mkdir(parents=True, exist_ok=True)
    if (
        placement == "cores"
    ):  # all pages of the default buffer are made at the start, which takes longer than most tests
        placement = "{mode: cores, buffer: 32 MiB}"
    text = f"placement: {placement}\n{VARIABLES}{tasks}"
    if "output:" not in extra:
        text += f"output: {{directory: {results}}}\n"
    text += extra
    (folder / "run.yaml").write_text(text)
    return [MPIRUN, "-n", str(ranks), PROGRAM, str(folder / "run.yaml"), *options], results


def run_beside(folder, command, steps, beside=None, timeout=100):
    """Runs `command` in a job that other runs share, and `beside` at the same time. Both must succeed, and each client
    must deliver all `steps` iterations.

    Returns the output of the command.
    """
    _, _, ranks, program, *arguments = command
    with _going_on(folder, beside, timeout):
        status, text = run_in_job(program, int(ranks), Path(folder) / "printed", arguments, timeout)
        assert status == 0, text
    accounts = [line for line in text.splitlines() if line.startswith("account ")]
    assert accounts, text
    for line in accounts:
        assert f"delivered={steps} refused=0 failed=0 unknown=0 absent=0" in line, text
    return text


@contextmanager
def _going_on(folder, command, timeout):
    """Runs servers during a simulation. They must succeed after its end."""
    if command is None:
        yield
        return
    with (folder / "beside.txt").open("w") as output:
        other = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield
            assert other.wait(timeout) == 0, (folder / "beside.txt").read_text()
        finally:
            if other.poll() is None:
                other.kill()


def launcher_hangs(text):
    """True if mpirun, which has printed the text, waits for ever. Open MPI 4 may, and prints this, if a process is
    killed just while it connects to mpirun."""
    return "PMIX ERROR: UNREACHABLE" in text


class Started:
    """A run that goes on while the test does something to it."""

    def __init__(self, process, results, timeout):
        self.process, self.results, self.timeout = process, results, timeout

    def finish(self):
        text, _ = self.process.communicate(timeout=self.timeout)
        return Run(self.process.returncode, text, self.results)


@contextmanager
def started(folder, ranks, placement, tasks=ANALYSES, options=(), timeout=100):
    """Starts the program and waits until its session has started. Ends it if the test fails."""
    command, results = prepare(folder, ranks, placement, tasks, options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            deadline = time.monotonic() + timeout
            while not (results / "run.yaml").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            yield Started(process, results, timeout)
        finally:
            if process.poll() is None:
                process.kill()


def ranks_of(process):
    """Process ids of the program's ranks, by rank, from the environment that the launcher gives them."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "exe").readlink() == Path(PROGRAM).resolve():
                environment = dict(
                    entry.split("=", 1) for entry in (folder / "environ").read_text().split("\0") if "=" in entry
                )
                parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
                rank = environment.get("OMPI_COMM_WORLD_RANK", environment.get("PMI_RANK"))
                if rank is not None and descends(int(parent), process.pid):
                    found[int(rank)] = int(folder.name)
        except (OSError, UnicodeDecodeError):
            continue
    return found


def descends(pid, ancestor):
    """True if a process is the ancestor or descends from it."""
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


def rank_of(run_, rank):
    """Process id of one rank of a started run."""
    return ranks_of(run_.process)[rank]


def run(folder, ranks, placement, tasks=ANALYSES, options=(), extra="", timeout=100, environment=None, alone=False):
    """Writes a configuration into `folder`, runs the program on `ranks` ranks, and returns the Run.

    Other runs share the job (launched.py), unless the run is `alone`, because of what it does to its processes.
    """
    command, results = prepare(folder, ranks, placement, tasks, options, extra)
    if environment is None and not alone:
        return Run(*run_in_job(PROGRAM, ranks, Path(folder) / "printed", command[4:], timeout), results)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(environment or {})}, check=False
    )
    return Run(done.returncode, done.stdout + done.stderr, results)


def without_charts(tasks):
    """The same tasks without pictures of their tables."""
    return re.sub(r",?\s*(?:\w+_)?image: \{(?:[^{}]|\{[^{}]*\})*\}", "", tasks)


def results_of(run_, endings=(".csv", ".vtp", ".png")):
    """The bytes of every result file except timings, by name."""
    return {
        path.name: path.read_bytes()
        for path in sorted(run_.results.iterdir())
        if path.suffix in endings and path.name not in ("timings.csv", "movement.csv", "iterations.csv")
    }


def check_delivered(done, clients, steps, files, reference):
    """Checks that all iterations arrived, by all clients, and that files have the bytes of the reference."""
    assert done.status == 0, done.text
    assert len(done.accounts) == clients, done.text
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] == steps, done.text
        assert account["refused"] == account["failed"] == account["unknown"] == account["absent"] == 0
    assert sorted(files) == sorted(reference)
    for name, content in reference.items():
        assert files[name] == content, f"{name} differs"
