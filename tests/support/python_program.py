"""Runs a simulation written in Python under mpirun, with its servers beside it where it has none itself."""

import os
import subprocess
import sys

TOOL = os.environ.get("SIDESTREAM_TOOL", "sidestream")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")


def run_program(program, file, ranks, beside=False, timeout=120):
    """Fails with the output of the program if it fails. `beside`: with `sidestream serve` for the same file."""
    servers = subprocess.Popen([TOOL, "serve", str(file)]) if beside else None
    try:
        command = [MPIRUN, "-n", str(ranks), sys.executable, str(program), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        if servers:
            assert servers.wait(30) == 0
    finally:
        if servers and servers.poll() is None:
            servers.kill()
