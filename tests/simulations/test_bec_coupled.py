"""The condensate with Sidestream: published values, the same bytes in every placement, and spectra of its energies."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from mini_app import write
from pairs import few
from PIL import Image
from split_step import wave_numbers
from test_bec import COUPLED, fields, run, succeed

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "bec"
sys.path.insert(0, str(EXAMPLE))
from drawing import parts  # noqa: E402

TABLES = """
placement: {placement}
output: {{directory: {directory}}}
derived:
  phase: atan2(im, re)
analyses:
  - statistics: {{variable: density}}
  - statistics: {{variable: phase, file: phase.csv}}
  - power_spectrum: {{variable: re, of: difference}}
  - render: {{isosurface: {{variable: density, values: [0.2 * $bulk], colour_by: phase}}, size: [160, 120]}}
outputs:
  - hdf5: {{}}
"""
BOX = ["--a", 0.1, "--g", 2, "--relax", 10, "--steps", 6, "--every", 3]


def results(folder):
    """Contents of files by name; of HDF5 the values, since which server wrote a block differs."""
    found = {}
    for file in sorted(folder.glob("*.csv")) + sorted(folder.glob("*.png")):
        if file.name not in ("timings.csv", "iterations.csv", "movement.csv"):
            found[file.name] = file.read_bytes()
    for file in folder.glob("fields-??????.h5"):
        with h5py.File(file) as data:
            for name in ("re", "im", "density"):
                found[file.name, name] = data["variables"][name][()].tobytes()
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    last = fields(folder, 0, (20, 13, 17), *BOX, "--sidestream", write(folder, TABLES), program=COUPLED)
    found = results(folder / "out")
    assert {"phase.csv", "power_spectrum.csv", "frame-00002.png", ("fields-000006.h5", "re")} <= set(found)
    return last, found


def test_published_values_are_those_of_the_program(tmp_path, reference):
    last, found = reference
    for name, values in zip(("re", "im", "density"), last, strict=True):
        assert found["fields-000006.h5", name] == values.tobytes()
    assert fields(tmp_path, 0, (20, 13, 17), *BOX).tobytes() == last.tobytes()  # built without Sidestream


PLACEMENTS = [
    ("{mode: cores, buffer: 64 MiB, per_node: 1}", 4),
    ("inline", 5),
    ("{mode: nodes, buffer: 64 MiB, servers: 2}", 5),
]


@pytest.mark.parametrize(("placement", "ranks"), few(PLACEMENTS))
def test_the_same_bytes_in_every_placement(tmp_path, reference, placement, ranks):
    file = write(tmp_path, TABLES, placement)
    last = fields(tmp_path, ranks, (20, 13, 17), *BOX, "--sidestream", file, program=COUPLED)
    assert last.tobytes() == reference[0].tobytes()
    assert results(tmp_path / "out") == reference[1]


def test_two_dimensions_and_off(tmp_path):
    options = ["--start", "quadrupole", "--a", 0.1, "--steps", 4, "--every", 2]
    plain = fields(tmp_path, 0, (24, 18), *options)
    text = "placement: {placement}\noutput: {{directory: {directory}}}\noutputs: [hdf5: {{}}]\n"
    for placement in ("inline", "off"):
        file = write(tmp_path, text, placement, placement)
        found = fields(tmp_path, 3, (24, 18), *options, "--sidestream", file, program=COUPLED)
        assert found.tobytes() == plain.tobytes()
    with h5py.File(tmp_path / "inline" / "fields-000004.h5") as data:
        density = data["variables"]["density"][()]
    assert density.shape == (18, 24) and density.tobytes() == plain[2].tobytes()
    assert not list((tmp_path / "off").glob("*.h5"))


@pytest.mark.test_all
def test_mistakes_in_the_configuration(tmp_path):
    for text, words in (("analyses: [statistics: {variable: temperature}]", "temperature"), ("placement: sky", "sky")):
        (tmp_path / "run.yaml").write_text(f"output: {{directory: {tmp_path / words}}}\n{text}\n")
        done = run(2, "--size", 8, "--steps", 2, "--sidestream", tmp_path / "run.yaml", program=COUPLED)
        assert done.returncode == 1 and words in done.stderr


def shell_sums(values, k, shells):
    """Sums over the shells of wave numbers, which begin half a fundamental below multiples of it."""
    number = np.floor(np.sqrt(sum(one**2 for one in k)) / (2 * np.pi / k[0].shape[0]) + 0.5).astype(int)
    return np.array([values[number == n].sum() for n in range(1, shells + 1)])


def derivative(values, axis):
    return (np.roll(values, -1, axis) - np.roll(values, 1, axis)) / 2


def test_spectra_of_the_parts_of_the_energy(tmp_path):
    """The demo's configuration gives what NumPy makes of the field, by projections."""
    text = (EXAMPLE / "bec.yaml").read_text().replace("every: 20", "every: 1")
    (tmp_path / "bec.yaml").write_text(text)
    options = ["--a", 0.1, "--steps", 3, "--every", 3]
    re, im, density = fields(
        tmp_path, 2, (24, 24, 24), *options, "--sidestream", "bec.yaml", program=COUPLED, cwd=tmp_path
    )
    wave, found = parts(tmp_path)
    root, k = np.sqrt(density), wave_numbers(re.shape)
    flow = [(re * derivative(im, 2 - a) - im * derivative(re, 2 - a)) / root for a in range(3)]
    modes = [np.fft.fftn(w) / np.sqrt(w.size) for w in flow]
    seen = [np.sin(one) for one in k]  # central differences see this of k
    length = np.sqrt(sum(one**2 for one in seen))
    length[length < 1e-9] = np.inf
    along = sum(s * w for s, w in zip(seen, modes, strict=True)) / length
    total = sum(np.abs(w) ** 2 for w in modes)
    shells = len(wave)
    kinetic = found["incompressible"] + found["compressible"]
    assert kinetic == pytest.approx(shell_sums(total, k, shells), rel=1e-9)
    # The ratio of a shell's powers weighs waves by the square of k, which differs little within a shell of long waves.
    expected = shell_sums(np.abs(along) ** 2, k, shells)
    assert found["compressible"][:6] == pytest.approx(expected[:6], rel=0.2)
    quantum = sum(one**2 for one in k) * np.abs(np.fft.fftn(root)) ** 2 / root.size
    assert found["quantum"][1:] == pytest.approx(shell_sums(quantum, k, shells)[1:], rel=0.05)


def demo(folder, *arguments):
    words = [sys.executable, EXAMPLE / "run", "--program", COUPLED, "--results", folder, *arguments]
    environment = {**os.environ, "MPIRUN": os.environ["MPIEXEC"]}
    return subprocess.run(
        [str(word) for word in words], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.test_all
def test_a_small_demo(tmp_path):
    done = demo(tmp_path, "--size", 24, "--a", 0.05, "--relax", 20, "--every", 25)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("figure-7.png", "energies.png", "spectra.png"):
        with Image.open(tmp_path / name) as picture:
            assert len(np.unique(np.asarray(picture.convert("L")))) > 20, name
    assert len(list((tmp_path / "frames").glob("*.png"))) == 17 and (tmp_path / "film.mp4").stat().st_size > 10_000
    with (tmp_path / "divergence.csv").open() as file:
        assert {row["cycle"] for row in csv.DictReader(file)} == {"0", "100", "200", "300", "400"}


def test_the_named_example(tmp_path):
    options = ["--size", 16, "--a", 0.1, "--steps", 50, "--every", 25, "--sidestream", EXAMPLE / "qiso.yaml", "--quiet"]
    succeed(2, *options, program=COUPLED, cwd=tmp_path)
    names = {file.name for file in (tmp_path / "results").glob("*.png")}
    assert names == {"cores-00000.png", "cores-00025.png", "cores-00050.png"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    few([(["--program", "/no/such"], "does not exist"), (["--ranks", 0], "expected at least 1")]),
)
def test_mistakes_in_calling_the_demo(tmp_path, arguments, words):
    done = demo(tmp_path, *arguments)
    assert done.returncode != 0 and words in done.stderr and "Traceback" not in done.stderr
