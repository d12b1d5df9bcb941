"""Metrics of a run as text of OpenMetrics 1.0, which Prometheus and its kin take in."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..watching.times import NO_WORK, OF_CLIENTS
from .sessions import Session
from .trace import replaced

_QUANTILES = (0.5, 0.9, 0.99, 1.0)
_OUTCOMES = ("delivered", "refused", "failed", "unknown")


@dataclass
class Family:
    """Samples of one metric: ends of their names, labels, and values."""

    name: str
    kind: str  # info, gauge, counter, summary
    help: str
    unit: str = ""
    samples: list[tuple[str, dict[str, Any], float]] = field(default_factory=list)

    def lines(self) -> Iterable[str]:
        yield f"# TYPE {self.name} {self.kind}"
        if self.unit:
            yield f"# UNIT {self.name} {self.unit}"
        yield f"# HELP {self.name} {self.help}"
        for ending, labels, value in self.samples:
            listed = ",".join(f'{name}="{_escaped(str(text))}"' for name, text in labels.items())
            yield f"{self.name}{ending}{{{listed}}} {value:.17g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _families(sessions: list[Session]) -> list[Family]:
    families = [
        Family("sidestream_run", "info", "The version, and the placement of the servers."),
        Family("sidestream_ranks", "gauge", "Ranks that have recorded times."),
        Family("sidestream_iterations", "counter", "Iterations by outcome."),
        Family("sidestream_client_seconds", "counter", "Time of all clients, by what they did.", "seconds"),
        Family("sidestream_held_seconds", "summary", "Time that an iteration held up a client.", "seconds"),
        Family("sidestream_task_seconds", "counter", "Time of all servers, by task.", "seconds"),
        Family("sidestream_task_runs", "counter", "Stretches of work of all servers, by task."),
        Family("sidestream_moved_bytes", "counter", "Values that moved between nodes, by role.", "bytes"),
        Family("sidestream_spilled_bytes", "counter", "Values that were written to disk for lack of room.", "bytes"),
        Family("sidestream_absent_blocks", "counter", "Blocks that were declared and not delivered."),
        Family("sidestream_messages", "counter", "Messages by level."),
    ]
    found = {family.name.removeprefix("sidestream_"): family.samples for family in families}
    for session in sessions:
        labels = {"of": session.title or "run"}
        _from_record(session, labels, found)
        _from_times(session, labels, found)
    return [family for family in families if family.samples]


def _from_record(session: Session, labels: dict[str, Any], found: dict[str, Any]) -> None:
    record = session.record
    account = record.get("account") or {}
    if record:
        facts = {"version": record.get("sidestream", ""), "placement": record.get("placement", "")}
        found["run"].append(("_info", {**labels, **facts}, 1))
    for outcome in _OUTCOMES:
        if outcome in account:
            found["iterations"].append(("_total", {**labels, "outcome": outcome}, account[outcome]))
    for name, key in (("spilled_bytes", "bytes_spilled"), ("absent_blocks", "absent_blocks")):
        if key in account:
            found[name].append(("_total", labels, account[key]))
    levels = [level for _, level, _, _ in session.messages]
    for level in sorted(set(levels)):
        found["messages"].append(("_total", {**labels, "level": level}, levels.count(level)))


def _from_times(session: Session, labels: dict[str, Any], found: dict[str, Any]) -> None:
    clients = [row for row in session.rows if row[1] == "client"]
    servers = [row for row in session.rows if row[1] == "server"]
    for role, rows in (("client", clients), ("server", servers)):
        if rows:
            found["ranks"].append(("", {**labels, "role": role}, len({row[0] for row in rows})))
    if clients:
        times = np.array([row[3][1:] for row in clients])
        for name, seconds in zip(OF_CLIENTS, times.sum(axis=0), strict=True):
            found["client_seconds"].append(("_total", {**labels, "part": name}, seconds))
        held = times[:, 1:].sum(axis=1)
        for quantile, seconds in zip(_QUANTILES, np.quantile(held, _QUANTILES, method="higher"), strict=True):
            found["held_seconds"].append(("", {**labels, "quantile": quantile}, seconds))
        found["held_seconds"] += [("_count", labels, len(held)), ("_sum", labels, held.sum())]
    for task in sorted({row[4] for row in servers}):
        own = [row[3][1] for row in servers if row[4] == task]
        named = {**labels, "task": task, "work": "no" if task in NO_WORK else "yes"}
        found["task_seconds"].append(("_total", named, sum(own)))
        found["task_runs"].append(("_total", named, len(own)))
    for role in sorted({row[1] for row in session.moved}):
        count = sum(row[4] for row in session.moved if row[1] == role)
        found["moved_bytes"].append(("_total", {**labels, "role": role}, count))


def write_metrics(path: Path, sessions: list[Session]) -> None:
    """Writes the text, whole or not at all."""
    lines = [line for family in _families(sessions) for line in family.lines()]
    with replaced(path) as temporary:
        temporary.write_text("\n".join([*lines, "# EOF"]) + "\n", encoding="utf-8")
