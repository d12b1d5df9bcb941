"""Runs the field program under mpirun, each run with a time limit, and reads what it prints."""

import os
import re
import shutil
import subprocess
from pathlib import Path

PROGRAM = os.environ["SIDESTREAM_FIELD_PROGRAM"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")

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
    """One finished run: its exit status, what it printed, the accounts of its clients, the folder of its results."""

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


def run(folder, ranks, placement, tasks=ANALYSES, options=(), extra="", timeout=100, environment=None):
    """Writes a configuration into `folder`, runs the program on `ranks` ranks and returns the Run."""
    folder = Path(folder)
    results = folder / "results"
    if results.exists() and "existing:" not in extra:
        shutil.rmtree(results)
    folder.mkdir(parents=True, exist_ok=True)
    text = f"placement: {placement}\n{VARIABLES}{tasks}"
    if "output:" not in extra:
        text += f"output: {{directory: {results}}}\n"
    text += extra
    (folder / "run.yaml").write_text(text)
    command = [MPIRUN, "-n", str(ranks), PROGRAM, str(folder / "run.yaml"), *options]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **(environment or {})}, check=False
    )
    return Run(done.returncode, done.stdout + done.stderr, results)


def results_of(run_, endings=(".csv", ".vtp", ".png")):
    """The bytes of every result file but timings, by name."""
    return {
        path.name: path.read_bytes()
        for path in sorted(run_.results.iterdir())
        if path.suffix in endings and path.name not in ("timings.csv", "movement.csv")
    }
