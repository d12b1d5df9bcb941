"""The report of benchmarks/cosmology_placements: figures, CSV, markdown."""

import csv
from dataclasses import asdict, dataclass

import cosmology_model
from placement_table import typical


@dataclass
class Row:
    analyses: str
    every: int  # n
    group: str
    clients: int
    servers: int
    step: float  # s, tau_c, without analyses on as many clients
    analysis: float  # s, tau_a, in situ on as many ranks as there are servers
    balanced: bool  # n tau_c >= tau_a
    run: float  # s, the simulation's loop
    end: float  # s, until the last analysis too
    model: float  # s, what `end` should be
    alone: float  # s, the loop without analyses on as many clients

    @property
    def split(self):
        return f"{self.clients}+{self.servers}" if self.servers else f"{self.clients}"


def combinations(analyses, everies, cases):
    """Returns the cases to run. Those without analyses publish as well, once for each n."""
    first = next(iter(analyses))
    for name in analyses:
        for every in everies:
            for case in cases:
                if case.placement != "off" or name == first:
                    yield name, every, case


def _alone(cases, runs):
    """Seconds of the loop without analyses, by n and clients."""
    clients = {case.key: case.clients for case in cases if case.placement == "off"}
    return {(every, clients[key]): typical(found).loop for (_, every, key), found in runs.items() if key in clients}


def _work(cases, runs, alone, options):
    """Seconds of an analysis in situ, by analyses and ranks: of the runs that have most of them."""
    ranks = {case.key: case.clients for case in cases if case.group == "in situ"}
    every = min(options.every)
    count = 1 + options.steps // every
    return {
        (name, ranks[key]): max(typical(found).end - alone[every, ranks[key]], 0) / count
        for (name, n, key), found in runs.items()
        if n == every and key in ranks
    }


def table(cases, runs, options):
    alone, rows = _alone(cases, runs), []
    work = _work(cases, runs, alone, options)
    by_key = {case.key: case for case in cases}
    for (name, every, key), found in runs.items():
        case, record = by_key[key], typical(found)
        if case.placement == "off":
            continue
        loop, analysis = alone[every, case.clients], work[name, case.others or case.clients]
        step = loop / options.steps
        if case.others:
            split = (case.clients, case.others, options.cores)
            model = cosmology_model.in_transit(options.steps, every, step, analysis, *split)
        else:
            model = cosmology_model.in_situ(options.steps, every, step, analysis)
        rows.append(
            Row(
                analyses=name,
                every=every,
                group=case.group,
                clients=case.clients,
                servers=case.others,
                step=step,
                analysis=analysis,
                balanced=every * step >= analysis,
                run=record.loop,
                end=record.end,
                model=model,
                alone=loop,
            )
        )
    return rows


def write_csv(rows, file):
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(asdict(rows[0])))
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def markdown(rows):
    lines = []
    for name, every in dict.fromkeys((row.analyses, row.every) for row in rows):
        lines += [
            f"**{name}, n = {every}**",
            "",
            "| | ranks | τc, ms | τa, ms | nτc ≥ τa | without analyses, s | simulation, s | to the end, s | "
            "model, s | measured / model |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            if (row.analyses, row.every) != (name, every):
                continue
            cells = [row.group, row.split, f"{1e3 * row.step:.0f}", f"{1e3 * row.analysis:.0f}"]
            cells += ["yes" if row.balanced else "no", f"{row.alone:.2f}", f"{row.run:.2f}", f"{row.end:.2f}"]
            cells += [f"{row.model:.2f}", f"{row.end / row.model:.2f}"]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def verdict(rows):
    """Returns the deviations from the model for the cases that it was not fitted to."""
    told = [row.end / row.model for row in rows if row.servers]
    return f"ratio measured / model in transit: {min(told):.2f} to {max(told):.2f}"
