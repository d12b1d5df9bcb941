"""Derived variables on meshes of every structured kind are those of NumPy, whatever the division."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from derived_values import STEPS, fine, places, values

PROGRAM = Path(__file__).with_name("derived.py")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")

NODES = {
    "x": [0, 1, 1.5, 2.25, 4, 4.1, 5, 7],
    "y": [-1, 0, 2, 2.5, 2.75, 3, 5],
    "z": [0, 0.1, 0.3, 0.7, 1.5, 1.7, 2.0, 2.6, 3, 3.5],
}
AROUND = [0, 1, 3, 3.5, 4, 6, 7, 7.25, 8, 10]

DERIVED = {
    "slopes": "gradient(a)",
    "vorticity": "curl(n)",
    "spread": "divergence(n)",
    "turning": "q_criterion(n)",
    "twist": "dot(n, curl(n)) + cross(n, curl(n)).z",
    "mixed": "whole * short + whole",
    "place": "x + 10 * y + 100 * z + a * 0",
    "later": "2 * rare",
    "twice": "2 * holed",
    "spin": "curl(flow)",
    "winding": "curl(wind)",
    "growth": "gradient(divergence(flow))",
    "steps": "gradient(b)",
    "linear": "gradient(2 * x - 3 * y + 0 * p)",
    "bends": "gradient(x - 2 * y + 5 * z + 0 * q)",
    "wild": "gradient(p)",
    "nothing": "gradient(s)",
    "fine": "gradient(coarse)",
    "chained": "c40",
    "chained_slopes": "gradient(c40)",
    "shared": "gradient(divergence(slopes)) + gradient(divergence(gradient(c40)))",
}
# Each variable uses the previous one twice, and equals `a`.
CHAIN = {"c0": "a"} | {f"c{n}": f"0.5 * c{n - 1} + c{n - 1} * 0.5" for n in range(1, 41)}

CONFIGURATION = f"""\
placement: PLACEMENT
output: {{directory: DIRECTORY}}
meshes:
  uneven: {{type: rectilinear, coordinates: {{x: {NODES["x"]}, y: {NODES["y"]}, z: {NODES["z"]}}}}}
  ring: {{size: [8, 10], spacing: [0.5, 0.25], periodic: [x, y]}}
  around: {{type: rectilinear, coordinates: {{x: {AROUND}}}, periodic: x}}
  polar: {{type: curvilinear, size: [12, 9], coordinates: polar_places}}
  bent: {{type: curvilinear, size: [5, 4, 7], coordinates: bent_places}}
  single: {{size: [1]}}
  levels: {{size: [8, 6], spacing: 0.5, refinement: [2]}}
variables:
  a: {{mesh: uneven}}
  n: {{mesh: uneven, components: 3, centering: node}}
  whole: {{mesh: uneven, type: int32}}
  short: {{mesh: uneven, type: float32}}
  rare: {{mesh: uneven}}
  holed: {{mesh: uneven}}
  flow: {{mesh: ring, components: 2}}
  wind: {{mesh: ring, components: 3, centering: node}}
  b: {{mesh: around}}
  p: {{mesh: polar}}
  polar_places: {{mesh: polar, components: 2, centering: node}}
  q: {{mesh: bent, centering: node}}
  bent_places: {{mesh: bent, components: 3, centering: node}}
  s: {{mesh: single}}
  coarse: {{mesh: levels}}
derived:
{"".join(f"  {name}: {text}" + chr(10) for name, text in (CHAIN | DERIVED).items())}
analyses:
  - statistics: {{variable: fine}}
  - statistics: {{variable: later, file: later.csv}}
  - statistics: {{variable: winding, file: winding.csv}}
outputs:
  - hdf5: {{variables: [holed, {", ".join(DERIVED)}]}}
"""


def run(folder, ranks, blocks, placement="inline", name="results"):
    file, results = folder / f"{name}.yaml", folder / name
    file.write_text(CONFIGURATION.replace("PLACEMENT", placement).replace("DIRECTORY", str(results)))
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), str(file), str(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


def read(results, step):
    """Arrays by name, joined from their blocks. With several levels the key has level, lower end and name."""
    found = {}
    with h5py.File(results / f"fields-{step:06}.h5") as file:
        for name, data in file["variables"].items():
            if isinstance(data, h5py.Dataset):
                found[name] = data[...]
                found[name + " missing"] = int(data.attrs["missing"])
    for path in sorted(results.glob(f"fields-{step:06}-*.h5")):
        with h5py.File(path) as file:
            for block in file.get("variables/fine", {}).values():
                if block.size and "level" in block.attrs:
                    level, lo = int(block.attrs["level"]), tuple(int(n) for n in block.attrs["lo"])
                    found[f"fine {level} {lo}"] = block[...]
    return found


def of_level(found, level):
    """Joins the blocks of a level, which are cut along y."""
    parts = [(key, value) for key, value in found.items() if key.startswith(f"fine {level} ")]
    parts.sort(key=lambda part: int(part[0].split(",")[1]))
    return np.concatenate([value for _, value in parts])


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    results = run(tmp_path_factory.mktemp("derived"), 1, 1)
    return results, [read(results, step) for step in range(STEPS)]


def centres(nodes):
    nodes = np.array(nodes, float)
    return 0.5 * (nodes[:-1] + nodes[1:])


def slopes(array, *positions):
    """Derivatives along each axis, x first."""
    axes = range(len(positions))
    return [np.gradient(array, positions[a], axis=len(positions) - 1 - a) for a in axes]


def test_uneven_spacing(reference):
    x, y, z = (NODES[axis] for axis in "xyz")
    for step, found in enumerate(reference[1]):
        a, n = values("a", step), values("n", step)
        np.testing.assert_array_equal(found["slopes"], np.stack(slopes(a, *map(centres, (x, y, z))), -1))
        j = [slopes(n[..., c], *(np.array(axis, float) for axis in (x, y, z))) for c in range(3)]
        curl = [j[2][1] - j[1][2], j[0][2] - j[2][0], j[1][0] - j[0][1]]
        np.testing.assert_array_equal(found["vorticity"], np.stack(curl, -1))
        np.testing.assert_array_equal(found["spread"], j[0][0] + j[1][1] + j[2][2])
        turning = 0
        for b in range(3):
            for c in range(3):
                turning = turning - 0.5 * (j[b][c] * j[c][b])
        np.testing.assert_array_equal(found["turning"], turning)
        dot = n[..., 0] * curl[0] + n[..., 1] * curl[1] + n[..., 2] * curl[2]
        np.testing.assert_array_equal(found["twist"], dot + (n[..., 0] * curl[1] - n[..., 1] * curl[0]))
        mixed = values("whole", step) * values("short", step).astype(float) + values("whole", step)
        assert found["mixed"].dtype == np.float64
        np.testing.assert_array_equal(found["mixed"], mixed)
        place = centres(x) + 10 * centres(y)[:, None] + 100 * centres(z)[:, None, None]
        np.testing.assert_array_equal(found["place"], place + a * 0)
        assert np.isnan(found["place"]).sum() == step and np.isnan(found["slopes"]).sum() == 9 * step


def test_chains_take_each_variable_once(reference):
    """If the text were doubled forty times, this would not end."""
    x, y, z = (centres(NODES[axis]) for axis in "xyz")
    for step, found in enumerate(reference[1]):
        a = values("a", step)
        np.testing.assert_array_equal(found["chained"], a)
        np.testing.assert_array_equal(found["chained_slopes"], found["slopes"])
        first = slopes(a, x, y, z)
        spread = sum(slopes(first[axis], x, y, z)[axis] for axis in range(3))
        np.testing.assert_allclose(found["shared"], 2 * np.stack(slopes(spread, x, y, z), -1), rtol=1e-9, atol=1e-9)


def around(array):
    return np.pad(array, [(1, 1), (1, 1), (0, 0)][: array.ndim], mode="wrap")


def inner(slope):
    return slope[1:-1, 1:-1]


def test_periodic_meshes(reference):
    for step, found in enumerate(reference[1]):
        flow = around(values("flow", step))
        j = [[np.gradient(flow[..., c], (0.5, 0.25)[a], axis=1 - a) for a in range(2)] for c in range(2)]
        np.testing.assert_array_equal(found["spin"], inner(j[1][0] - j[0][1]))
        spread = around(inner(j[0][0] + j[1][1]))
        growth = [inner(np.gradient(spread, (0.5, 0.25)[a], axis=1 - a)) for a in range(2)]
        np.testing.assert_array_equal(found["growth"], np.stack(growth, -1))
        # The first and the last node are the same place. Beyond them are the last but one and the second.
        wind = np.pad(values("wind", step), [(1, 1), (1, 1), (0, 0)])
        wind[0, :], wind[-1, :] = wind[-3, :], wind[2, :]
        wind[:, 0], wind[:, -1] = wind[:, -3], wind[:, 2]
        j = [[inner(np.gradient(wind[..., c], (0.5, 0.25)[a], axis=1 - a)) for a in range(2)] for c in range(3)]
        np.testing.assert_array_equal(found["winding"], np.stack([j[2][1], -j[2][0], j[1][0] - j[0][1]], -1))
        b, x = values("b", step), centres(AROUND)
        b, x = np.concatenate([b[-1:], b, b[:1]]), np.concatenate([x[-1:] - 10, x, x[:1] + 10])
        np.testing.assert_allclose(found["steps"], np.gradient(b, x)[1:-1], rtol=1e-13)


def test_curvilinear_meshes(reference):
    for found in reference[1]:
        np.testing.assert_allclose(found["linear"][..., 0], 2, rtol=1e-12)
        np.testing.assert_allclose(found["linear"][..., 1], -3, rtol=1e-12)
        for c, slope in enumerate((1, -2, 5)):
            np.testing.assert_allclose(found["bends"][..., c], slope, rtol=1e-11)


def test_slopes_of_a_curved_mesh_solve_the_differences(reference):
    """The gradient times the central differences of coordinates gives the central differences of values, along mesh
    lines."""
    nodes = places("polar")
    middles = 0.25 * (nodes[:-1, :-1] + nodes[:-1, 1:] + nodes[1:, :-1] + nodes[1:, 1:])
    for step, found in enumerate(reference[1]):
        p, slope = values("p", step), found["wild"]
        assert slope.shape == (*p.shape, 2)
        for axis in range(2):
            # The distance cancels, because numpy.gradient uses the same for both.
            rise = np.gradient(p, axis=axis)
            along = np.gradient(middles, axis=axis)
            np.testing.assert_allclose((slope * along).sum(-1), rise, rtol=1e-10, atol=1e-10)


def test_levels_are_computed_each_by_itself(reference):
    for step, found in enumerate(reference[1]):
        coarse = np.stack(slopes_even(values("coarse", step), 0.5), -1)
        np.testing.assert_array_equal(of_level(found, 0), coarse)
        np.testing.assert_array_equal(of_level(found, 1), np.stack(slopes_even(fine(step), 0.25), -1))


def slopes_even(array, spacing):
    return [np.gradient(array, spacing, axis=a) for a in (1, 0)]


def test_what_is_missing_and_one_cell(reference):
    results, (first, second) = reference
    assert "later" not in first
    np.testing.assert_array_equal(second["later"], 2 * values("rare", 1))
    with (results / "later.csv").open() as file:
        assert [int(row["iteration"]) for row in csv.DictReader(file)] == [1]
    for found in (first, second):
        np.testing.assert_array_equal(found["nothing"].ravel(), [0.0])


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "blocks", "placement"),
    [(5, 1, "{mode: cores, buffer: 32 MiB}"), (2, 2, "inline"), (8, 2, "inline"), (5, 2, "{mode: nodes, servers: 2}")],
)
def test_divisions(tmp_path, reference, ranks, blocks, placement):
    results = run(tmp_path, ranks, blocks, placement)
    for step, others in enumerate(reference[1]):
        found = read(results, step)
        assert found["twice missing"] == found["holed missing"] > 0
        holed = ~np.isnan(found["holed"])
        np.testing.assert_array_equal(found["twice"][holed], 2 * values("holed", step)[holed])
        names = [name for name in others if "fine" not in name and "missing" not in name]
        for name in set(names) - {"holed", "twice"}:
            np.testing.assert_array_equal(found[name], others[name], name)
        for level in range(2):
            np.testing.assert_array_equal(of_level(found, level), of_level(others, level))
    for table in ("statistics.csv", "winding.csv", "later.csv"):
        assert (results / table).read_bytes() == (reference[0] / table).read_bytes()
