"""Reads what a run left: times.csv of the oscillators, timings.csv and movement.csv of Sidestream."""

import csv
from collections import defaultdict
from dataclasses import dataclass
from statistics import median

WAITING = ("idle", "agree")  # a server's rows in which it works on nothing


def _rows(path):
    if not path.exists():
        return []
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _number(row, column):
    return float(row[column] or 0)


@dataclass
class RunRecord:
    """Seconds, all counted by the ranks of one run."""

    steps: int
    clients: int
    loop: float  # from the first step's start to the last step's end, slowest client
    end: float  # to the end of the loop or of the last analysis, whichever is later
    compute: float  # of a step on the slowest client, median over steps
    computing: float  # the same, sum over steps
    published: list[float]  # what each step of each client spent in Sidestream, without the first step
    analysis: float  # of an iteration on the busiest server, median over iterations
    server_busy: dict[str, float]  # by server


def read_run(folder):
    """The record of the run in `folder`."""
    times = _rows(folder / "times.csv")
    parts = ("compute", "publish", "end")
    loop = max(_number(row, "start") + sum(_number(row, part) for part in parts) for row in times)
    compute = defaultdict(float)
    for row in times:
        compute[row["step"]] = max(compute[row["step"]], _number(row, "compute"))
    busy, work, last = defaultdict(float), defaultdict(float), 0.0
    timings = _rows(folder / "timings.csv")
    began = min((_number(row, "start") for row in timings if row["role"] == "client"), default=0.0)
    endpoint = _rows(folder / "endpoint-timings.csv")
    for source, row in [("job", row) for row in timings] + [("endpoint", row) for row in endpoint]:
        if row["role"] != "server" or row["task"] in WAITING:
            continue
        server, seconds = f"{source} {row['rank']}", _number(row, "seconds")
        busy[server] += seconds
        work[server, int(row["iteration"])] += seconds
        # An endpoint's clock is its own: what it did counts, when it did it can't be compared.
        if source == "job":
            last = max(last, _number(row, "start") + seconds - began)
    slowest = defaultdict(float)
    for (_, iteration), seconds in work.items():
        slowest[iteration] = max(slowest[iteration], seconds)
    return RunRecord(
        steps=len(compute),
        clients=len({row["rank"] for row in times}),
        loop=loop,
        end=max(loop, last),
        compute=median(compute.values()),
        computing=sum(compute.values()),
        published=[_number(row, "publish") + _number(row, "end") for row in times if row["step"] != "0"],
        analysis=median(slowest.values()) if slowest else 0.0,
        server_busy=dict(busy),
    )


@dataclass
class Movement:
    """The data that came to servers, including halos."""

    by_server: dict[int, int]  # bytes of the whole run, by rank
    by_iteration: list[int]  # bytes of values without halos
    blocks: list[int]  # pieces by iteration


def read_movement(folder):
    """Returns the data that moved in the run in `folder`."""
    by_server, values, blocks = defaultdict(int), defaultdict(int), defaultdict(int)
    for row in _rows(folder / "movement.csv"):
        if row["role"] != "server":
            continue
        iteration = int(row["iteration"])
        by_server[int(row["rank"])] += int(row["bytes"]) + int(row["layer_bytes"])
        values[iteration] += int(row["bytes"])
        blocks[iteration] += int(row["blocks"])
    return Movement(dict(by_server), [values[i] for i in sorted(values)], [blocks[i] for i in sorted(blocks)])


def peak_memory(folder):
    """Bytes by rank of a run with `measure_memory`."""
    return {int(path.stem.removeprefix("peak-")): int(path.read_text()) for path in sorted(folder.glob("peak-*.txt"))}
