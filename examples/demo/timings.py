"""Reads what a run says about its time."""

import csv
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median


@dataclass
class Step:
    """Seconds of one step as the slowest client saw each part; `start` counts from the run's first step."""

    iteration: int
    start: float
    compute: float = 0.0
    publish: float = 0.0  # handing over, without waiting
    wait: float = 0.0  # for room in the buffer
    end: float = 0.0  # ending the iteration; inline: the analyses

    @property
    def total(self):
        return self.compute + self.inside

    @property
    def inside(self):
        """Spent in Sidestream's calls: what the simulation loses, whatever else the machine does meanwhile."""
        return self.publish + self.wait + self.end

    @property
    def share(self):
        """The part of the step that is spent in Sidestream, 0 to 1."""
        return self.inside / self.total if self.total > 0 else 0.0


@dataclass
class Task:
    """One analysis, output or other work of one iteration on one server."""

    iteration: int
    rank: int
    name: str
    start: float
    seconds: float


@dataclass
class Timings:
    steps: list[Step] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)

    def per_step(self, part):
        """Median over steps of one of a step's figures; the first step warms things up and is left out."""
        values = [getattr(step, part) for step in self.steps[1:] or self.steps]
        return median(values) if values else 0.0

    @property
    def loop(self):
        """Seconds from the first step's beginning to the last one's end."""
        if not self.steps:
            return 0.0
        last = self.steps[-1]
        return last.start + last.total - self.steps[0].start

    @property
    def busy(self):
        """Seconds that servers worked."""
        return sum(task.seconds for task in self.tasks)


def _number(row, column):
    return float(row.get(column) or 0)


def _slowest(rows_of_step):
    """Merges the clients' rows of one iteration."""
    iteration = rows_of_step[0].iteration
    merged = Step(iteration, min(row.start for row in rows_of_step))
    for part in ("compute", "publish", "wait", "end"):
        setattr(merged, part, max(getattr(row, part) for row in rows_of_step))
    return merged


def read_session(path):
    """The timings.csv that a Sidestream run leaves in its output directory."""
    clients, tasks = defaultdict(list), []
    with Path(path).open(newline="") as lines:
        for row in csv.DictReader(lines):
            iteration, start = int(row["iteration"]), _number(row, "start")
            if row.get("task") == "idle":
                continue
            if row.get("task"):
                tasks.append(Task(iteration, int(row["rank"]), row["task"], start, _number(row, "seconds")))
            elif row["role"] == "client":
                parts = {part: _number(row, part) for part in ("compute", "publish", "wait", "end")}
                clients[iteration].append(Step(iteration, start, **parts))
    return Timings([_slowest(clients[n]) for n in sorted(clients)], tasks)


def read_simulation(path):
    """The file of the simulation's own --times: works without Sidestream, knows no waiting and no tasks."""
    ranks = defaultdict(list)
    with Path(path).open(newline="") as lines:
        for row in csv.DictReader(lines):
            parts = {part: _number(row, part) for part in ("compute", "publish", "end")}
            ranks[int(row["step"])].append(Step(int(row["step"]), _number(row, "start"), **parts))
    return Timings([_slowest(ranks[n]) for n in sorted(ranks)])


def read_run(directory):
    """Reads the times of the run in `directory`: the simulation's own ones, and the session's for waiting and tasks."""
    timings = read_simulation(Path(directory) / "times.csv")
    session_file = Path(directory) / "timings.csv"
    if not session_file.exists():
        return timings
    session = read_session(session_file)
    if not session.steps:
        return timings
    # Both clocks see the first step begin (the session counts from its opening).
    offset = session.steps[0].start - timings.steps[0].start
    waits = {step.iteration: step.wait for step in session.steps}
    for step in timings.steps:
        step.wait = min(waits.get(step.iteration, 0.0), step.publish)
        step.publish -= step.wait
    for task in session.tasks:
        task.start -= offset
    timings.tasks = session.tasks
    return timings
