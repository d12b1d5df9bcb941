"""Runs the tool's import and export of plotfiles, for their tests."""

import os
import subprocess
import sys

import amrex_files

TOOL = os.environ["SIDESTREAM_TOOL"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")


def run(*arguments, ranks=None):
    front = [] if ranks is None else [MPIRUN, "-n", str(ranks)]
    command = [*front, TOOL, *map(str, arguments)]
    environment = os.environ | {"SIDESTREAM_PYTHON": sys.executable}  # for the export
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


def imported(plot, place, ranks=None):
    """The plotfile, the database made from it, and the output."""
    original = amrex_files.write_plot(plot, place / "plt00040")
    done = run("import", "amrex", original, place / "data", "--no-fsync", ranks=ranks)
    assert done.returncode == 0, done.stderr
    return original, place / "data", done.stdout
