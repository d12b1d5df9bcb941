"""Halos of random periodic fields compared with cc3d, their profiles with NumPy, and matches by particles with
counts, in several placements."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import cc3d
import numpy as np
import pytest

HERE = Path(__file__).parent
MPIRUN, TOOL = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun"), os.environ["SIDESTREAM_TOOL"]
N, STEPS, H = 14, 4, 0.5
BOUNDARY, HALO = 1.6, 2.2
TASKS = f"""\
output: {{directory: results}}
drain_limit: 1e18
meshes:
  grid: {{type: uniform, size: [$n, $n, $n], spacing: {H}, periodic: [x, y, z]}}
  stars: {{type: points, coordinates: place, point_ids: number}}
variables:
  density: {{mesh: grid, type: float64}}
  place: {{mesh: stars, type: float64, components: 3}}
  number: {{mesh: stars, type: int64}}
  weight: {{mesh: stars, type: float64, centering: node}}
analyses:
  - halos: {{variable: density, boundary: {BOUNDARY}, halo: {HALO}, connectivity: 6, file: "c6-{{index}}.csv",
            profile: {{radius: 2, bins: 4, file: "shells-{{index}}.csv"}}, history: {{particles: stars}}}}
  - halos: {{name: weighed, variable: density, boundary: {BOUNDARY}, halo: {HALO}, connectivity: 6,
            file: "w-{{index}}.csv", history: {{particles: stars, weight: weight, file: "weighed.csv"}}}}
  - halos: {{name: corners, variable: density, boundary: 2.0, halo: 2.4, connectivity: 26, file: "c26-{{index}}.csv"}}
"""


def made():
    """A field that is smooth enough for halos of many cells, and particles that drift."""
    random = np.random.default_rng(5)
    noise = random.normal(size=(STEPS + 2, N, N, N))
    for axis in (0, 0, 0, 1, 2, 3):
        noise = noise + np.roll(noise, 1, axis) + np.roll(noise, -1, axis)
    fields = np.exp(0.7 * noise[1:-1] / noise.std())
    places = random.uniform(0, N * H, (1, 3000, 3)) + 0.05 * np.arange(STEPS)[:, None, None]
    return fields, places, 10.0 ** random.integers(-3, 4, 3000)


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("halos"), []
    fields, places, weights = made()
    np.savez(folder / "fields.npz", fields=fields, places=places, weights=weights)
    every = [
        ("one", 1, "inline"),
        ("nodes", 5, "{mode: nodes, buffer: 32 MiB, servers: 2}"),
        ("three", 3, "inline"),
        ("cores", 4, "{mode: cores, per_node: 1, buffer: 8 MiB}"),
    ]
    for name, ranks, placement in every if os.environ.get("SIDESTREAM_TEST_ALL") == "1" else every[:2]:
        place = folder / name
        place.mkdir()
        (place / "run.yaml").write_text(f"placement: {placement}\n{TASKS}")
        command = [MPIRUN, "-n", str(ranks), sys.executable, str(HERE / "halo_run.py"), "run.yaml"]
        done = subprocess.run(
            [*command, str(folder / "fields.npz")], cwd=place, capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found.append(place / "results")
    return found, fields, places, weights


def test_the_same_bytes_in_every_placement(runs):
    folders = runs[0]
    names = sorted(path.name for path in folders[0].glob("*.csv") if path.name not in ("timings.csv", "iterations.csv"))
    assert len(names) == 4 * STEPS + 2
    for other in folders[1:]:
        for name in names:
            assert (other / name).read_bytes() == (folders[0] / name).read_bytes(), name


@pytest.mark.parametrize(
    ("file", "connectivity", "boundary", "halo"), [("c6", 6, BOUNDARY, HALO), ("c26", 26, 2.0, 2.4)]
)
def test_components_like_cc3d(runs, file, connectivity, boundary, halo):
    """For neighbours at corners cc3d has no periodic meshes, so that the field gets margins."""
    folders, fields = runs[:2]
    found = 0
    for step, field in enumerate(fields):
        above = field >= boundary
        if connectivity == 6:
            labels = cc3d.connected_components(above, connectivity=6, periodic_boundary=True)
        else:
            margin = cc3d.connected_components(np.pad(above, 1, "wrap"), connectivity=26).astype(np.int64)
            labels = margin[1:-1, 1:-1, 1:-1].copy()
            # A cell of the margin is the same as the cell of which it is an image.
            images = np.stack([margin.ravel(), np.pad(labels, 1, "wrap").ravel()], 1)
            names = np.arange(margin.max() + 1)
            for one, other in np.unique(images[images[:, 0] > 0], axis=0):
                names[names == names[other]] = names[one]
            labels = names[labels]
        table = {int(row["peak_index"]): row for row in rows(folders[0] / f"{file}-{step}.csv")}
        expected = {}
        for label in set(labels[labels > 0].tolist()):
            at = np.argwhere(labels == label)
            values = field[labels == label]
            k, j, i = at[values.argmax()]
            if values.max() >= halo:
                expected[int((i * N + j) * N + k)] = (len(at), values.max(), values.sum() * H**3)
        assert table.keys() == expected.keys()
        for peak, (cells, value, mass) in expected.items():
            row = table[peak]
            assert (int(row["cells"]), float(row["peak_value"])) == (cells, value)
            assert float(row["mass"]) == pytest.approx(mass, rel=1e-13)
        found += len(expected)
    assert found > 2 * STEPS


def test_profiles_like_numpy(runs):
    folders, fields = runs[:2]
    for step, field in enumerate(fields):
        shells = rows(folders[0] / f"shells-{step}.csv")
        for halo in rows(folders[0] / f"c6-{step}.csv"):
            peak = np.array([int(halo[f"peak_{axis}"]) for axis in "kji"])
            away = (np.indices(field.shape) - peak[:, None, None, None] + N // 2) % N - N // 2
            distance = H * np.sqrt((away**2).sum(0))
            for row in (row for row in shells if row["halo"] == halo["halo"]):
                inside = (distance >= float(row["lower"])) & (distance < float(row["upper"]))
                assert int(row["cells"]) == np.count_nonzero(inside)
                assert float(row["density"]) == pytest.approx(field[inside].mean(), rel=1e-12)


def test_shared_particles_are_counted(runs):
    """`shared` of the main branch is the number of particles in both halos."""
    folders, fields, places, _ = runs
    history = rows(folders[0] / "halo-history.csv")
    members = []
    for field, place in zip(fields, places, strict=True):
        labels = cc3d.connected_components(field >= BOUNDARY, connectivity=6, periodic_boundary=True)
        i, j, k = np.floor(place / H).astype(int).T % N
        members.append((labels, labels[k, j, i]))
    checked = 0
    for step in range(1, STEPS):
        before = {row["track"]: row for row in history if row["iteration"] == str(step - 1) and row["halo"] != "-1"}
        for row in (row for row in history if row["iteration"] == str(step)):
            if row["event"] not in ("goes-on", "merger"):
                continue
            halves = []
            for at, seen in ((step - 1, before[row["track"]]), (step, row)):
                peak = np.unravel_index(int(seen["peak_index"]), (N, N, N))[::-1]
                halves.append(set(np.flatnonzero(members[at][1] == members[at][0][peak]).tolist()))
            assert int(row["shared"]) == len(halves[0] & halves[1]) > 0
            checked += 1
    assert checked > 2


def test_files_of_answers_are_those_of_trees_with_questions(tmp_path):
    """Merge trees without `halos` write no files of halos, and do not conflict with each other."""
    tree = "  - merge_tree: {{name: {0}, variable: t, file: '{0}-{{index}}.csv'{1}}}\n"
    halos, file = ", halos: [{boundary: 1, halo: 2}]", tmp_path / "run.yaml"
    for first, second, said in (("", "", None), ("", halos, None), (halos, halos, "merge-tree-halos")):
        text = "meshes: {m: {size: [4, 4, 4]}}\nvariables: {t: {mesh: m}}\nanalyses:\n"
        file.write_text(text + tree.format("a", first) + tree.format("b", second))
        done = subprocess.run([TOOL, "check", str(file)], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == (said is not None), done.stdout + done.stderr
        assert said is None or f"found the file name '{said}" in done.stderr, done.stderr
        assert "connected-" not in done.stdout
