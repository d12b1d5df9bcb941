"""The report of benchmarks/needed_only."""

import csv
from dataclasses import dataclass

COLUMNS = (
    *("analysis", "move", "clients", "servers"),
    *("largest_bytes", "largest_memory", "seconds", "cost", "values"),
)


@dataclass
class Row:
    """One case: the columns of the paper's figure 6, and what moved in each step."""

    analysis: str
    move: str
    clients: int
    servers: int
    largest_bytes: int  # of the server that most came to, halos included, whole run
    largest_memory: int  # bytes resident at most, of the server with most
    seconds: float  # time to solution: until the simulation or the last analysis ends
    cost: float  # seconds (N + M) / 3600
    values: int  # bytes of blocks that moved, to all servers, whole run
    fraction: list[float]  # of the field, by step
    blocks: list[int]  # by step


def write_csv(rows, file):
    steps = max(len(row.fraction) for row in rows)
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*COLUMNS, *(f"fraction_{step}" for step in range(steps))])
        for row in rows:
            writer.writerow([*(getattr(row, column) for column in COLUMNS), *(f"{part:.6f}" for part in row.fraction)])


def _mean(values):
    return sum(values) / len(values)


def _pair(rows, analysis, servers):
    found = {row.move: row for row in rows if row.analysis == analysis and row.servers == servers}
    return found["all"], found["needed"]


def fractions(rows, options):
    """Returns a table of the data moved in the steps, and the iso-values."""
    lines = ["| | blocks of all | moved, mean | least | most |", "|---|---|---|---|---|"]
    for analysis in dict.fromkeys(row.analysis for row in rows):
        row = _pair(rows, analysis, min(row.servers for row in rows))[1]
        name = analysis if analysis == "slice" else f"isosurface {', '.join(f'{v:g}' for v in options.values)}"
        lines.append(
            f"| {name} | {_mean(row.blocks):.0f} of {options.blocks} | {100 * _mean(row.fraction):.1f} % | "
            f"{100 * min(row.fraction):.1f} % | {100 * max(row.fraction):.1f} % |"
        )
    return "\n".join(lines)


def scaling(rows, options):
    """The four columns of the paper's figure 6, all / needed."""
    lines = [
        f"M = {options.clients}. Each cell: `move: all` / `move: needed`.",
        "",
        "| | N | largest bytes per server, MB | largest memory of a server, MB | time to solution, s | "
        "cost, 10⁻³ CPU-hours |",
        "|---|---|---|---|---|---|",
    ]
    for analysis in dict.fromkeys(row.analysis for row in rows):
        for servers in sorted({row.servers for row in rows}):
            pair = _pair(rows, analysis, servers)
            cells = [
                " / ".join(f"{row.largest_bytes / 1e6:.0f}" for row in pair),
                " / ".join(f"{row.largest_memory / 1e6:.0f}" for row in pair),
                " / ".join(f"{row.seconds:.2f}" for row in pair),
                " / ".join(f"{1e3 * row.cost:.2f}" for row in pair),
            ]
            lines.append(f"| {analysis} | {servers} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
