"""The same program in several languages gives the same bytes in every placement.

Usage: test_hello.py TOOL CONFIGURATION MPIRUN... -- PROGRAM...
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

# Ranks of the program, its placement, and the other job that this one needs.
PLACEMENTS = [
    (1, "{mode: inline}", None),
    (3, "{mode: cores, buffer: 32 MiB}", None),
    (3, "{mode: nodes, buffer: 32 MiB, servers: 1}", None),
    (2, "{mode: sidecar, buffer: 32 MiB, session: SESSION}", "serve"),
    (3, "{mode: job, buffer: 32 MiB, stream: {engine: files}}", "endpoint"),
]
STEPS = 3
# Otherwise each placement has the program of one language.
EVERYTHING = os.environ.get("SIDESTREAM_TEST_ALL") == "1"


def expected(step: int) -> np.ndarray:
    k, j, i = np.ogrid[0:8, 0:5, 0:6]
    return (i + 10 * j + 100 * k + 1000 * step) / 3


def run(folder: Path, program: str, ranks: int, beside: list[str] | None, mpirun: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SIDESTREAM_CONFIG"}
    interpreter = [sys.executable] if program.endswith(".py") else []
    command = [*mpirun, "-n", str(ranks), *interpreter, program]
    other = subprocess.Popen([*mpirun, "-n", "1", *beside], cwd=folder, env=environment) if beside else None
    try:
        subprocess.run(command, cwd=folder, env=environment, check=True, timeout=60)
        if other:
            assert other.wait(60) == 0, beside
    finally:
        if other and other.poll() is None:
            other.kill()


def check(folder: Path) -> bytes:
    """The table without its comment lines, which name the run."""
    for step in range(STEPS):
        with h5py.File(folder / f"results/fields-{step:06}.h5") as file:
            found = file["variables/greeting"][...]
        assert found.dtype == np.float64 and np.array_equal(found, expected(step)), f"step {step}: {found}"
    lines = (folder / "results/statistics.csv").read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(b"#"))


def main() -> int:
    split = sys.argv.index("--")
    tool, configuration, *mpirun = sys.argv[1:split]
    rest = Path(configuration).read_text(encoding="utf-8").split("\n", 1)[1]
    seen = {}
    programs = sys.argv[split + 1 :]
    for number, program in enumerate(programs):
        for turn, (ranks, placement, other) in enumerate(PLACEMENTS):
            if not EVERYTHING and turn % len(programs) != number:
                continue
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                placement = placement.replace("SESSION", folder.name)
                (folder / "run.yaml").write_text(f"placement: {placement}\n{rest}", encoding="utf-8")
                run(folder, program, ranks, [tool, other, "run.yaml"] if other else None, mpirun)
                seen[check(folder)] = f"{program} with {placement}"
            print(f"{program} on {ranks} ranks, {placement}: as calculated")
    assert len(seen) == 1, f"statistics.csv differs: {seen}"
    if not EVERYTHING:
        print(f"{(len(programs) - 1) * len(PLACEMENTS)} cases run in `make test-all` only (SIDESTREAM_TEST_ALL=1)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
