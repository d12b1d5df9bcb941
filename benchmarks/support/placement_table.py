"""The report of benchmarks/placements: figures per case, CSV, markdown."""

import csv
from dataclasses import asdict, dataclass
from statistics import median


@dataclass
class Row:
    group: str
    placement: str
    split: str
    run: float  # s, the simulation's loop
    end: float  # s, until the last analysis too
    ratio: float  # to the run without analyses on as many simulating ranks
    step: float  # s, tau_c
    analysis: float  # s, tau_a
    balanced: bool  # n tau_c >= tau_a
    lost_cpu_hours: float  # of all ranks, beyond what the group's run without analyses takes
    spare: float | None  # share of the servers' time in which they work on nothing; None without servers
    publish_min: float  # s that a step spent in Sidestream
    publish_median: float
    publish_p99: float
    publish_max: float


def quantile(samples, share):
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def typical(records):
    """The record with the median time of a case's runs."""
    return sorted(records, key=lambda record: record.loop)[len(records) // 2]


def table(cases, runs, every):
    """Rows by case; `runs` has the records of each case by key."""
    without = {case.clients: typical(runs[case.key]).loop for case in cases if case.placement == "off"}
    base = {case.group: case.clients * without[case.clients] for case in cases if case.placement == "off"}
    rows = {}
    for case in cases:
        if case.group == "off":
            continue
        record = typical(runs[case.key])
        published = [seconds for one in runs[case.key] for seconds in one.published]
        busy = list(record.server_busy.values())
        rows[case.key] = Row(
            group=case.group,
            placement=case.name,
            split=case.split,
            run=record.loop,
            end=record.end,
            ratio=record.loop / without[case.clients],
            step=record.compute,
            analysis=record.analysis,
            balanced=every * record.compute >= record.analysis,
            lost_cpu_hours=(case.resources * record.end - base[case.group]) / 3600,
            spare=1 - sum(busy) / len(busy) / record.end if busy and case.others else None,
            publish_min=min(published),
            publish_median=median(published),
            publish_p99=quantile(published, 0.99),
            publish_max=max(published),
        )
    return rows


def write_csv(rows, file):
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(asdict(next(iter(rows.values())))))
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows.values())


def _milliseconds(seconds):
    return f"{1e3 * seconds:.2f}" if seconds < 0.01 else f"{1e3 * seconds:.0f}"


def markdown(rows, every):
    """A table per group."""
    lines = []
    for group in dict.fromkeys(row.group for row in rows.values()):
        lines += [
            f"**{group}**",
            "",
            "| placement | split | run, s | / without | τc, ms | τa, ms | nτc ≥ τa | CPU-h lost | spare | "
            "publish min | median | p99 | max, ms |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for row in rows.values():
            if row.group != group:
                continue
            works = row.analysis > 0
            cells = [
                row.placement,
                row.split,
                f"{row.run:.2f}",
                f"{row.ratio:.2f}",
                f"{1e3 * row.step:.0f}",
                f"{1e3 * row.analysis:.0f}" if works else "",
                ("yes" if row.balanced else "no") if works else "",
                f"{row.lost_cpu_hours:.5f}",
                f"{100 * row.spare:.0f} %" if row.spare is not None else "",
                *(
                    _milliseconds(seconds) if works else ""
                    for seconds in (row.publish_min, row.publish_median, row.publish_p99, row.publish_max)
                ),
            ]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    lines.append(f"n = {every}: analyses run every {'step' if every == 1 else f'{every} steps'}.")
    return "\n".join(lines) + "\n"
