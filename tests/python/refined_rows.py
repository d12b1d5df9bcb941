"""The tasks of each analysis on the three meshes of refined_twins.py, and how results are compared."""

from dataclasses import dataclass

import numpy as np
from refined_twins import DEEPEST, ORIGIN, SPACING, SURFACE

OF_PARTICLES = "only particles"


@dataclass
class Row:
    """A row of an analysis. `refused` is why it does not accept trees and patches, and the text of the refusal."""

    same: str = ""
    like_yt: str = ""
    refused: tuple[str, str] = ()
    tasks: str = ""  # for each of the three meshes; NAME stands for its variable
    of_levels: str = ""  # for the two meshes that have levels


CUT = {3: "axis: z, position: 2.6", 2: "axis: z"}
OBLIQUE = {3: "normal: [1, 2, 0.7], origin: [1, 2, 3.5]", 2: "normal: [1, 2, 0], origin: [1, 2, 0]"}
BOX_LOW, BOX_HIGH = np.array([0.3, 1.1, 2.7]), np.array([2.2, 2.9, 4.1])
PLACES = 60

ROWS = {
    "statistics": Row(
        "by size: sum, mean, variance and extremes, exact; counts and sums of single levels, exact",
        "extremes exact; mean by volume to 1e-13",
        tasks="""\
  - statistics: {name: NAME-all, variable: NAME, file: NAME-statistics.csv}
  - statistics: {name: NAME-size, variable: NAME, by: size, file: NAME-size.csv}
""",
    ),
    "time_statistics": Row(
        "the mean over a window, by size: exact",
        "",
        tasks="""\
  - time_statistics: {name: NAME-window, variables: [NAME], statistics: [mean], window: 1, makes: NAMEwindow}
  - statistics: {name: NAME-over-time, variable: NAMEwindow_NAME_mean, by: size, file: NAME-over-time.csv}
""",
    ),
    "histogram": Row(
        "weighted with volumes: exact",
        "profile by volume: to 1e-13",
        tasks="""\
  - histogram: {name: NAME-histogram, variable: NAME, weight: NAME_volume, bins: 16, range: [0, 4],
               file: NAME-histogram.csv}
""",
    ),
    "histogram2d": Row(
        "weighted with volumes: exact",
        "",
        tasks="""\
  - histogram2d: {name: NAME-histogram2d, x: {variable: NAME, bins: 9, range: [0, 4]}, weight: NAME_volume,
                  y: {variable: NAME_velocity, component: 1, bins: 7, range: [0, 5]}, file: NAME-histogram2d.h5}
""",
    ),
    "slice": Row(
        "each value's area, of planes along axes and oblique ones (`cells: own`): to 1e-12",
        "each value's area on a plane along an axis: to 1e-12",
        tasks="""\
  - slice: {name: NAME-cut, variable: NAME, CUT, cells: own, precision: double, file: NAME-cut.vtp}
  - slice: {name: NAME-oblique, variable: NAME, OBLIQUE, cells: own, precision: double, file: NAME-oblique.vtp}
""",
    ),
    "isosurface": Row(
        "where the finest cells are: the same points, and as many triangles; elsewhere within one coarse cell",
        "",
        tasks="""\
  - isosurface: {name: NAME-surface, variable: NAME, values: [SURFACE], normals: false, precision: double,
                file: NAME-surface.vtp}
  - isosurface: {name: NAME-coarse, variable: NAME, values: [1.75], normals: false, precision: double,
                file: NAME-coarse.vtp}
""",
    ),
    "threshold": Row(
        "each value's volume: exact",
        "volume between the two values: to 1e-13",
        tasks="""\
  - threshold: {name: NAME-part, variable: NAME, minimum: 0.5, maximum: 1.5, file: NAME-part.vtu}
""",
    ),
    "clip": Row(
        "each value's volume, on one side of an oblique plane and within a box: to 1e-6 (points have single precision)",
        "volume of the box: to 1e-6",
        tasks="""\
  - clip: {name: NAME-side, variable: NAME, OBLIQUE, file: NAME-side.vtu}
  - clip: {name: NAME-box, variable: NAME, low: LOW, high: HIGH, file: NAME-box.vtu}
""",
    ),
    "render": Row(
        "a slice and the faces of a threshold: the same pixels but for 2 of 10 000, on edges",
        "",
        tasks="""\
  - render: {name: NAME-picture, slice: {variable: NAME, CUT, cells: own, range: [0, 4]}, size: [320, 240],
             caption: none, camera: {view: [0, 0, -1], projection: parallel}, colour_bar: false, file: NAME-picture.png}
  - render: {name: NAME-faces, threshold: {variable: NAME, minimum: 0.5, maximum: 1.5, range: [0, 4]}, size: [320, 240],
             caption: none, colour_bar: false, file: NAME-faces.png}
""",
    ),
    "projection": Row(
        "integral and weighted mean: exact",
        "integral: to 1e-12",
        tasks="""\
  - projection: {name: NAME-integral, variable: NAME, axis: y, LEVEL file: NAME-integral.h5}
  - projection: {name: NAME-mean, variable: NAME, axis: x, LEVEL quantity: mean, weight: NAME_velocity,
                 weight_component: 1, file: NAME-mean.h5}
""",
    ),
    "probe": Row(
        "`own`, of chosen levels too: exact; `linear`, where all cells round a place are finest ones: to 1e-15",
        "`own`: exact",
        tasks="""\
  - probe: {name: NAME-probe, variables: NAME, line: {FROMTO, samples: 60}, file: NAME-probe.csv}
  - probe: {name: NAME-linear, variables: NAME, cells: linear, line: {FROMTO, samples: 60}, file: NAME-linear.csv}
""",
        of_levels="""\
  - probe: {name: NAME-coarse-probe, variables: NAME, line: {FROMTO, samples: 60}, levels: [0, 1],
           file: NAME-coarse-probe.csv}
""",
    ),
    "resample": Row(
        "to the finest level and to another grid, of chosen levels too: exact; `linear` as `probe`",
        "to the finest level (covering grid): exact",
        tasks="""\
  - resample: {name: NAME-grid, variables: [NAME, NAME_velocity], size: SIZE, file: NAME-grid.h5}
  - resample: {name: NAME-less, variables: NAME, size: LESS, file: NAME-less.h5}
  - resample: {name: NAME-smooth, variables: NAME, size: SIZE, method: linear, file: NAME-smooth.h5}
""",
        of_levels="""\
  - resample: {name: NAME-middle, variables: NAME, size: SIZE, levels: [1, 2], file: NAME-middle.h5}
  - resample: {name: NAME-middle-smooth, variables: NAME, size: SIZE, levels: [1, 2], method: linear,
               file: NAME-middle-smooth.h5}
""",
    ),
    "streamlines": Row(
        "lines within half a coarse cell; values along them in octrees: those of the leaves, exact",
        "",
        tasks="""\
  - streamlines: {name: NAME-lines, variable: NAME_velocity, fields: NAME, line: {FROMTO, samples: 9}, step: 0.03125,
                  length: 1, precision: double, file: NAME-lines.vtp}
""",
    ),
    "halos": Row(
        "number, volume, mass and greatest value of each, with connectivity 6: exact",
        "",
        tasks="""\
  - halos: {name: NAME-halos, variable: NAME, boundary: 1.8, halo: 1.9, connectivity: 6, file: NAME-halos.csv}
  - halos: {name: NAME-peaks, variable: NAME, boundary: PEAKS, halo: PEAKS, connectivity: 6, file: NAME-peaks.csv}
""",
    ),
    "python": Row(
        "a sum by volume over `counted` (trees: leaves that are `owned`): exact",
        "",
        tasks="""\
  - python: {name: NAME-python, variables: [EXTRA], script: SCRIPT, call: add_up, arguments: {name: NAME},
            file: NAME-python.csv}
""",
    ),
    "merge_tree": Row(
        "births and deaths that differ; volumes and masses of components, with connectivity 6: exact",
        "",
        tasks="""\
  - merge_tree: {name: NAME-tree, variable: NAME, connectivity: 6, cells: {above: 1.5, file: NAME-tree-cells.csv},
                file: NAME-tree.csv}
""",
    ),
    "power_spectrum": Row(
        "of the finest level: exact",
        "",
        tasks="""\
  - power_spectrum: {name: NAME-power, variable: NAME, LEVEL file: NAME-power.csv}
  - power_spectrum: {name: NAME-rows, variable: NAME, LEVEL along: [x, y], of: difference, file: NAME-rows.csv}
""",
        of_levels="  - power_spectrum: {name: NAME-mean-power, variable: NAME, level: 1, file: NAME-mean-power.csv}\n",
    ),
    "lyman_alpha": Row(
        "of the finest level: exact",
        "",
        tasks="""\
  - lyman_alpha: {name: NAME-flux, hydrogen: NAME, temperature: NAME, LEVEL redshift: 2, density_unit: 1e-9,
                 file: NAME-flux.csv}
""",
    ),
    "deposit": Row(
        refused=(OF_PARTICLES, "points"),
        tasks="  - deposit: {mesh: MESH, size: SIZE, low: LOW, high: HIGH, file: deposit.h5}\n",
    ),
    "particle_spectrum": Row(
        refused=(OF_PARTICLES, "points"),
        tasks="  - particle_spectrum: {mesh: MESH, size: SIZE, low: LOW, high: HIGH, file: power.csv}\n",
    ),
    "relevance": Row(
        refused=("only uniform and rectilinear meshes", "relevance needs a uniform or rectilinear mesh of one level"),
        tasks="  - relevance: {variable: NAME}\n",
    ),
    "subsample": Row(refused=(OF_PARTICLES, "points"), tasks="  - subsample: {mesh: MESH, fraction: 0.5}\n"),
}

# The function of the analysis `python`. `counted` knows patches; in trees, leaves count that a block owns.
SUMS = """\
import numpy as np


def add_up(block, name):
    counted = block.counted(name)
    if block.mesh.kind == "octree":
        counted = counted & (block["split"] == 0) & (block["mine"] != 0)
    return {"sum": float((block[name] * block[name + "_volume"])[counted].sum())}
"""


def filled(text, name, world):
    n = world.dimensions
    low, high = ORIGIN[:n] + 0.111, (ORIGIN + SPACING * world.roots)[:n] - 0.137
    for key, value in {
        "NAME": name,
        "MESH": {"t": "tree", "u": "patch", "f": "even"}[name],
        "EXTRA": f"{name}, {name}_volume" + (", split, mine" if name == "t" else ""),
        "CUT": CUT[n],
        "OBLIQUE": OBLIQUE[n],
        "SURFACE": SURFACE,
        "PEAKS": {2: 1.6, 3: 2.18}[n],  # lies in the corners
        "LEVEL": "" if name == "f" else f"level: {DEEPEST},",
        "LOW": BOX_LOW[:n].tolist(),
        "HIGH": BOX_HIGH[:n].tolist(),
        "FROMTO": f"from: {low.tolist()}, to: {high.tolist()}",
        "SIZE": world.size[:n].tolist(),
        "LESS": (world.size[:n] // 2 + 3).tolist(),
    }.items():
        text = text.replace(key, str(value))
    return text


def table():
    lines = ["| analysis | as on the uniform mesh | as yt |", "|---|---|---|"]
    for name in sorted(ROWS):
        row = ROWS[name]
        same = f"refused: {row.refused[0]}" if row.refused else row.same
        lines.append(f"| `{name}` | {same} | {row.like_yt} |")
    return "\n".join(lines) + "\n"
