"""Draws the savings by pruning, packed structure and the coder of values for each domain of an output of RAMSES, like
figures 3 to 6 of Strafella and Chapon (2020): draw.py OUTPUT PICTURES [SIDESTREAM]

Imports OUTPUT (a directory output_NNNNN) into databases with and without pruning and through several codecs, prints a
table and writes pruned.png, structure.png and one picture for each variable to PICTURES. SIDESTREAM is the command.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot
from sidestream.reader.database import chosen
from sidestream.reader.stored import Context

CODECS = {"tree": [], "byte shuffle, zstd": ["--codec", "byte-shuffle,zstd"], "zstd": ["--codec", "zstd"]}
COLOURS = {"tree": "tab:blue", "byte shuffle, zstd": "tab:orange", "zstd": "tab:gray"}


def imported(command, output, place, *options):
    subprocess.run(
        [command, "import", "ramses", output, place, "--no-fsync", *options], check=True, stdout=subprocess.DEVNULL
    )
    return Context(place, chosen(place, None, None)[-1])


def by_domain(context, name):
    """Cells and stored bytes of a variable on each block."""
    variable = context.variables[name]
    pieces = context.pieces(variable)
    cells = np.array([int(piece.hi[0]) for piece in pieces])
    width = variable.components * variable.dtype.itemsize
    return cells, np.array([int(piece.row["bytes"]) for piece in pieces]), width


def saved(stored, whole):
    return 100 - 100 * stored / whole


def bars(path, title, domains, rows, label):
    """One bar for each of `rows` (name, colour, values) beside each other, and the mean as a line."""
    figure, axes = pyplot.subplots(figsize=(6.4, 3.4), layout="constrained")
    width = 0.8 / len(rows)
    for n, (name, colour, values) in enumerate(rows):
        place = np.array(domains) + (n - (len(rows) - 1) / 2) * width
        axes.bar(place, values, width, color=colour, label=f"{name}: {values.mean():.1f} %, mean")
        axes.axhline(values.mean(), color=colour, linewidth=0.8, linestyle=":")
    axes.set(xlabel="domain", ylabel=label, title=title, ylim=(0, 100), xticks=domains)
    figure.legend(loc="outside lower center", fontsize="small", ncols=1 if len(rows) < 2 else 3, frameon=False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main(output, pictures, command="sidestream"):
    pictures = Path(pictures)
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        whole = imported(command, output, place / "whole", "--no-prune", "--codec", "none")
        packed = {name: imported(command, output, place / name, *options) for name, options in CODECS.items()}
        less = packed["tree"]
        roles = less.meshes["tree"]["arrays"]
        values = [v.name for v in less.variables.values() if v.mesh == "tree" and v.role == "none"]
        before, _, _ = by_domain(whole, roles["refined"])
        after, refined, _ = by_domain(less, roles["refined"])
        _, owned, _ = by_domain(less, roles["owned"])
        domains = np.arange(1, len(before) + 1)
        pruned = saved(after, before)
        structure = [(name, saved(of, after / 8)) for name, of in (("refined", refined), ("owned", owned))]
        bars(
            pictures / "pruned.png",
            "Cells that other domains have",
            domains,
            [("pruned", "tab:red", pruned)],
            "% of cells",
        )
        rows = [(name, colour, of) for (name, of), colour in zip(structure, ("tab:red", "tab:blue"), strict=True)]
        bars(pictures / "structure.png", "Flags of a tree, saved of one bit each", domains, rows, "% saved")
        print("domain     cells  pruned %  refined B  owned B  " + "  ".join(f"{name:>12}" for name in values))
        of_values = {name: {codec: by_domain(of, name) for codec, of in packed.items()} for name in values}
        shares = {
            name: {codec: saved(stored, cells * width) for codec, (cells, stored, width) in of.items()}
            for name, of in of_values.items()
        }
        for n, domain in enumerate(domains):
            own = "  ".join(f"{shares[name]['tree'][n]:10.1f} %" for name in values)
            print(f"{domain:6} {before[n]:9} {pruned[n]:9.1f} {refined[n]:10} {owned[n]:8}  {own}")
        print(f"pruned on average: {pruned.mean():.1f} %")
        for name, of in structure:
            print(f"{name}, saved of bits, on average: {of.mean():.2f} %")
        for name in values:
            rows = [(codec, COLOURS[codec], of) for codec, of in shares[name].items()]
            bars(pictures / f"{name}.png", f"{name}, of the cells that stay", domains, rows, "% saved")
            print(f"{name}, saved on average: " + ", ".join(f"{codec} {of.mean():.1f} %" for codec, _, of in rows))
        total = {codec: sum(of_values[n][codec][1].sum() for n in values) for codec in packed}
        raw = sum(cells.sum() * width for cells, _, width in (of_values[n]["tree"] for n in values))
        print("all values: " + ", ".join(f"{codec} saves {saved(of, raw):.1f} %" for codec, of in total.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
