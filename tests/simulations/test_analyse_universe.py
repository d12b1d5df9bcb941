"""`sidestream analyse` on results of the universe gives the same bytes as in situ, on any number of ranks and in any
placement. It reads databases, HDF5 files, arrays of other programs, and plotfiles."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from analysing import TOOL, analyse, configure, results, run, same
from pairs import few

UNIVERSE = os.environ["UNIVERSE"]
GRID = """\
analyses:
  - statistics: {variable: density}
  - histogram: {variable: density, bins: 64, range: [0, 8]}
  - histogram2d: {x: {variable: density, scale: logarithmic}, y: {variable: temperature, bins: 16}}
  - halos: {variable: density, boundary: 1.5, halo: 2, history: {}}
  - power_spectrum: {variable: density}
  - slice: {variable: density, axis: z, position: 3.3, file: "slice-{cycle:04}.vtp"}
  - isosurface: {variable: density, values: [1.7], file: "surface-{cycle:04}.vtp"}
"""
FOREST = """\
  - lyman_alpha: {hydrogen: neutral_hydrogen, temperature: temperature, velocity: velocity, time_is: scale_factor,
                  pdf_file: pdf.csv}
"""
PARTICLES = """\
  - statistics: {variable: momentum, component: 0, file: momentum.csv}
  - deposit: {mesh: matter, size: [9, 9, 9], low: [0, 0, 0], high: [20, 20, 20], periodic: true}
"""
ALL = GRID + FOREST + PARTICLES
CELLS = 40  # 64000 cells, more than a block may have, so that blocks are cut
PERIODIC = "meshes: {grid: {type: uniform, size: [40, 40, 40], spacing: [0.5, 0.5, 0.5], periodic: [x, y, z]}}\n"


@pytest.fixture(scope="module")
def insitu(tmp_path_factory):
    folder = tmp_path_factory.mktemp("universe")
    outputs = "outputs: [database: {directory: data, kind: post}, hdf5: {}]\n"
    file = configure(folder, "insitu", ALL, outputs=outputs)
    options = ["--particles", 20, "--cells", CELLS, "--box", 20, "--last", 3, "--steps", 6, "--every", 2]
    run(3, UNIVERSE, *options, "--sidestream", file)
    assert len(results(folder / "insitu")) > 20
    return folder / "insitu"


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "placement"),
    [
        (1, "inline"),
        (2, "inline"),
        (3, "inline"),
        (5, "inline"),
        (3, "{mode: cores, buffer: 32 MiB}"),
        (5, "{mode: nodes, buffer: 32 MiB, servers: 2}"),
    ],
)
def test_database(tmp_path, insitu, ranks, placement):
    said, found = analyse(tmp_path, "out", insitu / "data", ALL, ranks=ranks, placement=placement)
    assert "analysed 4 of 4 iterations" in said
    assert "warning" not in said
    same(insitu, found, 20)


@pytest.mark.test_all
@pytest.mark.parametrize("ranks", few([3, 1]))
def test_hdf5_of_our_own(tmp_path, insitu, ranks):
    """The configuration declares that the mesh is periodic, because these files do not say it."""
    _, found = analyse(tmp_path, "out", insitu / "fields-*[0-9][0-9][0-9][0-9].h5", ALL, ranks=ranks, more=PERIODIC)
    same(insitu, found, 20)


@pytest.mark.test_all
def test_a_second_run_in_the_same_directory(tmp_path, insitu):
    analyse(tmp_path, "out", insitu / "data", GRID)
    said, _ = analyse(tmp_path, "out", insitu / "data", GRID, status=1)
    assert "existing" in said
    assert said.count("sidestream analyse:") == 1


def whole(insitu, cycle, name):
    with h5py.File(insitu / f"fields-{cycle:06}.h5") as file:
        return file[f"variables/{name}"][()], file.attrs["time"]


DESCRIPTION = """\
meshes: {grid: {box: [0, 0, 0, 20, 20, 20], order: %s, periodic: [x, y, z]}}
particles: {matter: [/part/x, /part/y, /part/z]}
variables:
  density: /native/rho
  temperature: {mesh: grid, array: /native/T}
  neutral_hydrogen: {mesh: grid, array: /native/HI}
  velocity: {mesh: grid, array: [/native/vx, /native/vy, /native/vz], unit: cm/s}
  momentum: {mesh: matter, array: /part/p}
iteration: {cycle: /about@step, time: "@a"}
"""


@pytest.mark.keep(1)
@pytest.mark.parametrize(("order", "ranks"), few([("column", 3), ("row", 2), ("column", 1)], keep=2))
def test_arrays_of_another_program(tmp_path, insitu, order, ranks):
    """Files by h5py, in either order of axes, in compressed chunks or not, with separate components."""
    turned = (lambda a: np.ascontiguousarray(a.transpose(2, 1, 0))) if order == "row" else (lambda a: a)
    for cycle in (0, 2, 4, 6):
        with h5py.File(tmp_path / f"dump_{cycle}.hdf5", "w") as out:
            for name, stored in [("density", "rho"), ("temperature", "T"), ("neutral_hydrogen", "HI")]:
                values, time = whole(insitu, cycle, name)
                out.create_dataset(f"native/{stored}", data=turned(values), chunks=(8, 8, 8), compression="gzip")
            velocity, _ = whole(insitu, cycle, "velocity")
            places, _ = whole(insitu, cycle, "place")
            for c, axis in enumerate("xyz"):
                out[f"native/v{axis}"] = turned(velocity[..., c])
                out[f"part/{axis}"] = places[:, c]
            out["part/p"], _ = whole(insitu, cycle, "momentum")
            out.attrs["a"] = time
            out.create_group("about").attrs["step"] = cycle
    description = tmp_path / "arrays.yaml"
    description.write_text(DESCRIPTION.replace("%s", order))
    _, found = analyse(tmp_path, "out", tmp_path / "dump_*.hdf5", ALL, "--describe", description, ranks=ranks)
    # Triangles and points of files are in the order of blocks or axes, but their numbers must be the same.
    same(insitu, found, 20)


@pytest.mark.test_all
@pytest.mark.parametrize("ranks", few([5, 1]))
def test_plotfiles(tmp_path, insitu, ranks):
    """Plotfiles that the exporter made from the database, which yt reads, too. An expression joins components again."""
    command = [sys.executable, "-m", "sidestream", "export", insitu / "data", tmp_path / "plots.amrex"]
    subprocess.run(
        [*command, "--variables", "density,temperature,neutral_hydrogen,velocity,momentum"], check=True, timeout=100
    )
    plots = tmp_path / "plots.amrex" / "plt*"
    joined = "derived: {velocity: {expression: 'vector(velocity_x, velocity_y, velocity_z)'}}\n"
    tasks = GRID + FOREST + PARTICLES.replace("variable: momentum", "variable: matter_momentum")
    _, found = analyse(tmp_path, "out", plots, tasks, "--periodic", "xyz", ranks=ranks, more=joined)
    same(insitu, found, 20)


def read_mebibytes(said):
    return float(re.search(r"([\d.]+) MiB of values", said)[1])


def test_only_what_is_needed_is_read(tmp_path, insitu):
    """Only the variable is read that is needed, the blocks that a plane meets, and the iterations in which something
    is due."""
    one = "analyses: [statistics: {variable: density}]\n"
    size = CELLS**3 * 8 / 2**20
    assert read_mebibytes(analyse(tmp_path, "one", insitu / "data", one)[0]) == pytest.approx(4 * size, abs=0.06)
    seldom = "analyses: [statistics: {variable: density, every: 3}]\n"
    assert read_mebibytes(analyse(tmp_path, "seldom", insitu / "data", seldom)[0]) == pytest.approx(2 * size, abs=0.06)
    plane = "analyses: [slice: {variable: density, axis: z, position: 1, cells: own}]\n"
    said, _ = analyse(tmp_path, "plane", insitu / "data", plane, ranks=2)
    assert "warning" not in said
    assert read_mebibytes(said) < 4 * size * 0.55
    assert "absent_blocks: 0" in (tmp_path / "plane" / "run.yaml").read_text()


def rows(folder):
    return [line.split(",")[1] for line in (folder / "statistics.csv").read_text().splitlines()[1:]]


@pytest.mark.test_all
def test_some_iterations(tmp_path, insitu):
    one = "analyses: [statistics: {variable: density}]\n"
    _, found = analyse(tmp_path, "a", insitu / "data", one, "--iterations", "1:4:2")
    assert rows(found) == ["2", "6"]
    _, found = analyse(tmp_path, "b", insitu / "data", one, "--cycles", "0,4:")
    assert rows(found) == ["0", "4", "6"]
    two = [insitu / "fields-000004.h5", insitu / "fields-000002.h5"]
    _, found = analyse(tmp_path, "c", two, one)
    assert rows(found) == ["4", "2"]
    said, _ = analyse(tmp_path, "d", insitu / "data", one, "--iterations", "7:", status=1)
    assert "of the 4 iterations of the files none is asked for" in said


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("tasks", "options", "sentence"),
    [
        ("analyses: [statistics: {variable: densty}]\n", [], "did you mean 'density'?"),
        ("outputs: []\n", [], "nothing needs a variable of the files; add 'analyses:'"),
        ("analyses: [statistics: {variable: density}]\n", ["--iterations", "1:x"], "found '1:x', expected a number"),
        (
            "variables: {density: {mesh: grid, type: float32}}\nanalyses: [statistics: {variable: density}]\n",
            [],
            "the variable 'density'",
        ),
        (
            "variables: {extra: {mesh: grid, type: float64}}\nanalyses: [statistics: {variable: extra}]\n"
            "meshes: {grid: {type: uniform, size: [40, 40, 40], spacing: [0.5, 0.5, 0.5], periodic: [x, y, z]}}\n",
            [],
            "the variable 'extra' is needed, which no file has; they have ",
        ),
    ],
)
def test_mistakes(tmp_path, insitu, tasks, options, sentence):
    said, _ = analyse(tmp_path, "out", insitu / "data", tasks, *options, ranks=2, status=1)
    assert sentence in said
    assert said.count("sidestream analyse:") == 1, said


@pytest.mark.test_all
def test_files_that_are_none(tmp_path, insitu):
    one = "analyses: [statistics: {variable: density}]\n"
    (tmp_path / "text.h5").write_text("no HDF5")
    for name, sentence in [
        ("nothing", "does not exist"),
        ("text.h5", "is no HDF5 file"),
        (".", "neither a database nor a plotfile"),
        ("*.none", "no file matches"),
    ]:
        said, _ = analyse(tmp_path, "out", tmp_path / name, one, ranks=2, status=1)
        assert sentence in said
        assert said.count("sidestream analyse:") == 1, said


@pytest.mark.test_all
def test_damage(tmp_path, insitu):
    """Results before the damaged iteration exist; then there is one sentence for all ranks."""
    damaged = tmp_path / "data"
    shutil.copytree(insitu / "data", damaged)
    segment = max(damaged.glob("segment*"), key=lambda file: file.stat().st_size)
    data = bytearray(segment.read_bytes())
    for at in range(len(data) // 2, len(data) - 4096, 4096):
        data[at] ^= 1
    segment.write_bytes(data)
    said, _ = analyse(tmp_path, "out", damaged, ALL, ranks=3, status=1)
    assert "checksum" in said
    assert said.count("sidestream analyse:") == 1, said
    # Here the process that prints is a server, which reads nothing.
    server = "{mode: nodes, buffer: 32 MiB, ranks: [0]}"
    said, _ = analyse(tmp_path, "served", damaged, ALL, ranks=3, placement=server, status=1)
    assert "checksum" in said
    assert said.count("sidestream analyse:") == 1, said
    cut = tmp_path / "fields-000002.h5"
    shutil.copytree(insitu, tmp_path / "fields", ignore=shutil.ignore_patterns("data"))
    broken = tmp_path / "fields" / "fields-000002-001.h5"
    broken.write_bytes(broken.read_bytes()[: broken.stat().st_size // 2])
    files = [tmp_path / "fields" / f"fields-00000{n}.h5" for n in (0, 2)]
    said, _ = analyse(tmp_path, cut.stem, files, GRID, ranks=2, status=1)
    assert "fields-000002-001.h5" in said


@pytest.mark.test_all
def test_a_variable_that_one_iteration_lacks(tmp_path, insitu):
    """The analysis is left out in that iteration, and a message says so. Others run."""
    for cycle in (0, 2):
        with h5py.File(tmp_path / f"dump_{cycle}.h5", "w") as out:
            out["rho"], _ = whole(insitu, cycle, "density")
            if cycle == 2:
                out["T"], _ = whole(insitu, cycle, "temperature")
    (tmp_path / "arrays.yaml").write_text(
        "meshes: {grid: {spacing: 0.5}}\nvariables: {density: /rho, temperature: /T}\n"
    )
    tasks = "analyses: [statistics: {variable: density}, statistics: {variable: temperature, file: T.csv}]\n"
    said, found = analyse(
        tmp_path, "out", tmp_path / "dump_?.h5", tasks, "--describe", tmp_path / "arrays.yaml", ranks=2
    )
    assert "left out: it was due 1 times when nobody had published 'temperature'" in said
    assert len((found / "statistics.csv").read_text().splitlines()) == 3
    assert len((found / "T.csv").read_text().splitlines()) == 2
    tasks = "analyses: [statistics: {variable: pressure}]\n"
    (tmp_path / "arrays.yaml").write_text("meshes: {grid: {spacing: 0.5}}\nvariables: {density: /rho, pressure: /p}\n")
    said, _ = analyse(tmp_path, "no", tmp_path / "dump_?.h5", tasks, "--describe", tmp_path / "arrays.yaml", status=1)
    assert "'pressure'" in said


@pytest.mark.test_all
def test_the_run_itself_may_be_analysed_again(tmp_path, insitu):
    """Uses the configuration of the run; its outputs are left out, and results go elsewhere."""
    said = run(
        2, TOOL, "analyse", insitu / "data", "--config", insitu.parent / "insitu.yaml", "--no-outputs",
        "--directory", tmp_path / "again",
    )  # fmt: skip
    assert "analysed 4" in said
    same(insitu, tmp_path / "again", 20)
    assert not (Path(tmp_path) / "again" / "data").exists()
