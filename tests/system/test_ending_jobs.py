"""Runs that are told to end whose servers are another job: `sidecar` and `job`."""

import os
import re
import signal
import sys
import uuid
from pathlib import Path

import pytest
from pairs import few
from programs import built
from sidecar_support import Job
from support import MPIRUN, wait_for

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader

PROGRAM = built("SIDESTREAM_ENDING_PROGRAM")
TOOL = built("SIDESTREAM_TOOL")

CONFIGURATION = """\
placement: {PLACEMENT}
output: {{directory: {FOLDER}/results}}
meshes: {{grid: {{type: uniform, size: [$n]}}}}
variables: {{u: {{mesh: grid}}}}
analyses:
  - statistics: {{variable: u}}
outputs:
  - database: {{variables: [u], every: 100000, directory: "checkpoints"}}
ending: {{signals: [USR1], margin: 1 h}}
"""


class Two:
    """A simulation and its servers, which go on until they are told to end."""

    def __init__(self, folder, placement, serve, ranks, servers):
        self.results = folder / "results"
        (folder / "run.yaml").write_text(CONFIGURATION.format(PLACEMENT=placement, FOLDER=folder))
        steps = ["most=10000000", "pause_us=1000"]
        self.simulation = Job(
            [MPIRUN, "-n", str(ranks), PROGRAM, folder / "run.yaml", *steps], folder / "simulation.txt"
        )
        command = [MPIRUN, "-n", str(servers), TOOL, serve, "--wait", "60", folder / "run.yaml"]
        self.servers = Job(command, folder / "servers.txt")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.simulation.end()
        self.servers.end()

    def rows(self):
        table = self.results / "statistics.csv"
        return [int(line.split(",")[0]) for line in table.read_text().splitlines()[1:]] if table.exists() else []

    def run_on(self, more=20):
        wanted = len(self.rows()) + more
        wait_for(lambda: len(self.rows()) >= wanted, "rows")

    def tell(self, job, name, some=None):
        for pid in job.members(name)[:some]:
            os.kill(pid, signal.SIGUSR1)

    def check(self):
        """Both end in order, and the checkpoint of the last iteration is there."""
        assert self.simulation.wait() == 0, self.simulation.text()
        assert self.servers.wait() == 0, self.servers.text()
        text = self.simulation.text()
        assert "error" not in text, text
        last, iterations, delivered = (
            int(re.search(rf"{name}=(\d+)", text)[1]) for name in ("last", "iterations", "delivered")
        )
        assert iterations == last + 1 and delivered > 0, text
        assert self.rows()[-1] == last
        contexts = database_reader.contexts(self.results / "checkpoints").values()
        assert max(int(c.entry["cycle"]) for c in contexts) == last


@pytest.fixture(params=few(["sidecar", "job"]))
def two(request, tmp_path):
    if request.param == "sidecar":
        placement = f"{{mode: sidecar, session: test-{uuid.uuid4().hex[:12]}, buffer: 8 MiB, when_full: wait}}"
        pair = Two(tmp_path, placement, "serve", ranks=2, servers=1)
    else:
        placement = f"{{mode: job, buffer: 8 MiB, stream: {{directory: {tmp_path}/streams, engine: files}}}}"
        pair = Two(tmp_path, placement, "endpoint", ranks=3, servers=2)
    with pair:
        yield pair


def test_one_rank_of_the_simulation_is_told(two):
    two.run_on()
    two.tell(two.simulation, "ending_program", 1)
    two.check()


def test_everything_is_told(two):
    """As `scancel` does: all processes of both jobs. Servers that left at once would miss the last iterations."""
    two.run_on()
    two.tell(two.servers, "sidestream")
    two.tell(two.simulation, "ending_program")
    two.check()


def test_only_the_servers_are_told(two):
    two.run_on()
    two.tell(two.servers, "sidestream", 1)
    if (two.results.parent / "streams").exists():
        two.run_on()  # an endpoint may be told because its own job ends
        two.tell(two.simulation, "ending_program")
    two.check()
