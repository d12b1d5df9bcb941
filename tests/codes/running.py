"""Runs a simulation under mpirun, and servers beside it if the placement needs them."""

import os
import subprocess
import uuid
from pathlib import Path

MPIRUN = os.environ["SIDESTREAM_MPIEXEC"]
TOOL = os.environ["SIDESTREAM_TOOL"]

# Placements, and the number of ranks of the job that are servers.
PLACEMENTS = {
    "inline": ("{mode: inline}", 0),
    "cores": ("{mode: cores, per_node: 1, buffer: 64 MiB}", 1),
    "nodes": ("{mode: nodes, servers: 2, buffer: 64 MiB}", 2),
    "sidecar": ("{mode: sidecar, session: SESSION, buffer: 64 MiB}", 0),
}


def run(folder, template, placement, ranks, program, arguments=(), timeout=100, environment=None):
    """Runs `program CONFIGURATION arguments` in `folder` on so many simulating ranks. The configuration is
    `template` with another line `placement:`. Returns the output; the run must succeed."""
    folder = Path(folder)
    mode, servers = PLACEMENTS[placement]
    mode = mode.replace("SESSION", f"codes-{uuid.uuid4().hex[:12]}")
    lines = Path(template).read_text().splitlines()
    lines = [f"placement: {mode}" if line.startswith("placement:") else line for line in lines]
    (folder / "run.yaml").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, **(environment or {})}
    server = None
    if placement == "sidecar":
        with (folder / "serve.txt").open("w") as output:
            server = subprocess.Popen([TOOL, "serve", "run.yaml"], cwd=folder, stdout=output, stderr=output)
    try:
        line = [MPIRUN, "-n", str(ranks + servers), *program, "run.yaml", *map(str, arguments)]
        done = subprocess.run(
            line, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if server:
            assert server.wait(30) == 0, (folder / "serve.txt").read_text()
    finally:
        if server and server.poll() is None:
            server.kill()
            server.wait()
    return done.stdout + done.stderr
