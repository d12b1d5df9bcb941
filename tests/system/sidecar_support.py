"""Runs the field program and its servers as two jobs at the same time."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import uuid
from pathlib import Path

from programs import built
from support import ANALYSES, MPIRUN, PROGRAM, VARIABLES, Run, launcher_hangs, send, wait_for

TOOL = built("SIDESTREAM_TOOL")
STATISTICS = "analyses:\n  - statistics: {variable: t}\n"


class Job:
    """A job in the background, with its output in a file. All its processes are killed when the test ends in any
    way."""

    def __init__(self, command, output, environment=None, folder=None):
        self.output = Path(output)
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(
                command,
                stdout=file,
                stderr=file,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
                cwd=folder,
            )

    def text(self):
        return self.output.read_text()

    def wait(self, timeout=60):
        """Waits and returns the exit status. Fails the test after `timeout` seconds."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            left = self.members("sidestream", "field_program", "events_program")
            if launcher_hangs(self.text()) or not left:  # no rank is left, and only mpirun waits
                self.end()
                return self.process.returncode
            raise AssertionError(f"still running after {timeout} s: {left}\n{self.text()}") from None

    def members(self, *names):
        """Process ids of this job's running processes of those programs."""
        found = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                head, rest = status.read_text().rsplit(")", 1)
                fields = rest.split()
                # The name in stat is cut to 15 characters; field 6 is the session.
                named = head.split("(", 1)[1] in [name[:15] for name in names]
                mine = named and int(fields[3]) == self.process.pid
                if mine and fields[0] != "Z":
                    found.append(int(status.parent.name))
        return found

    def signal(self, number, name="sidestream"):
        for pid in self.members(name):
            send(pid, number)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for name in ("sidestream", "field_program", "events_program", "orted"):
            self.signal(signal.SIGKILL, name)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Sidecar:
    """A simulation with `placement: sidecar` and groups of servers for it, in one folder."""

    def __init__(self, folder, tasks=ANALYSES, extra="", **placement):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.results = self.folder / "results"
        shutil.rmtree(self.results, ignore_errors=True)
        self.session = f"test-{uuid.uuid4().hex[:12]}"
        self.placement = {"session": self.session, "buffer": "8 MiB", **placement}
        self.extra = extra
        self.file = self.write("run.yaml", tasks)
        self.until = self.folder / "until"
        self.until.unlink(missing_ok=True)
        self.jobs = []
        self.simulation = None

    def write(self, name, tasks, variables=VARIABLES, **placement):
        options = ", ".join(f"{k}: {v}" for k, v in {**self.placement, **placement}.items())
        output = "" if "output:" in self.extra else f"output: {{directory: {self.results}}}\n"
        path = self.folder / name
        path.write_text(f"placement: {{mode: sidecar, {options}}}\n{variables}{tasks}{output}{self.extra}")
        return path

    def start(self, ranks, *options, file=None):
        command = [MPIRUN, "-n", str(ranks), PROGRAM, str(file or self.file), *options]
        self.simulation = self.job(command, "simulation")
        return self.simulation

    def endless(self, ranks, *options):
        return self.start(ranks, "steps=100000000", f"until={self.until}", *options)

    def serve(self, processes=1, *options, file=None):
        """Starts servers; 0 `processes` means without mpirun."""
        launcher = [MPIRUN, "-n", str(processes)] if processes else []
        return self.job([*launcher, TOOL, "serve", str(file or self.file), *options], f"serve-{len(self.jobs)}")

    def job(self, command, name):
        self.jobs.append(Job(command, self.folder / f"{name}.txt"))
        return self.jobs[-1]

    def finish(self, timeout=60):
        """Lets an endless simulation end; returns its Run."""
        self.until.touch()
        status = self.simulation.wait(timeout)
        return Run(status, self.simulation.text(), self.results)

    def rows(self, name="statistics.csv"):
        path = self.results / name
        if not path.exists():
            return []
        return [int(line.split(",")[0]) for line in path.read_text().splitlines()[1:]]

    def wait_for_rows(self, more, timeout=60):
        """Waits until the table has at least `more` rows more than now."""
        wanted = len(self.rows()) + more
        self.wait_until(lambda: len(self.rows()) >= wanted, timeout, "rows")

    @staticmethod
    def wait_until(true, timeout=60, what="what the test waits for"):
        wait_for(true, what, timeout)

    def attachments(self):
        """The number of times that the simulation was told that servers came."""
        return len(re.findall("servers attached", self.simulation.text()))

    def sockets(self):
        return [line for line in Path("/proc/net/unix").read_text().splitlines() if self.session in line]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for job in self.jobs:
            job.end()


def shared_memory_users():
    """Processes that map memory of Sidestream."""
    users = []
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            if "memfd:sidestream" in maps.read_text():
                users.append(int(maps.parent.name))
    return users


def check_complete(done, clients):
    """Checks that every client's account adds up."""
    assert done.status == 0, done.text
    assert len(done.accounts) == clients, done.text
    for account in done.accounts:
        assert account["iterations"] == account["delivered"] + account["refused"] + account["unknown"], done.text
        assert account["failed"] == 0
    return done.accounts
