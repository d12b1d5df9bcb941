"""Blocks that programs in several languages replace in each iteration, and what statistics must say of them.

Tiles 0 to 15 of level 0 are always there; patches 16 and 17 on level 1 and the lists 100 to 105 come and go. Blocks
change their client after two iterations. `born` does not vary in time and is published where a block is new.
"""

import csv
import os
import subprocess

import numpy as np

STEPS = 6
CONFIGURATION = """\
placement: {PLACEMENT}
output: {directory: DIRECTORY, existing: replace}
meshes:
  m: {size: [16, 16], refinement: [2]}
  dots: {type: points, dimensions: 2, coordinates: place}
variables:
  t: {mesh: m}
  born: {mesh: m, type: int32, time_varying: false}
  place: {mesh: dots, components: 2}
  mass: {mesh: dots, centering: node}
analyses:
  - statistics: {variable: t, file: t.csv}
  - statistics: {variable: born, file: born.csv}
  - statistics: {variable: mass, file: mass.csv}
"""


def expected(step):
    """Counts and sums of `t`, `born` and `mass`."""
    tile = np.add.outer(4 * (np.arange(32) // 8), np.arange(32) // 8)
    t, born = tile + 100.0 * step, tile.copy()
    fine = np.zeros((32, 32), bool)
    for patch in (16, 17):
        if (step + patch) % 2 == 0:
            at = np.s_[8:16, 8 * (patch - 16) : 8 * (patch - 15)]
            t[at], born[at], fine[at] = patch + 100.0 * step, patch, True
    counts = fine | ((np.add.outer(np.arange(32) % 2, np.arange(32) % 2) == 0) & ~fine)
    masses = [step + p for p in range(100, 106) if (step + p) % 3 for _ in range((step + p) % 4)]
    return [(counts.sum(), t[counts].sum()), (counts.sum(), born[counts].sum()), (len(masses), sum(masses))]


def run(folder, command, ranks, placement):
    """Runs `command`, which publishes these blocks, and compares the tables. Returns their bytes."""
    results = folder / "results"
    text = CONFIGURATION.replace("{PLACEMENT}", placement).replace("DIRECTORY", str(results))
    (folder / "run.yaml").write_text(text)
    mpirun = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
    full = [mpirun, "-n", str(ranks), *map(str, command), str(folder / "run.yaml")]
    done = subprocess.run(full, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    tables = [results / f"{name}.csv" for name in ("t", "born", "mass")]
    rows = [list(csv.DictReader(table.open())) for table in tables]
    for step in range(STEPS):
        found = [(int(table[step]["count"]), float(table[step]["sum"])) for table in rows]
        assert found == expected(step), step
    assert {len(table) for table in rows} == {STEPS}
    return [table.read_bytes() for table in tables]
