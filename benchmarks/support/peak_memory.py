"""Runs a program and leaves the most memory it ever had resident in a file.

Usage: peak_memory.py PREFIX PROGRAM ARGUMENTS...    writes bytes to PREFIX-RANK.txt; as one rank of an MPI job
"""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


def main():
    prefix, *command = sys.argv[1:]
    rank = next((os.environ[name] for name in RANK_VARIABLES if name in os.environ), "0")
    process = subprocess.Popen(command)
    # The launcher's signals are for the program.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, lambda received, _: process.send_signal(received))
    status = process.wait()
    peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    Path(f"{prefix}-{rank}.txt").write_text(f"{peak}\n")
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
