"""The three ways in which the demo runs, and running one of them."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from progress import Progress

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Mode:
    name: str  # folder
    title: str
    placement: str  # the one line that differs
    ranks: int  # one of them simulates in every mode


MODES = [
    Mode("no-analysis", "no analysis", "placement: off", 1),
    Mode("inline", "inline", "placement: inline", 1),
    Mode("one-core", "one dedicated core", "placement: {mode: cores, per_node: 1, buffer: 256 MiB}", 2),
]


class DemoError(Exception):
    """Something to tell the user in a sentence."""


def configuration(mode):
    """demo.yaml with the mode's placement line."""
    text, found = re.subn(r"(?m)^placement:.*$", mode.placement, (HERE / "demo.yaml").read_text())
    if found != 1:
        raise DemoError(f"{HERE / 'demo.yaml'}: found {found} lines that begin with 'placement:'; expected one.")
    return text


def run_mode(mode, program, directory, options):
    """Runs the simulation in `directory`, which must be empty, and shows its progress. Raises DemoError."""
    (directory / "run.yaml").write_text(configuration(mode))
    command = [
        *(str(ROOT / "scripts" / "mpirun-here"), "-n", str(mode.ranks), str(Path(program).resolve())),
        str(ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"),
        *("--sidestream", "run.yaml", "--times", "times.csv", "--progress"),
        *("--grid", str(options.grid), "--steps", str(options.steps), "--dt", "0.02"),
        *("--compute-repeat", str(options.compute_repeat)),
    ]
    progress = Progress(mode.title, options.steps)
    log = directory / "output.txt"
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process,
    ):
        for line in process.stdout:
            step = re.match(r"step (\d+) of ", line)
            if step:
                progress.show(int(step[1]))
            else:
                output.write(line)
    progress.end()
    if process.returncode != 0:
        sys.stderr.write(log.read_text()[-3000:])
        raise DemoError(f"The run '{mode.title}' failed with status {process.returncode}; its output is in {log}.")
