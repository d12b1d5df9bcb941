"""Runs of a program that are expected to end, one after the other in one job (in_turn.h).

A small run spends most of its time starting mpirun and MPI. So `run_in_job` keeps a job for each program and
environment, with as many ranks as were needed so far, and gives it one run after the other. Ranks that a run does not
need sleep. Each run has its own output, status and time limit. A job is ended if a run does not end or a rank dies, and
the next run gets another job.
"""

import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

# The smallest number of ranks of a job, and how many more it gets at a time. Most runs have fewer ranks.
RANKS, MORE = 8, 4
# Jobs at a time. The one that has not been used for longest makes room.
MOST_JOBS = 3
JOBS = {}


class Job:
    """mpirun and its ranks, which wait for runs. `died` is true if it ended during a run, which has reported that."""

    def __init__(self, program, ranks):
        self.ranks, self.died = ranks, False
        self.folder = tempfile.TemporaryDirectory(prefix="sidestream-job-")
        folder = Path(self.folder.name)
        names = [folder / f"orders.{rank}" for rank in range(ranks)]
        for name in [*names, folder / "replies"]:
            os.mkfifo(name)
        # Opened for reading and writing, so that neither side waits for the other to open its end.
        self.orders = [os.open(name, os.O_RDWR | os.O_CLOEXEC) for name in names]
        self.replies = os.open(folder / "replies", os.O_RDWR | os.O_CLOEXEC)
        self.printed = (folder / "printed").open("w+")
        self.process = subprocess.Popen(
            [_mpirun(), "-n", str(ranks), program, "--in-turn", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=self.printed,
            stderr=subprocess.STDOUT,
        )

    def run(self, ranks, file, arguments, timeout):
        """Returns the status, and the output of each rank and of mpirun. The status is the first one that is not 0,
        in the order of ranks, or mpirun's if ranks have died."""
        words = [str(ranks), str(file), *map(str, arguments)]
        assert not any(end in word for word in words for end in "\t\n"), f"a tab or a line end in {words}"
        line = "\t".join(words) + "\n"
        for pipe in self.orders[:ranks]:
            os.write(pipe, line.encode())
        deadline = time.monotonic() + timeout
        replies = b""
        while replies.count(b"\n") < ranks and self.process.poll() is None:
            if time.monotonic() > deadline:
                self.end()
                command = " ".join(self.command(ranks, arguments))
                raise AssertionError(f"not done after {timeout} s: {command}\n{_printed(file, ranks)}")
            if select.select([self.replies], [], [], 0.2)[0]:
                replies += os.read(self.replies, 4096)
        while select.select([self.replies], [], [], 0)[0]:  # replies that came just before mpirun ended
            replies += os.read(self.replies, 4096)
        if replies.count(b"\n") == ranks:
            statuses = dict(map(int, reply.split()) for reply in replies.splitlines())
            return next((statuses[rank] for rank in sorted(statuses) if statuses[rank]), 0), _printed(file, ranks)
        self.died = True  # before all ranks had told what they return
        self.printed.seek(0)
        text = _printed(file, ranks) + self.printed.read()
        if self.process.returncode == 0:
            self.end()
            raise AssertionError(f"ranks have ended before their run, and mpirun's status is 0:\n{text}")
        return self.process.returncode, text

    def command(self, ranks, arguments):
        """The command that would do the same run by itself."""
        return [_mpirun(), "-n", str(ranks), self.process.args[3], *map(str, arguments)]

    def end(self, limit=0):
        """Closes the pipes, after which waiting ranks return from main. Ranks that do not return within the limit
        are ended. Returns the status, and the output outside of runs."""
        for pipe in [*self.orders, self.replies]:
            os.close(pipe)
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self._terminate()
        self.printed.seek(0)
        text = self.printed.read()
        self.printed.close()
        self.folder.cleanup()
        return self.process.returncode, text

    def _terminate(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


def _mpirun():
    return os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")


def _printed(file, ranks):
    names = [Path(f"{file}.{rank}") for rank in range(ranks)]
    return "".join(name.read_text(errors="replace") for name in names if name.exists())


def run_in_job(program, ranks, file, arguments, timeout=100):
    """Runs the program on so many ranks with these arguments. Returns the status, and the output in the order of
    ranks, which is also in the files FILE.RANK."""
    environment = tuple(sorted((name, value) for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"))
    key = (program, str(Path.cwd()), environment)
    job = JOBS.pop(key, None)
    if job and (job.ranks < ranks or job.process.poll() is not None):
        end_well(job)
        job = None
    while len(JOBS) >= MOST_JOBS:
        end_well(JOBS.pop(next(iter(JOBS))))
    job = job or Job(program, max(RANKS, -(-ranks // MORE) * MORE))
    status, text = job.run(ranks, file, arguments, timeout)
    if job.died:
        job.end()
    elif job.process.poll() is None:
        JOBS[key] = job
    else:
        end_well(job)
    return status, text


def end_well(job):
    status, text = job.end(limit=60)
    assert status == 0, f"{' '.join(job.process.args)} ended with status {status} after all of its runs:\n{text}"


def end_jobs():
    """Ends all jobs, at the end of a session of pytest."""
    while JOBS:
        end_well(JOBS.popitem()[1])
