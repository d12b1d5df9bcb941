"""The report of benchmarks/needed_levels."""

import csv
from statistics import mean

COLUMNS = ("simulation", "analysis", "placement", "move", "clients", "servers", "memory", "seconds", "cost")


def write_csv(rows, file):
    """A line for each case and step."""
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*COLUMNS, "step", "bytes", "blocks", "solver", "analysis_seconds"])
        for row in rows:
            shared = [getattr(row, column) for column in COLUMNS]
            for number, step in enumerate(row.steps):
                writer.writerow([*shared, number, step.bytes, step.blocks, step.solver, step.analysis])


def of_case(rows, simulation, analysis):
    """`nodes` with all and with what is needed, `job`."""
    found = {(r.placement, r.move): r for r in rows if (r.simulation, r.analysis) == (simulation, analysis)}
    return found["nodes", "all"], found["nodes", "needed"], found["job", "needed"]


def cases(rows):
    return list(dict.fromkeys((row.simulation, row.analysis) for row in rows))


def table(rows):
    """The five measures of the paper's figure 10: all / needed / in another job."""
    first = rows[0]
    lines = [
        f"M = {first.clients}, N = {first.servers}. Each cell: `nodes` with `move: all` / with `move: needed` / `job`.",
        "",
        "| | | blocks a step | MB a step | most memory of a server, MB | time to solution, s | cost, 10⁻³ CPU-hours | "
        "processing a step, ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for simulation, analysis in cases(rows):
        three = of_case(rows, simulation, analysis)
        cells = [
            " / ".join(f"{mean(step.blocks for step in row.steps):.0f}" for row in three),
            " / ".join(f"{row.moved / 1e6:.2f}" for row in three),
            " / ".join(f"{row.memory / 1e6:.0f}" for row in three),
            " / ".join(f"{row.seconds:.2f}" for row in three),
            " / ".join(f"{1e3 * row.cost:.2f}" for row in three),
            " / ".join(f"{1e3 * row.processing:.1f}" for row in three),
        ]
        lines.append(f"| {simulation} | {analysis} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
