"""The universe's analyses have the same bytes in every placement, on odd grids, with empty ranks, and after a
restart."""

import csv
import os

import h5py
import pytest
from mini_app import servers_elsewhere
from pairs import few
from test_universe import COUPLED, particles, succeed

TOOL = os.environ["SIDESTREAM_TOOL"]
BOX = ["--particles", 20, "--cells", 30, "--box", 12, "--last", 0.5, "--filter", 0.3]
ANALYSES = """
analyses:
  - halos: {variable: density, units: mean, boundary: 10, halo: 15, file: halos.csv, history: {file: history.csv},
            mass_function: {bins: 8, file: "masses-{cycle:05}.csv"}}
  - merge_tree: {variable: baryon_density, minimum_persistence: 1, file: "tree-{cycle:05}.csv",
                 halos: [{boundary: 4, halo: 5}], halos_file: "peaks-{cycle:05}.csv",
                 connected: {from: [1, 1, 1], to: [11, 6, 3], above: 0.5}, connected_file: "ways-{cycle:05}.csv"}
  - power_spectrum: {variable: density, window: cic, file: spectrum.csv}
  - projection: {variable: baryon_density, axis: z, quantity: mean, file: "gas-{cycle:05}.h5"}
  - histogram2d: {x: {variable: baryon_density, scale: logarithmic, range: [1e-2, 1e3], bins: 20},
                  y: {variable: temperature, scale: logarithmic, range: [1e2, 1e6], bins: 20},
                  file: "phases-{cycle:05}.h5"}
  - lyman_alpha: {hydrogen: neutral_hydrogen, temperature: temperature, velocity: velocity, time_is: scale_factor,
                  omega_matter: 0.3, omega_lambda: 0.7, hubble: 0.7, file: flux.csv, pdf_file: pdf.csv,
                  spectrum_file: lines.csv}
  - statistics: {variable: momentum, component: 2, file: momentum.csv}
"""
TABLES = ("halos.csv", "history.csv", "spectrum.csv", "flux.csv", "pdf.csv", "lines.csv", "momentum.csv")
OWN = ("timings", "iterations", "movement", "endpoint-")  # files about the run, not its results


def configuration(folder, placement, extra=""):
    folder.mkdir(exist_ok=True)
    file = folder / "case.yaml"
    file.write_text(f"placement: {placement}\noutput: {{directory: {folder / 'out'}{extra}}}\n{ANALYSES}")
    return file


def results(folder):
    """Results: tables as bytes, data sets by file and name."""
    files = sorted(file for file in (folder / "out").glob("*.csv") if not file.name.startswith(OWN))
    found = {file.name: file.read_bytes() for file in files}
    for file in (folder / "out").glob("*.h5"):
        with h5py.File(file) as data:
            for name, values in data.items():
                found[file.name, name] = values[()].tobytes()
    return found


def simulate(folder, ranks, placement, *arguments, extra="", steps=16):
    """Runs to the end with every fourth step published, and returns all tables."""
    file = configuration(folder, placement, extra)
    options = [*BOX, "--steps", steps, "--every", 4, *arguments]
    said = succeed(ranks, *options, "--sidestream", file, program=COUPLED)
    assert " delivered." in said, said
    return results(folder)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    found = simulate(tmp_path_factory.mktemp("reference"), 1, "inline")
    assert {"halos.csv", "history.csv", "spectrum.csv", "flux.csv", "tree-00016.csv"} <= set(found)
    assert {("gas-00016.h5", "baryon_density"), ("phases-00016.h5", "count")} <= set(found)
    assert len(found["halos.csv"].splitlines()) > 10 and b"goes-on" in found["history.csv"]
    return found


CASES = [
    ("{mode: nodes, servers: 2, buffer: 128 MiB, forward: partials}", 5),
    ("inline", 3),
    ("inline", 7),  # 30 cells among seven ranks
    ("{mode: cores, buffer: 128 MiB, per_node: 1}", 4),
    ("{mode: cores, buffer: 128 MiB, per_node: 3}", 5),
    ("{mode: nodes, buffer: 128 MiB, servers: 2}", 5),
]


@pytest.mark.parametrize(("placement", "ranks"), few(CASES))
def test_the_same_bytes_in_every_placement(tmp_path, reference, placement, ranks):
    assert simulate(tmp_path, ranks, placement) == reference


@pytest.mark.parametrize(("mode", "ranks"), few([("sidecar", 3), ("job", 4)], keep=0))
def test_the_same_bytes_in_other_jobs(tmp_path, reference, mode, ranks):
    with servers_elsewhere(mode, tmp_path, configuration) as placement:
        found = simulate(tmp_path, ranks, placement)
    assert results(tmp_path) == reference and found.keys() <= reference.keys()


def rows(content):
    return list(csv.DictReader(content.decode().splitlines()))


@pytest.mark.test_all
def test_a_restart_goes_on_with_the_tables(tmp_path, reference):
    """Resumes with another number of ranks and another placement, in the same folder."""
    checkpoints = tmp_path / "checkpoints"
    folder = tmp_path / "run"
    file = configuration(folder, "{mode: cores, buffer: 128 MiB, per_node: 1}", ", existing: resume")
    output = f"outputs:\n  - database: {{directory: {checkpoints}, kind: checkpoint,\n"
    output += "               variables: [number, cells_from_corner, momentum]}\n"
    file.write_text(file.read_text() + output)
    first = ["--steps", 16, "--every", 4, "--stop", 12, "--sidestream", file]
    succeed(3, *BOX, *first, program=COUPLED)
    again = simulate(folder, 5, "inline", "--restart", checkpoints, extra=", existing: resume")
    without = ("history.csv",)  # tracks end with the session: docs/cosmology.md

    def contents(found):
        """Rows by cycle, because a resumed run counts its own iterations."""
        tables = {name: rows(content) for name, content in found.items() if name in TABLES and name not in without}
        return {
            name: [{k: v for k, v in row.items() if k not in ("iteration", "previous_iteration")} for row in table]
            for name, table in tables.items()
        }

    assert contents(again) == contents(reference)
    # Halos after the restart have histories of their own.
    masses = {(row["cycle"], row["mass"]) for row in rows(reference["halos.csv"])}
    history = [row for row in rows(again["history.csv"]) if row["halo"] != "-1"]
    assert {(row["cycle"], row["mass"]) for row in history} == masses


@pytest.mark.test_all
@pytest.mark.parametrize(
    ("ranks", "arguments"),
    few(
        [
            (8, ["--particles", 4, "--cells", 4]),  # each rank has one layer of cells, in two directions
            (5, ["--particles", 8, "--cells", 5]),  # the same in one
            (8, ["--particles", 4, "--cells", 32]),  # most ranks have no particle
            (7, ["--particles", 10, "--cells", 30]),
        ]
    ),
)
def test_odd_grids_and_empty_ranks(tmp_path, ranks, arguments):
    options = [*arguments, "--box", 15, "--last", 2, "--steps", 6, "--every", 3]
    tasks = "analyses:\n  - statistics: {variable: density}\n"
    tasks += "  - statistics: {variable: momentum, component: 1, file: momentum.csv}\n"
    found = []
    for number in (1, ranks):
        file = tmp_path / f"{number}.yaml"
        file.write_text(f"placement: inline\noutput: {{directory: {tmp_path / str(number)}}}\n" + tasks)
        final = particles(tmp_path, number, *options, "--sidestream", file, program=COUPLED)
        tables = [(tmp_path / str(number) / name).read_bytes() for name in ("statistics.csv", "momentum.csv")]
        found.append((final.tobytes(), *tables))
    assert found[0] == found[1]
