"""Fields and particles that sidestream/amrex.hpp publishes on levels that move. Each value is compared with its
formula, box by box, in files read by h5py. The stand-in in stand_in/ has the names of AMReX."""

import csv
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few

MPIRUN = [os.environ["SIDESTREAM_MPIEXEC"], *os.environ.get("MPIEXEC_FLAGS", "").split()]
PROGRAMS = {d: os.environ[f"SIDESTREAM_AMREX_PROGRAM_{d}"] for d in (1, 2, 3)}
STEPS, CELLS, SIDE, FIRST = 6, 16, 4, -8
# Placements, and the number of ranks that are servers.
PLACEMENTS = {
    "inline": ("{mode: inline}", 0),
    "cores": ("{mode: cores, buffer: 32 MiB}", 1),
    "nodes": ("{mode: nodes, servers: 2, buffer: 32 MiB}", 2),
}
TASKS = """
output: {{directory: results, timings: false}}
analyses:
  - statistics: {{variable: phi, by: size, file: phi.csv}}
  - statistics: {{variable: mixed_mass, file: mass.csv}}
outputs:
  - hdf5: {{file: "f-{{index}}.h5"{more}}}
"""
# Values that moving.hpp fills in: the first component of each field, and the axes on which its points are nodes.
FIELDS = {"phi": (0, ""), "a_b": (1, ""), "potential": (2, "xyz"), "flux_x": (3, "x"), "flux_y": (4, "y"),
          "flux_z": (5, "z"), "mark": (6, "")}  # fmt: skip


def run(folder, dimensions, placement, clients, *arguments, more="", status=0):
    mode, servers = PLACEMENTS[placement]
    (folder / "run.yaml").write_text(f"placement: {mode}{TASKS.format(more=more)}")
    command = [*MPIRUN, "-n", str(clients + servers), PROGRAMS[dimensions], "run.yaml", str(STEPS), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stderr


def levels_in(step):
    return {0: 1, 3: 2}.get(step % 4, 3)


def boxes_of(level, step, dimensions):
    """Lower corners of the boxes of a level, counted from the level's first cell."""
    low = 0 if level == 0 else 2 * (step % 4) * 2**level + (level - 1) * 4
    count = CELLS // SIDE if level == 0 else 2
    many = count**dimensions
    return [[low + n // count**a % count * SIDE if a < dimensions else 0 for a in range(3)] for n in range(many)]


def expected_field(component, level, step, at, shape):
    i, j, k = (np.arange(a, a + n) for a, n in zip(at, shape, strict=True))
    base = (component + 1) * 1000000 + level * 300000 + step % 4 * 70000
    return base + i[None, None, :] + 64 * j[None, :, None] + 4096 * (k[:, None, None] % 16)


def pieces(folder, index, variable):
    """Attributes and values by block, of all servers."""
    found = {}
    for path in sorted(Path(folder, "results").glob(f"f-{index}-*.h5")):
        with h5py.File(path) as file:
            for block in file[f"variables/{variable}"].values() if f"variables/{variable}" in file else ():
                assert int(block.attrs["id"]) not in found
                found[int(block.attrs["id"])] = (dict(block.attrs), block[...])
    return found


def check_fields(folder, dimensions, real, ghosts=()):
    for index in range(STEPS):
        step = index + 1
        for name, (component, nodes) in FIELDS.items():
            if "xyz".find(nodes[:1]) >= dimensions:
                continue
            found, number = pieces(folder, index, name), 0
            for level in range(levels_in(step)):
                for at in boxes_of(level, step, dimensions):
                    about, values = found.pop(number)
                    shape = [SIDE + ("xyz"[a] in nodes) if a < dimensions else 1 for a in range(3)]
                    inside = expected_field(component, level, step, at, shape)
                    if name in ghosts:
                        wide = [(1, 1) if a < dimensions else (0, 0) for a in (2, 1, 0)]
                        inside = np.pad(inside, wide, constant_values=-1)
                        assert list(about["points_lo"]) == at
                        at = [a - w[0] for a, w in zip(at, wide[::-1], strict=True)]
                    assert int(about["level"]) == level and list(about["lo"]) == at, (name, step, number)
                    assert values.dtype == (np.int32 if name == "mark" else real)
                    assert np.array_equal(values.reshape(inside.shape), inside), (name, step, number)
                    number += 1
            assert not found


def particles_of(step, dimensions):
    """For each block its number, and the number, level and box's corner of each of its particles that is valid."""
    if step == 2:
        return {}
    blocks, number, block = {}, 0, 0
    for level in range(levels_in(step)):
        for box, at in enumerate(boxes_of(level, step, dimensions)):
            for _ in range(box % 4 + step if level == 0 else 1):
                if number % 3 != 2:
                    blocks.setdefault(block, []).append((number, level, at))
                number += 1
            block += 1
    return blocks


def check_particles(folder, dimensions, real):
    for index in range(STEPS):
        wanted = particles_of(index + 1, dimensions)
        for prefix in ("mixed", "pure"):
            found = {name: pieces(folder, index, f"{prefix}_{name}") for name in COLUMNS[prefix]}
            for name, column in COLUMNS[prefix].items():
                assert set(found[name]) == set(wanted), (prefix, name, index)
                for block, rows in wanted.items():
                    values = found[name][block][1]
                    exact = np.array([column(n, level, at[:dimensions]) for n, level, at in rows])
                    kind = {"id": np.int64, "cpu": np.int32}.get(name, np.int32 if exact.dtype == int else real)
                    assert values.dtype == kind and np.array_equal(values, exact.reshape(values.shape)), (name, block)


def place(n, level, at):
    return [-0.5 + (a + 0.25 * (n % 4 + 1)) / 8 / 2**level for a in at]


COMMON = {"position": place, "id": lambda n, *_: n + 1, "cpu": lambda n, *_: n % 5}
COLUMNS = {
    "mixed": COMMON | {"kind": lambda n, *_: 10 * n, "colour": lambda n, *_: -n, "mass": lambda n, *_: n / 4,
                       "v": lambda n, *_: [n / 8, n / 8 + 1], "w": lambda n, *_: n / 8 + 2},
    "pure": COMMON | {"int_comp0": lambda n, *_: 10 * n, "real_comp0": lambda n, *_: n / 4},
}  # fmt: skip
KEPT = [(3, "cores", 3), (1, "nodes", 2)]


@pytest.mark.parametrize(("dimensions", "placement", "clients"),
                         few([1, 2, 3], ["inline", "cores", "nodes"], [1, 2, 3, 5], kept=KEPT))  # fmt: skip
def test_every_value(tmp_path, dimensions, placement, clients):
    """In two dimensions the program has single precision."""
    run(tmp_path, dimensions, placement, clients)
    real = np.float32 if dimensions == 2 else np.float64
    check_fields(tmp_path, dimensions, real)
    check_particles(tmp_path, dimensions, real)
    check_tables(tmp_path, dimensions)


def check_tables(folder, dimensions):
    """The tables against sums over the formulas: each place counts once, with its volume."""
    for index, (phi, mass) in enumerate(zip(rows(folder, "phi"), rows(folder, "mass"), strict=True)):
        step = index + 1
        masses = [n / 4 for block in particles_of(step, dimensions).values() for n, *_ in block]
        assert int(mass["count"]) == len(masses)
        assert float(mass["sum"]) == sum(masses)
        covered, total, count = np.zeros([CELLS * 4 if a < dimensions else 1 for a in (2, 1, 0)], bool), 0.0, 0
        for level in reversed(range(levels_in(step))):
            size = 2 ** (2 - level)
            for at in boxes_of(level, step, dimensions):
                shape = [SIDE if a < dimensions else 1 for a in range(3)]
                where = tuple(slice(a * size, (a + n) * size) if d < dimensions else slice(0, 1)
                              for d, (a, n) in enumerate(zip(at, shape, strict=True)))[::-1]  # fmt: skip
                free = ~covered[where][tuple(slice(None, None, size if a < dimensions else 1) for a in (2, 1, 0))]
                covered[where] = True
                values = expected_field(0, level, step, at, shape)[free]
                total += values.sum() * (0.125 / 2**level) ** dimensions
                count += values.size
        assert (int(phi["count"]), float(phi["sum"])) == (count, total)
        assert int(phi["cycle"]) == 10 * step and float(phi["time"]) == 0.25 * step


def rows(folder, name):
    with Path(folder, "results", f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("dimensions", few([2, 1, 3]))
def test_ghosts_come_along(tmp_path, dimensions):
    run(tmp_path, dimensions, "cores", 3, "ghosts", more=", ghosts: true")
    check_fields(tmp_path, dimensions, np.float32 if dimensions == 2 else np.float64, ghosts=["phi", "a_b"])
    check_tables(tmp_path, dimensions)
