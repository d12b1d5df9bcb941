"""Particles on the grid as derived variables, in analyses of all kinds. They have the same bytes in every placement,
and are compared with the analysis `deposit`, the program itself and NumPy."""

import csv
import math
import os

import h5py
import numpy as np
import pytest
from mini_app import servers_elsewhere
from pairs import few
from test_universe import COUPLED, succeed

TOOL = os.environ["SIDESTREAM_TOOL"]
N, CELLS, SIDE = 14, 20, 12.0
BOX = ["--particles", N, "--cells", CELLS, "--box", SIDE, "--last", 0.5, "--steps", 8, "--every", 4]
GRID = f"size: [{CELLS}, {CELLS}, {CELLS}], low: [0, 0, 0], high: [{SIDE}, {SIDE}, {SIDE}], periodic: true"
TASKS = f"""
derived:
  dark: {{expression: cic(matter), mesh: grid}}
  near: {{expression: ngp(number), mesh: grid}}
  scaled: {{expression: "dark / {N**3 / SIDE**3}", type: float32}}
  both: density + 0.5 * tsc('momentum'[2])
  steep: magnitude(gradient(dark))
analyses:
  - deposit: {{mesh: matter, {GRID}, quantity: density, file: "cic-{{cycle}}.h5"}}
  - deposit: {{name: ngp, mesh: matter, weight: number, method: ngp, {GRID}, quantity: density,
               file: "ngp-{{cycle}}.h5"}}
  - deposit: {{name: tsc, mesh: matter, weight: momentum, component: 2, method: tsc, {GRID}, quantity: density,
               file: "tsc-{{cycle}}.h5"}}
  - resample: {{variables: [dark, near, both, steep, density], size: [{CELLS}, {CELLS}, {CELLS}], low: [0, 0, 0],
                high: [{SIDE}, {SIDE}, {SIDE}], file: "grid-{{cycle}}.h5"}}
  - halos: {{variable: dark, units: mean, boundary: 3, halo: 6, file: halos.csv, history: {{file: history.csv}},
            labels: {{file: "labels-{{cycle}}.h5"}},
            profile: {{radius: 2, bins: 3, fields: density, overdensities: 5, file: profiles.csv}}}}
  - merge_tree: {{variable: dark, minimum_persistence: 1, file: "tree-{{cycle}}.csv"}}
  - power_spectrum: {{variable: dark, window: cic, file: spectrum.csv}}
  - power_spectrum: {{name: cross, variable: density, with: dark, along: y, file: cross.csv}}
  - histogram: {{variable: scaled, bins: 9, range: [0, 30], file: pdf.csv}}
  - statistics: {{variable: dark, file: dark.csv}}
  - statistics: {{variable: "tsc(matter) - 0 * density", file: in-place.csv}}
  - statistics: {{name: rarely, variable: steep, file: steep.csv, when: max(dark) > 1e9}}
  - statistics: {{name: often, variable: steep, file: steep-often.csv, when: max(dark) > 1}}
  - projection: {{variable: dark, axis: x, file: "sum-{{cycle}}.h5"}}
  - slice: {{variable: dark, axis: z, position: 5, file: "slice-{{cycle}}.vtp"}}
  - isosurface: {{variable: scaled, values: [5], file: "surface-{{cycle}}.vtp"}}
"""
OUTPUT = "outputs:\n  - hdf5: {variables: [dark, density, near], file: 'fields-{cycle}.h5'}\n"
OWN = ("timings", "iterations", "movement", "endpoint-", "provenance")


def configuration(folder, placement, outputs=""):
    folder.mkdir(exist_ok=True)
    file = folder / "case.yaml"
    file.write_text(f"placement: {placement}\noutput: {{directory: {folder / 'out'}}}\n{TASKS}{outputs}")
    return file


def results(folder):
    found = {}
    for file in sorted((folder / "out").iterdir()):
        if file.name.startswith((*OWN, "fields")):
            continue
        if file.suffix in (".csv", ".vtp"):
            found[file.name] = file.read_bytes()
        if file.suffix == ".h5":
            with h5py.File(file) as data:
                for name, values in data.items():
                    found[file.name, name] = values[()]
    return found


def simulate(folder, ranks, placement, outputs=""):
    file = configuration(folder, placement, outputs)
    said = succeed(ranks, *BOX, "--sidestream", file, "--dump", folder / "dump", program=COUPLED)
    assert " delivered." in said, said
    return results(folder)


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        if isinstance(values, bytes):
            assert found[name] == values, name
        else:
            assert found[name].tobytes() == values.tobytes(), name


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    return simulate(folder, 1, "inline"), folder


CASES = [
    ("{mode: nodes, buffer: 128 MiB, servers: 3, partitioner: regrid}", 5),
    ("inline", 3),
    ("inline", 7),
    ("{mode: cores, buffer: 128 MiB, per_node: 1}", 4),
    ("{mode: cores, buffer: 128 MiB, per_node: 3}", 5),
    ("{mode: nodes, buffer: 128 MiB, servers: 2}", 5),
    ("{mode: nodes, servers: 2, buffer: 128 MiB, forward: partials}", 5),
    ("{mode: nodes, servers: 2, buffer: 128 MiB, forward: blocks}", 5),
]


@pytest.mark.parametrize(("placement", "ranks"), few(CASES))
def test_the_same_bytes_in_every_placement(tmp_path, reference, placement, ranks):
    same(simulate(tmp_path, ranks, placement), reference[0])


@pytest.mark.parametrize(("mode", "ranks"), few([("sidecar", 3), ("job", 4)], keep=0))
def test_the_same_bytes_in_other_jobs(tmp_path, reference, mode, ranks):
    with servers_elsewhere(mode, tmp_path, configuration) as placement:
        simulate(tmp_path, ranks, placement)
    same(results(tmp_path), reference[0])


@pytest.mark.test_all
def test_groups_of_servers(tmp_path, reference):
    """Each group puts particles on cells by itself."""
    file = configuration(tmp_path, "{mode: nodes, buffer: 128 MiB, groups: {some: 2, others: 1}}")
    text = file.read_text()
    for analysis in ("halos: {", "power_spectrum: {variable: dark"):
        text = text.replace(analysis, analysis.replace("{", "{group: some, ", 1))
    rest = ("deposit: {", "resample: {", "merge_tree: {", "power_spectrum: {name", "histogram: {", "statistics: {")
    for analysis in (*rest, "projection: {", "slice: {", "isosurface: {"):
        text = text.replace(analysis, analysis.replace("{", "{group: others, ", 1))
    file.write_text(text)
    succeed(6, *BOX, "--sidestream", file, program=COUPLED)
    same(results(tmp_path), reference[0])


def grids(found, cycle):
    return {name: found[f"grid-{cycle}.h5", name] for name in ("dark", "near", "both", "steep", "density")}


def test_what_the_analysis_deposit_finds(reference):
    found, _ = reference
    for cycle in (4, 8):
        grid = grids(found, cycle)
        assert grid["dark"].tobytes() == found[f"cic-{cycle}.h5", "count"].tobytes()
        assert grid["near"].tobytes() == found[f"ngp-{cycle}.h5", "number"].tobytes()
        both = grid["density"] + 0.5 * found[f"tsc-{cycle}.h5", "momentum"]
        assert grid["both"].tobytes() == both.tobytes()
        slopes = np.array([
            (np.roll(grid["dark"], -1, axis) - np.roll(grid["dark"], 1, axis)) / (2 * SIDE / CELLS)
            for axis in (2, 1, 0)
        ])  # fmt: skip
        np.testing.assert_allclose(grid["steep"], np.sqrt((slopes**2).sum(axis=0)), rtol=1e-12)
        # The program's own density is from positions that are not rounded to float32.
        own = grid["density"] * (N / SIDE) ** 3
        np.testing.assert_allclose(grid["dark"], own, atol=2e-5 * own.max())
        volume = (SIDE / CELLS) ** 3
        assert math.fsum(grid["dark"].ravel()) * volume == pytest.approx(N**3, rel=1e-14)
        assert math.fsum(grid["near"].ravel()) * volume == pytest.approx(N**3 * (N**3 - 1) / 2, rel=1e-14)
    assert not any(name == "steep.csv" for name in found)
    assert len(found["steep-often.csv"].splitlines()) == 1 + sum(1 for name in found if str(name).startswith("slice-"))


def test_what_numpy_finds(reference):
    """The final particles, from the program's own dump."""
    found, folder = reference
    particle = np.dtype([("place", "<f8", 3), ("momentum", "<f8", 3), ("id", "<i8")])
    particles = np.fromfile(folder / "dump", particle)
    u = (particles["place"] * (SIDE / CELLS)).astype(np.float32).astype(float) / (SIDE / CELLS) - 0.5
    first = np.floor(u)
    part, first = u - first, first.astype(int)
    grid = np.zeros((CELLS,) * 3)
    for corner in np.ndindex(2, 2, 2):
        share = np.prod(np.where(np.array(corner) == 1, part, 1 - part), axis=1)
        at = (first + corner) % CELLS
        np.add.at(grid, (at[:, 2], at[:, 1], at[:, 0]), share)
    last = max(int(name[0][5:-3]) for name in found if isinstance(name, tuple) and name[0].startswith("grid-"))
    np.testing.assert_allclose(grids(found, last)["dark"] * (SIDE / CELLS) ** 3, grid, atol=1e-4)


def test_written_beside_the_density(tmp_path, reference):
    """An output, which computes nothing by itself, gets the same values."""
    simulate(tmp_path, 3, "{mode: nodes, buffer: 128 MiB, servers: 1}", OUTPUT)
    for cycle in (4, 8):
        with h5py.File(tmp_path / "out" / f"fields-{cycle}.h5") as data:
            for name in ("dark", "near"):
                assert data["variables"][name][()].tobytes() == grids(reference[0], cycle)[name].tobytes()


def test_profiles_have_the_halos_of_particles(reference):
    found, _ = reference
    rows = list(csv.DictReader(found["halos.csv"].decode().splitlines()))
    assert len(rows) > 3
    labels = found["labels-8.h5", "halo"]
    dark = grids(found, 8)["dark"]
    last = [row for row in rows if row["cycle"] == "8"]
    assert last
    for row in last:
        mass = math.fsum(dark[labels == int(row["halo"])]) * (SIDE / CELLS) ** 3
        assert float(row["mass"]) == pytest.approx(mass, rel=1e-12)
