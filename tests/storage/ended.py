"""Helpers that wait for processes that were killed."""

import time
from pathlib import Path


def gone(processes):
    """Waits until nobody writes any more."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if not any(alive(process) for process in processes):
            return
        time.sleep(0.002)
    raise AssertionError("a process outlives SIGKILL")


def alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
