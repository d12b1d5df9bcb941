"""The Fortran module for RAMSES publishes, from arrays with RAMSES' layout, what `sidestream import` reads from the
code's files."""

import os
import subprocess

import numpy as np
import pytest
import ramses_files
import sidestream
from ramses_files import Sample

PROGRAM = os.environ.get("SIDESTREAM_FORTRAN_RAMSES")
TOOL = os.environ["SIDESTREAM_TOOL"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Fortran module")

CONFIGURATION = """\
placement: {PLACEMENT}
output: {directory: DIRECTORY}
analyses:
  - statistics: {variable: density, by: size}
outputs:
  - metadata: {}
  - database: {directory: data, kind: post, codec: auto, fsync: false}
"""


class Other(Sample):
    """Another tree in the same domains: refined near the other corner."""

    def refine(self, level, index):
        return level < 2 or (level < 4 and sum(i / 2**level for i in index[: self.dimensions]) > 0.6)


def run(ranks, *arguments):
    command = [MPIRUN, "-n", str(ranks), PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr


def publish(folder, samples, placement, more):
    """Publishes an iteration of each sample; returns the outputs and the results."""
    outputs = [ramses_files.write_output(sample, folder, n + 1) for n, sample in enumerate(samples)]
    text = CONFIGURATION.replace("{PLACEMENT}", placement).replace("DIRECTORY", str(folder / "results"))
    (folder / "run.yaml").write_text(text)
    run(samples[0].domains + more, folder / "run.yaml", *outputs)
    return outputs, folder / "results"


def there_and_back(values, gamma):
    """The pressure of a gas without fields after the way to energy and back, in the stand-in's order of operations."""
    density = values["density"]
    momenta = [density * v for v in values["velocity"].T] if "velocity" in values else [density * values["velocity_x"]]
    energy = values["pressure"] / (gamma - 1)
    for m in momenta:
        energy = energy + 0.5 * (m**2 / density)
    for m in momenta:
        energy = energy - 0.5 * m**2 / density
    return (gamma - 1) * energy


def compare_cells(ours, theirs, sample):
    """All cells of all levels, parents included."""
    assert len(ours) == len(theirs)
    assert set(ours.variables) == {*theirs.variables, "twice"}
    axes = slice(sample.dimensions)
    np.testing.assert_array_equal(ours.mesh.spacing[axes], theirs.mesh.spacing[axes])
    for n in range(len(ours)):
        for name in ("index", "refined", "owner"):
            np.testing.assert_array_equal(getattr(ours.cells[n], name), getattr(theirs.cells[n], name), name)
        values = {name: theirs[n][name] for name in theirs.variables}
        for name, expected in values.items():
            found = ours[n][name]
            assert found.dtype == expected.dtype
            if name != "pressure":
                np.testing.assert_array_equal(found, expected, name)
            elif n == 0 or "mhd" in sample.kinds:  # means of children; more roundings
                np.testing.assert_allclose(found, expected, rtol=1e-6)
            else:
                np.testing.assert_array_equal(found, there_and_back(values, 1.4))
        np.testing.assert_array_equal(ours[n]["twice"], 2 * values["density"])


def compare_particles(ours, theirs):
    names = {name for name in theirs if name.startswith("particle_")}
    assert len(names) > 5 and names == {name for name in ours if name.startswith("particle_")}
    for name in names:
        np.testing.assert_array_equal(ours[name][...], theirs[name][...], name)


EVERYTHING = {"kinds": ("hydro", "grav", "part")}
MAGNETIC = Sample(kinds=("hydro", "mhd"), coarse=2, domains=5)


@pytest.mark.keep(2)
@pytest.mark.parametrize(
    ("samples", "placement", "more"),
    [
        ([Sample(levels=4, **EVERYTHING), Other(levels=4, **EVERYTHING)], "inline", 0),
        ([Sample(dimensions=2, boundaries=2, domains=2), Other(dimensions=2, boundaries=2, domains=2)], "inline", 0),
        ([Sample(dimensions=2, **EVERYTHING)], "{mode: nodes, servers: 2, buffer: 64 MiB}", 2),
        ([Sample(dimensions=1, domains=1, boundaries=2)], "inline", 0),
        ([MAGNETIC, MAGNETIC], "{mode: cores, buffer: 64 MiB}", 1),
        ([Sample(dimensions=1, domains=5), Other(dimensions=1, domains=5)], "{mode: cores, buffer: 8 MiB}", 1),
    ],
    ids=["3-D", "boundaries", "2-D", "one", "magnetic", "1-D"],
)
def test_as_imported(tmp_path, samples, placement, more):
    outputs, results = publish(tmp_path, samples, placement, more)
    for n, (sample, output) in enumerate(zip(samples, outputs, strict=True)):
        command = [TOOL, "import", "ramses", str(output), str(tmp_path / f"{n}"), "--no-fsync"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        places = ((results / "data", n), (tmp_path / f"{n}", n + 1))
        compare_cells(*(sidestream.open(p, iteration=i, into="levels", mesh="tree") for p, i in places),
                      sample)  # fmt: skip
        if "part" in sample.kinds:
            compare_particles(*(sidestream.open(p, iteration=i, into="numpy") for p, i in places))
    declared = (results / "metadata-000000.yaml").read_text()
    assert 'unit: "2E+00 g cm-3"' in declared and 'unit: "7.2E-01 erg cm-3"' in declared


@pytest.mark.keep(1)
@pytest.mark.parametrize(("dimensions", "domains"), [(2, 3), (1, 5), (3, 1)])
def test_start_on_other_ranks(tmp_path, dimensions, domains):
    """The same tree, in the domains of other ranks: cells are refined, and have the values, as published."""
    _, results = publish(tmp_path, [Sample(dimensions=dimensions, domains=2, levels=5)], "inline", 0)
    other = ramses_files.write_output(Sample(dimensions=dimensions, domains=domains, levels=5), tmp_path / "other")
    run(domains, "start", results / "data", other)
