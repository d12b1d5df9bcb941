"""Runs the mini-apps under mpirun, and writes their configurations."""

import os
import subprocess
import uuid
from contextlib import contextmanager


def command(ranks, *arguments, program):
    """The command line on so many ranks; 0 means without mpirun."""
    launch = [os.environ["MPIEXEC"], "-n", str(ranks), *os.environ.get("MPIEXEC_FLAGS", "").split()] if ranks else []
    return [*launch, program, *map(str, arguments)]


def run(ranks, *arguments, program, timeout=100, **options):
    """Runs the program; returns the finished process, whatever its status, with its output as text."""
    line = command(ranks, *arguments, program=program)
    return subprocess.run(line, capture_output=True, text=True, timeout=timeout, check=False, **options)


def succeed(ranks, *arguments, **options):
    """Returns the output of a run that must succeed."""
    done = run(ranks, *arguments, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def beside(line):
    """Runs another job while a mini-app runs. It must end in order, and does not outlive the test. None means no
    job."""
    if line is None:
        yield
        return
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as other:
        try:
            yield
            said, _ = other.communicate(timeout=100)
        finally:
            other.kill()
    assert other.returncode == 0, said


@contextmanager
def servers_elsewhere(mode, folder, configuration):
    """Runs the servers of a `sidecar`, or an endpoint of a `job`, while a mini-app runs; yields its placement.
    `configuration` makes the file that both read from the folder and the placement. The servers must end in order."""
    tool = os.environ["SIDESTREAM_TOOL"]
    if mode == "sidecar":
        placement, line = f"{{mode: sidecar, buffer: 32 MiB, session: mini-app-{uuid.uuid4().hex[:12]}}}", ["serve"]
    else:
        placement = f"{{mode: job, buffer: 32 MiB, stream: {{directory: {folder / 'streams'}, engine: files}}}}"
        line = ["endpoint", "--wait", "60"]
    file = configuration(folder, placement)
    with beside([tool, *line, str(file)]):
        yield placement


def write(folder, text, placement="inline", directory="out"):
    """Writes a configuration whose results go to a folder beside it."""
    file = folder / f"{directory}.yaml"
    file.write_text(text.format(placement=placement, directory=folder / directory))
    return file


def without_iteration(text):
    """Lines of a table without the numbers of iterations, which begin anew with a restart."""
    lines = [line.split(",") for line in text.splitlines()]
    at = lines[0].index("iteration")
    return [line[:at] + line[at + 1 :] for line in lines]
