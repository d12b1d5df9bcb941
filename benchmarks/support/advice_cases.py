"""The loads and codes of benchmarks/advice."""

from dataclasses import dataclass, field

RANKS = 8


@dataclass(frozen=True)
class Case:
    """A program with its analyses. `arguments`: of the program; {file} is the configuration."""

    name: str
    program: str
    ranks: int
    arguments: tuple[str, ...]
    sections: str  # of the configuration, without the placement
    placements: tuple[str, ...]  # all that are tried
    known: tuple[str, ...] = field(default=())  # those that advice is given


def _cores(most):
    return tuple(f"{{mode: cores, per_node: {n}}}" for n in range(1, most + 1))


def waiting(name, step, heavy, light, steps=20):
    """Makes a load of waiting, in milliseconds: a step (constant, shared), two tasks (constant, shared, doubling)."""
    words = ["{file}", steps, *step, "heavy", *heavy, "light", *light]
    sections = (
        "meshes: {line: {type: uniform, size: [$n]}}\nvariables: {t: {mesh: line}}\n"
        "analyses:\n  - heavy: {variables: [t]}\n  - light: {variables: [t]}\n"
    )
    placements = ("inline", *_cores(RANKS - 1))
    known = ("inline", "{mode: cores, per_node: 1}", "{mode: cores, per_node: 4}")
    return Case(name, "tests/system/waiting_program", RANKS, tuple(map(str, words)), sections, placements, known)


# Between them the best split goes from none that serve to most of the ranks.
WAITING = (
    waiting("all scales", (0, 800), (0, 400, 0), (0, 40, 0)),
    waiting("combining is slow", (0, 800), (120, 40, 0), (10, 0, 0)),
    waiting("combining grows", (0, 500), (0, 200, 40), (20, 0, 0)),
    waiting("a step that does not scale", (150, 100), (0, 600, 0), (10, 20, 0)),
    waiting("heavy tasks", (60, 120), (40, 900, 0), (20, 60, 0)),
    waiting("even", (30, 400), (60, 300, 5), (30, 0, 0)),
    waiting("two that take turns", (20, 600), (90, 0, 0), (90, 0, 0)),
    waiting("light tasks", (0, 1600), (15, 10, 0), (5, 0, 0)),
)

_SPLITS = ("inline", "{mode: cores, per_node: 1}", "{mode: nodes, servers: 1}")
_OSCILLATORS = """\
meshes: {grid: {type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables: {field: {mesh: grid}}
analyses:
  - statistics: {variable: field}
  - slice:      {variable: field, axis: z, position: 0.5, file: "slice-{cycle:04}.vtp"}
  - isosurface: {variable: field, values: [0.5], file: "surface-{cycle:04}.vtp"}
"""
_UNIVERSE = """\
analyses:
  - halos: {variable: density, boundary: 20, halo: 40, file: halos.csv}
  - power_spectrum: {variable: density, window: cic, file: spectrum.csv}
  - projection: {variable: density, axis: z, image: {file: "density-{cycle:04}.png", scale: logarithmic}}
"""
_BLAST = """\
analyses:
  - statistics: {variable: density}
  - isosurface: {variable: density, values: [1.5], file: "front-{cycle:04}.vtp"}
outputs:
  - database: {directory: data, kind: post, variables: [refined, owned, density, pressure], codec: [byte-shuffle, gzip]}
"""
_BEC = """\
analyses:
  - statistics: {variable: density}
  - render: {isosurface: {variable: density, values: [0.15]}, size: [480, 480], file: "frame-{cycle:04}.png"}
"""


def _code(name, arguments, sections):
    program = f"simulations/{name}/{name}"
    return Case(name, program, 2, tuple(arguments.split()), sections, _SPLITS, _SPLITS[:2])


CODES = (
    _code(
        "oscillators", "{input} --grid 64 --steps 40 --dt 0.02 --compute-repeat 60 --sidestream {file}", _OSCILLATORS
    ),
    _code(
        "universe", "--particles 48 --cells 96 --box 20 --last 2 --steps 30 --every 1 --sidestream {file}", _UNIVERSE
    ),
    _code("blast", "sedov --least 4 --most 6 --steps 40 --every 2 --sidestream {file}", _BLAST),
    _code("bec", "--size 64 --steps 120 --every 6 --quiet --sidestream {file}", _BEC),
)
