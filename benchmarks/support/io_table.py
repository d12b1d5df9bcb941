"""Tables of benchmarks/io_methods and benchmarks/io_sweeps."""

from statistics import median


def markdown(found, mode):
    """One run, one mode: a line for each method."""
    lines = [
        "| method | minimum | mean | initial | held up | max / median | files | / raw | by the server |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (method, of), row in found.items():
        if of != mode:
            continue
        cells = [f"`{method}`", *(f"{value / 1e6:.0f}" for value in (row.minimum, row.mean, row.initial))]
        cells += [f"{1e3 * median(row.visible):.1f} ms", f"{row.spread:.1f}", f"{row.files:.1f}", f"{row.ratio:.2f}"]
        cells += [f"{row.behind:.2f}" if row.behind else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def summary(runs):
    """All runs, (title, found) each: for each number of ranks a table of throughput, time held up and ratio to raw."""
    tables = {}
    for title, found in runs:
        ranks, _, kind = title.partition(", ")
        columns, methods, cells = tables.setdefault(ranks, ([], {}, {}))
        for mode in dict.fromkeys(of for _, of in found):
            column = f"{kind}, {mode}"
            columns.append(column)
            for (method, of), row in found.items():
                if of == mode:
                    methods[method] = True  # in the order of their first run
                    cells[method, column] = (
                        f"{row.minimum / 1e6:.0f}, {1e3 * median(row.visible):.1f} ms, {row.ratio:.2f}"
                    )
    text = ""
    for ranks, (columns, methods, cells) in tables.items():
        lines = ["| " + " | ".join([ranks, *columns]) + " |", "|" + "---|" * (len(columns) + 1)]
        for method in methods:
            row = [cells.get((method, column), "") for column in columns]
            lines.append("| " + " | ".join([f"`{method}`", *row]) + " |")
        text += "\n" + "\n".join(lines) + "\n"
    return text


def sweep(name, rows):
    """`rows`: (value, {column: text}) in order."""
    columns = list(rows[0][1])
    lines = ["| " + " | ".join([name, *columns]) + " |", "|" + "---|" * (len(columns) + 1)]
    lines += ["| " + " | ".join([str(value), *cells.values()]) + " |" for value, cells in rows]
    return "\n".join(lines) + "\n"
