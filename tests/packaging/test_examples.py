"""Runs an example in several placements and compares its results with an independent calculation. Needs NumPy, h5py and
VTK.

Usage: test_examples.py EXAMPLE PROGRAM CONFIGURATION MPIRUN..., EXAMPLE one of those in EXAMPLES below.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkDataSet
from vtkmodules.vtkFiltersCore import vtkFeatureEdges
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader, vtkXMLPolyDataReader, vtkXMLReader

# Numbers of ranks, and the line of the placement.
PLACEMENTS = [
    (1, "placement: {mode: inline}"),
    (3, "placement: {mode: inline}"),
    (3, "placement: {mode: cores, buffer: 32 MiB}"),
    (6, "placement: {mode: cores, buffer: 32 MiB, per_node: 2}"),
    (4, "placement: {mode: nodes, buffer: 32 MiB, servers: 2}"),
]


def run(program: Path, configuration: str, ranks: int, mpirun: list[str], folder: Path) -> None:
    """Runs the program in `folder` with a configuration of this text."""
    (folder / "run.yaml").write_text(configuration, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "SIDESTREAM_CONFIG"}
    interpreter = [sys.executable] if program.suffix == ".py" else []
    command = [*mpirun, "-n", str(ranks), *interpreter, str(program), "run.yaml"]
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=60)


def table(path: Path) -> dict[str, np.ndarray]:
    """The columns of a table that Sidestream wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def read_vtk(path: Path, reader: vtkXMLReader) -> vtkDataSet:
    """Reads a file that Sidestream wrote with one of VTK's readers."""
    assert path.is_file(), path
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def heat_by_hand(steps: int, shape: tuple[int, ...] = (32, 32, 32)) -> list[np.ndarray]:
    """The temperature before each step, by operations on whole arrays."""
    t = np.full(shape, 300.0)
    t[tuple(slice(n // 2) for n in shape)] = 400.0
    fields = []
    for _ in range(steps):
        fields.append(t)
        wide = np.pad(t, 1, mode="edge")  # no flux through the walls
        inside = (slice(1, -1),) * t.ndim
        around = sum(np.roll(wide, by, axis) for axis in range(t.ndim) for by in (-1, 1))[inside]
        t = t + 0.1 * (around - 2 * t.ndim * t)
    return fields


def check_statistics(folder: Path, fields: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Compares the table of statistics with these values, an array for each iteration. Returns the table."""
    found = table(folder / "results/statistics.csv")
    for name in ("iteration", "cycle"):
        assert np.array_equal(found[name], np.arange(len(fields))), found[name]
    assert np.array_equal(found["count"], [f.size for f in fields]), found["count"]
    for name, expected in [("minimum", np.min), ("maximum", np.max)]:
        np.testing.assert_allclose(found[name], [expected(f) for f in fields], rtol=1e-12, atol=1e-14, err_msg=name)
    return found


def check_variance(found: dict[str, np.ndarray], fields: list[np.ndarray]) -> None:
    """The mean and the variance with equal weights."""
    np.testing.assert_allclose(found["mean"], [np.mean(f) for f in fields], rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found["variance"], [np.var(f) for f in fields], rtol=1e-9)


def check_heat(folder: Path) -> None:
    fields = heat_by_hand(20)
    check_variance(check_statistics(folder, fields), fields)
    slices = sorted(path.name for path in (folder / "results").glob("slice-*.vtp"))
    assert slices == ["slice-000.vtp", "slice-010.vtp"], slices


def check_front(folder: Path) -> None:
    found = table(folder / "results/front.csv")
    for step, t in enumerate(heat_by_hand(20)):
        rows = found["iteration"] == step
        assert np.array_equal(found["warm"][rows], (t > 347.3).sum(axis=(1, 2))), step
        np.testing.assert_allclose(found["highest"][rows], t.max(axis=(1, 2)), rtol=1e-9)
    pictures = sorted(path.name for path in (folder / "results").glob("*.png"))
    assert pictures == ["middle-000.png", "middle-010.png"], pictures


def check_wave(folder: Path) -> None:
    found = table(folder / "results/histogram.csv")
    axis = np.cos(np.pi * (np.arange(32) + 0.5) / 32)
    space = axis[:, None, None] * axis[None, :, None] * axis[None, None, :]
    for step in range(8):
        expected, _ = np.histogram(np.cos(2 * np.pi * step / 8) * space, bins=20, range=(-1, 1))
        counts = found["count"][found["iteration"] == step]
        assert np.array_equal(counts, expected), f"step {step}: {counts}, expected {expected}"


def check_dye(folder: Path) -> None:
    found = np.loadtxt(folder / "cloud.csv", delimiter=",", ndmin=2)
    away = np.abs(np.arange(24)[:, None] - np.arange(24)[None, :])
    away = np.minimum(away, 24 - away)  # away[i, c]: distance from i to c in a periodic box
    expected = []
    for step in range(0, 12, 2):
        squares = [away[:, c] ** 2 for c in (6 + step, 12, 12)]
        dye = 1 / (1.0 + squares[0][:, None, None] + squares[1][None, :, None] + squares[2][None, None, :])
        points = np.argwhere(dye > 0.05)
        bounds = np.stack([points.min(0), points.max(0) + 1], axis=1)
        expected.append([step, len(points), *bounds.ravel()])
    assert np.array_equal(found, expected), f"{found}, expected {expected}"


def check_listing(folder: Path) -> None:
    found = np.loadtxt(folder / "largest.txt", ndmin=2)
    expected = [[step, 300 + 1.5 + 2 * 9 + 10 * step] for step in range(0, 6, 2)]
    assert np.array_equal(found, expected), f"{found}, expected {expected}"


def check_elements(folder: Path) -> None:
    # Points that elements share count once.
    points = np.array([-1, -np.sqrt(3 / 7), 0, np.sqrt(3 / 7), 1])
    axis = np.unique(np.round(np.add.outer(np.arange(4), 0.5 * (points + 1)) / 4, 12))
    one, two = np.sin(np.pi * axis), np.sin(2 * np.pi * axis)
    space = one[:, None, None] * one[None, :, None] * two[None, None, :]
    fields = [space * np.cos(0.25 * step) for step in range(10)]
    check_variance(check_statistics(folder, fields), fields)
    table = np.genfromtxt(folder / "results" / "square.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["sum"], np.cos(0.25 * np.arange(10)) ** 2 / 8, rtol=1e-6)  # the integral
    surfaces = sorted(path.name for path in (folder / "results").glob("surface-*.vtp"))
    assert surfaces == ["surface-000.vtp", "surface-005.vtp"], surfaces
    for step in (0, 5):
        check_surface(folder / f"results/surface-{step:03}.vtp", np.cos(0.25 * step), np.diff(axis).max())


def check_surface(path: Path, amplitude: float, widest: float) -> None:
    """Checks that the surface is closed, and that the wave is 0.2 on it, up to the error of linear interpolation."""
    surface = read_vtk(path, vtkXMLPolyDataReader())
    assert surface.GetNumberOfPolys() > 0, path
    edges = vtkFeatureEdges()
    edges.SetInputData(surface)
    edges.FeatureEdgesOff()
    edges.NonManifoldEdgesOn()
    edges.Update()
    assert edges.GetOutput().GetNumberOfCells() == 0, f"{path.name} has edges on which it does not close"
    x, y, z = vtk_to_numpy(surface.GetPoints().GetData()).astype(float).T
    wave = amplitude * np.sin(np.pi * x) * np.sin(np.pi * y) * np.sin(2 * np.pi * z)
    error = np.abs(wave - 0.2).max()
    assert error <= (2 * np.pi * widest) ** 2 / 8, f"{path.name}: {error}"


def density_of_block(level: int, corner: np.ndarray, time: float) -> np.ndarray:
    width = 0.5 / 2**level
    x, y, z = (width * at + width / 8 * (np.arange(8) + 0.5) for at in corner)
    return 1 + 0.5 * np.sin(6 * x + time)[:, None, None] * np.cos(5 * y)[:, None] * np.sin(4 * z)


def check_block_tree(folder: Path) -> None:
    fields, integrals = [], []
    places = np.array([[n % 2, n // 2 % 2, n // 4] for n in range(8)])
    for step in range(8):
        coarse = [density_of_block(0, places[n], 0.3 * step) for n in range(8) if n != step]
        fine = [density_of_block(1, 2 * places[step] + child, 0.3 * step) for child in places]
        fields.append(np.array(coarse + fine))
        integrals.append(np.sum(coarse) / 16**3 + np.sum(fine) / 32**3)
    found = check_statistics(folder, fields)
    np.testing.assert_allclose(found["size"], 1, rtol=1e-12)
    np.testing.assert_allclose(found["sum"], integrals, rtol=1e-12)
    for step in (0, 4):  # the slice cuts fine blocks in the first of them
        cut = read_vtk(folder / f"results/slice-{step:03}.vtp", vtkXMLPolyDataReader())
        assert cut.GetNumberOfPolys() == 2 * (448 if step == 0 else 256), cut.GetNumberOfPolys()
        sizes = vtkCellSizeFilter()
        sizes.SetInputData(cut)
        sizes.Update()
        area = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Area")).sum()
        np.testing.assert_allclose(area, 1, rtol=1e-6)  # positions in the file are in single precision


def check_pulse(folder: Path) -> None:
    """Levels of AMReX: coarse cells that no finer ones cover, and finer ones."""
    fields, integrals = [], []
    for step in range(8):
        size, middle = np.array([32, 64]), (2 * step + 8) / 32
        levels = []
        for cells in size:
            x, y, z = ((np.arange(cells) + 0.5) / cells - m for m in (middle, 0.5, 0.5))
            away = x[None, None, :] ** 2 + y[None, :, None] ** 2 + z[:, None, None] ** 2
            levels.append(1 + np.exp(-40 * away))
        covered = np.zeros((32, 32, 32), bool)
        covered[8:24, 8:24, 2 * step : 2 * step + 16] = True
        coarse, fine = levels[0][~covered], levels[1][16:48, 16:48, 4 * step : 4 * step + 32].ravel()
        fields.append(np.concatenate([coarse, fine]))
        integrals.append(np.sum(coarse) / 32**3 + np.sum(fine) / 64**3)
    found = check_statistics(folder, fields)
    np.testing.assert_allclose(found["size"], 1, rtol=1e-12)
    np.testing.assert_allclose(found["sum"], integrals, rtol=1e-12)
    for step in (0, 4):
        cut = read_vtk(folder / f"results/slice-{step:03}.vtp", vtkXMLPolyDataReader())
        assert cut.GetNumberOfPolys() == 2 * (32**2 - 16**2 + 32**2), cut.GetNumberOfPolys()


def check_particles(folder: Path) -> None:
    number = np.arange(3000)
    radius = 0.05 + 0.4 * number / 3000
    speed = 1 / (1 + 5 * radius)
    angles = [speed * 0.5 * step + 0.7 * number for step in range(12)]
    energies = [0.5 * speed**2 * radius**2 * (1 + 0.5 * np.cos(angle)) for angle in angles]
    found = check_statistics(folder, energies)
    np.testing.assert_allclose(found["sum"], [np.sum(e) for e in energies], rtol=1e-12)
    pictures = sorted(path.name for path in (folder / "results").glob("gas-*.png"))
    assert pictures == ["gas-000.png", "gas-004.png", "gas-008.png"], pictures
    for step in (0, 4, 8):
        with h5py.File(folder / f"results/energy-{step:03}.h5") as file:
            grid, x, y = file["energy"][...], file["x"][...], file["y"][...]
            assert file.attrs["outside"] == 0, file.attrs["outside"]
        # The cloud of a particle has the particle's energy, and is centred at the particle.
        energy, angle = energies[step], angles[step]
        found = [grid.sum(), (grid * x).sum(), (grid * y[:, None]).sum()]
        places = [np.ones(3000), 0.5 + radius * np.cos(angle), 0.5 + radius * np.sin(angle)]
        np.testing.assert_allclose(found, [(energy * place).sum() for place in places], rtol=1e-12)


def check_plate(folder: Path) -> None:
    fields = heat_by_hand(20, (24, 20))
    check_variance(check_statistics(folder, fields), fields)
    for step in (0, 10):
        image = read_vtk(folder / f"results/fields-{step:06}.pvti", vtkXMLPImageDataReader())
        found = vtk_to_numpy(image.GetCellData().GetArray("temperature"))
        np.testing.assert_allclose(found, fields[step].ravel(order="F"), rtol=1e-12)


# For each example: its check, and a result that must be the same bytes in every placement.
EXAMPLES = {
    "heat": (check_heat, "results/statistics.csv"),
    "heat_fortran": (check_heat, "results/statistics.csv"),
    "heat_python": (check_heat, "results/statistics.csv"),
    "front": (check_front, "results/front.csv"),
    "wave": (check_wave, "results/histogram.csv"),
    "dye": (check_dye, "cloud.csv"),
    "listing": (check_listing, "largest.txt"),
    "pencils": (check_heat, "results/statistics.csv"),
    "elements": (check_elements, "results/statistics.csv"),
    "block_tree": (check_block_tree, "results/statistics.csv"),
    "particles": (check_particles, "results/statistics.csv"),
    "pulse": (check_pulse, "results/statistics.csv"),
    "heat77": (check_plate, "results/statistics.csv"),
}


def values(path: Path) -> bytes:
    """A table without its comment lines, which name the run."""
    return b"".join(line for line in path.read_bytes().splitlines(keepends=True) if not line.startswith(b"#"))


# Every iteration may be refused here, which must not stop the program. There is a server that holds one iteration at a
# time, or no server. The second number is the least number of refusals.
REFUSING = [
    (3, "placement: {mode: cores, buffer: 32 MiB, when_full: skip, max_in_flight: 1}", "run.yaml", 0),
    (
        2,
        f"placement: {{mode: sidecar, buffer: 32 MiB, session: nobody-serves-{os.getpid()}, attach_limit: 0}}",
        "run-clients.yaml",
        1,
    ),
]
STEPS = {"heat": 20, "heat_fortran": 20, "heat_python": 20, "front": 20, "wave": 8, "dye": 12, "listing": 6}
STEPS |= {"pencils": 20, "elements": 10, "block_tree": 8, "particles": 12, "pulse": 8, "heat77": 20}


def account(path: Path) -> dict[str, int]:
    """The account in the record of a run."""
    lines = path.read_text(encoding="utf-8").split("\naccount:\n", 1)[1].splitlines()
    pairs = (line.split(":") for line in lines if line.startswith("  ") and ":" in line)
    return {name.strip(): int(count) for name, count in pairs if count.strip().isdigit()}


def check_goes_on(example: str, folder: Path, record: str, refused: int) -> None:
    """Checks that the program made all its steps, whatever their outcome."""
    found = account(folder / "results" / record)
    assert found["iterations"] == STEPS[example] == found["delivered"] + found["refused"], found
    assert found["refused"] >= refused * STEPS[example], found


# Each rank has two neighbouring pencils, and one across an edge.
PENCILS = [
    (1, "placement: {mode: inline}"),
    (4, "placement: {mode: inline}"),
    (6, "placement: {mode: cores, buffer: 32 MiB, per_node: 2}"),
]


def check_surfaces(program: Path, first: str, rest: str, mpirun: list[str]) -> None:
    """A surface has the same bytes in every division, though ranks publish their own points only."""
    assert "points: owned" in rest, rest
    rest += '  - isosurface: {variable: temperature, values: [350], every: 5, file: "surface-{index:03}.vtp"}\n'
    seen = set()
    for ranks, placement in PENCILS:
        with tempfile.TemporaryDirectory() as folder:
            run(program, f"{first}{placement}\n{rest}", ranks, mpirun, Path(folder))
            surfaces = sorted((Path(folder) / "results").glob("surface-*.vtp"))
            assert len(surfaces) == 4, surfaces
            seen.add(tuple(path.read_bytes() for path in surfaces))
        print(f"surfaces of pencils on {ranks} ranks, {placement}: read")
    assert len(seen) == 1, "surfaces differ"


def main() -> int:
    example, program, configuration, *mpirun = sys.argv[1:]
    check, result = EXAMPLES[example]
    first, *rest = re.split(
        r"^placement: .*\n", Path(configuration).read_text(encoding="utf-8"), maxsplit=1, flags=re.M
    )
    assert rest, f"{configuration} has no placement to replace"
    # Scripts lie beside the configuration.
    rest = rest[0].replace("script: ", f"script: {Path(configuration).resolve().parent}/")
    everything = os.environ.get("SIDESTREAM_TEST_ALL") == "1"
    placements = PLACEMENTS if everything else PLACEMENTS[1::3]
    seen = set()
    for ranks, placement in placements:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(program).resolve(), f"{first}{placement}\n{rest}", ranks, mpirun, Path(folder))
            check(Path(folder))
            seen.add(values(Path(folder) / result))
        print(f"{example} on {ranks} ranks, {placement}: as calculated")
    assert len(seen) == 1, f"{result} differs between placements"
    if example == "pencils":
        check_surfaces(Path(program).resolve(), first, rest, mpirun)
    for ranks, placement, record, refused in REFUSING if everything else REFUSING[1:]:
        with tempfile.TemporaryDirectory() as folder:
            run(Path(program).resolve(), f"{first}{placement}\n{rest}", ranks, mpirun, Path(folder))
            check_goes_on(example, Path(folder), record, refused)
        print(f"{example} on {ranks} ranks, {placement}: goes on")
    if left := len(PLACEMENTS) - len(placements):
        print(f"{left} cases run in `make test-all` only (SIDESTREAM_TEST_ALL=1)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
