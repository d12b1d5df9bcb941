"""A picture of which patches an analysis moves: figure 7 of the paper, in two dimensions."""

import h5py
import matplotlib.pyplot as plt
import numpy as np
from launch import BenchmarkError
from levels_runs import Simulation, read_steps, run
from matplotlib.patches import Rectangle
from style import save

CELLS, LEVELS, VALUE = 64, 3, 0.3
STEPS = 240
COLOURS = ("#c9d0d8", "#8fc1e3", "#eaa77a")  # of levels
DISC = Simulation(
    program="advection",
    arguments=["cylinder", "--flow", "swirl", "--end", "1", "--cells", str(CELLS), "--levels", str(LEVELS),
               "--largest", "16", "--steps", str(STEPS), "--every", str(STEPS)],
    analyses={},
)  # fmt: skip
WRITTEN = "placement: inline\noutput: {directory: .}\noutputs: [hdf5: {variables: [density]}]\n"
MOVED = """\
placement: {mode: nodes, servers: 1}
output: {directory: .}
analyses: [isosurface: {variable: density, values: [VALUE]}]
"""


def blocks_of(folder):
    """Level, lower and upper corner, values [j, i], whether finer levels cover it, of each patch."""
    found = []
    for path in sorted(folder.glob(f"fields-{STEPS:06}-*.h5")):
        with h5py.File(path) as file:
            for block in file["variables/density"].values():
                lo, hi = np.array(block.attrs["lo"])[:2], np.array(block.attrs["hi"])[:2]
                values = block[...].reshape(tuple(hi[::-1] - lo[::-1]))
                hidden = np.zeros(values.shape, bool)
                for box in np.reshape(block.attrs.get("covered", []), (-1, 6)).astype(int):
                    (i, j), (x, y) = np.clip([box[:2], box[3:5]], lo, hi) - lo
                    hidden[j:y, i:x] = True
                found.append((int(block.attrs["level"]), lo, hi, values, hidden.all()))
    return sorted(found, key=lambda block: block[0])


def painted(blocks):
    """Values, and the number of the patch, of the finest cell at each place, [j, i]."""
    size = CELLS * 2 ** (LEVELS - 1)
    values, owner = np.empty((size, size)), np.empty((size, size), int)
    for number, (level, lo, hi, inside, _) in enumerate(blocks):
        width = 2 ** (LEVELS - 1 - level)
        (i, j), (x, y) = lo * width, hi * width
        values[j:y, i:x] = inside.repeat(width, 0).repeat(width, 1)
        owner[j:y, i:x] = number
    return values, owner


def at_surface(blocks):
    """True for each patch that has a cell at a corner around which values lie on both sides of the surface's."""
    values, owner = painted(blocks)
    around = [np.s_[b : b - 1 or None, a : a - 1 or None] for b in (0, 1) for a in (0, 1)]
    low, high = (of([values[part] for part in around], axis=0) for of in (np.min, np.max))
    crossed = (low < VALUE) & (high >= VALUE)
    here = {number for part in around for number in owner[part][crossed]}
    return [number in here for number in range(len(blocks))]


def draw(folder, builds, file):
    """Runs it twice: once for the values, once to count what the surface moves, which must be what is drawn."""
    run(DISC, WRITTEN, folder / "written", builds, 1, 0, memory=False)
    run(DISC, MOVED.replace("VALUE", str(VALUE)), folder / "moved", builds, 1, 1, memory=False)
    blocks = blocks_of(folder / "written")
    needed = at_surface(blocks)
    moved = read_steps(folder / "moved", job=False)[-1].blocks
    if moved != sum(needed):
        raise BenchmarkError(f"{moved} patches moved; {sum(needed)} have cells at the surface.")
    figure, panels = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained")
    for level, lo, hi, values, _ in blocks:
        h = 1 / (CELLS * 2**level)
        panels[0].imshow(values, origin="lower", extent=(lo[0] * h, hi[0] * h, lo[1] * h, hi[1] * h), vmin=0, vmax=1,
                         cmap="cividis", zorder=level, interpolation="nearest")  # fmt: skip
    for (level, lo, hi, _, hidden), here in zip(blocks, needed, strict=True):
        h = 1 / (CELLS * 2**level)
        place, size = lo * h, (hi - lo) * h
        panels[0].add_patch(Rectangle(place, *size, fill=False, ec="white", lw=0.4 + 0.3 * level, zorder=10))
        panels[1].add_patch(Rectangle(place, *size, fc=COLOURS[level] if here else "white", ec="black", lw=0.6,
                                      ls=":" if hidden else "-", zorder=level))  # fmt: skip
    values, _ = painted(blocks)
    centres = (np.arange(len(values)) + 0.5) / len(values)
    for axes, colour in zip(panels, ("white", "black"), strict=True):
        axes.contour(centres, centres, values, [VALUE], colors=colour, linewidths=1.6, zorder=15)
    counts = [(sum(n and b[0] == level for n, b in zip(needed, blocks, strict=True)),
               sum(b[0] == level for b in blocks)) for level in range(LEVELS)]  # fmt: skip
    for level, (some, all_) in enumerate(counts):
        panels[1].plot([], [], "s", color=COLOURS[level], label=f"level {level}: {some} of {all_}")
    panels[0].set_title("Density and its patches", loc="left")
    panels[1].set_title(f"Patches that an isosurface of {VALUE:g} moves", loc="left")
    panels[1].legend(loc="lower left", framealpha=0.9).set_zorder(20)
    for axes in panels:
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[], yticks=[])
    save(figure, file)
