"""A simulation whose XML file selects our engine for ADIOS2, and a program with Sidestream's own calls, have the same
fields: all results are the same bytes. Odd and wrong puts get a sentence, and the run goes on."""

import csv
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few

MPIRUN = [os.environ["SIDESTREAM_MPIEXEC"], *os.environ.get("MPIEXEC_FLAGS", "").split()]
HOST, DIRECT = os.environ["SIDESTREAM_ADIOS2_HOST"], os.environ["SIDESTREAM_CATALYST_DIRECT"]
ENGINE, TOOL = os.environ["SIDESTREAM_ADIOS2_ENGINE"], os.environ["SIDESTREAM_TOOL"]

XML = """<?xml version="1.0"?>
<adios-config>
  <io name="scene"><engine type="Plugin">
    <parameter key="PluginName" value="Sidestream"/>
    <parameter key="PluginLibrary" value="{engine}"/>
    {parameters}
  </engine></io>
  <io name="other"><engine type="BP5"/></io>
</adios-config>
"""
MAPPING = """
meshes:
  grid: {origin: [0.5, -1, 2], spacing: [0.25, 0.5, 0.125]}
arrays:
  in_cells: {mesh: grid, unit: K}
  pair:     {mesh: grid, components: last}
"""
TASKS = """
output: {directory: results}
analyses:
  - statistics: {variable: in_cells, file: cells.csv}
  - histogram:  {variable: pair.y, bins: 7, range: [-4, 8], file: pair.csv}
"""
SURFACE = """  - isosurface: {variable: in_cells, values: [0.25], file: "surface-{index}.vtp"}
"""
FIELDS = 'outputs:\n  - hdf5: {variables: [in_cells, pair], file: "fields-{index}.h5"}\n'
ALL = 'output: {directory: results}\noutputs:\n  - hdf5: {file: "fields-{index}.h5"}\n'


def configuration(dimensions=3, placement="{mode: inline}"):
    return f"placement: {placement}\n" + TASKS + (SURFACE if dimensions > 1 else "") + FIELDS


def start(folder, ranks, *arguments, text=None, mapping=MAPPING, status=0, **parameters):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.yaml").write_text(configuration() if text is None else text)
    (folder / "arrays.yaml").write_text(mapping)
    of_engine = {"Configuration": "run.yaml", "Arrays": "arrays.yaml", **parameters}
    lines = [f'<parameter key="{key}" value="{value}"/>' for key, value in of_engine.items()]
    (folder / "adios2.xml").write_text(XML.format(engine=ENGINE, parameters="\n    ".join(lines)))
    command = [*MPIRUN, "-n", str(ranks), HOST, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    assert done.stdout.count("program ends") == (ranks if status == 0 else 0)
    return done


def direct(folder, ranks, dimensions=3, text=None, steps=3):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.yaml").write_text(configuration(dimensions) if text is None else text)
    mesh = "uniform" if dimensions == 3 else f"uniform-{dimensions}"
    command = [*MPIRUN, "-n", str(ranks), DIRECT, "--mesh", mesh, "--cycles", "1", "--configuration", "run.yaml"]
    subprocess.run([*command, "--steps", str(steps)], cwd=folder, timeout=100, check=True)


def results(folder):
    """Files of a run that do not tell who made them, with their bytes."""
    found = {}
    for file in sorted((folder / "results").rglob("*")):
        if file.suffix in (".csv", ".vtp", ".h5") and file.name not in ("iterations.csv", "timings.csv"):
            found[str(file.relative_to(folder))] = file.read_bytes()
    return found


def outcomes(folder):
    with (folder / "results" / "iterations.csv").open() as file:
        return [row["outcome"] for row in csv.DictReader(file)]


def variable(folder, name, index):
    with h5py.File(folder / "results" / f"fields-{index}.h5") as file:
        return file["variables"][name][...].squeeze()


def same_results(folder, ranks, way="sync", dimensions=3):
    done = start(
        folder / "adios2", ranks, "--way", way, "--dimensions", str(dimensions), text=configuration(dimensions)
    )
    direct(folder / "direct", ranks, dimensions)
    ours, theirs = results(folder / "adios2"), results(folder / "direct")
    assert len(ours) >= 5 and sorted(ours) == sorted(theirs)
    for name, content in ours.items():
        assert content == theirs[name], name
    assert done.stderr == ""


CASES = [(way, ranks) for way in ("sync", "deferred", "perform", "span", "framed") for ranks in (1, 2, 3, 8)]


@pytest.mark.parametrize(("way", "ranks"), few(CASES, kept=[("span", 3)]))
def test_same_bytes(tmp_path, way, ranks):
    same_results(tmp_path, ranks, way)


@pytest.mark.parametrize("dimensions", few([1, 2], kept=[]))
def test_same_bytes_of_flat_arrays(tmp_path, dimensions):
    same_results(tmp_path, 2, dimensions=dimensions)


@pytest.mark.test_all
@pytest.mark.parametrize("way", ["sync", "deferred", "span"])
def test_tasks_that_are_rarely_due(tmp_path, way):
    """Puts between two of them are not copied."""
    text = configuration().replace("variable: in_cells,", "variable: in_cells, every: 5,")
    text = text.replace("bins: 7,", "bins: 7, every: 4 cycles,").replace(
        "[in_cells, pair],", "[in_cells, pair], every: 6,"
    )
    start(tmp_path / "adios2", 2, "--way", way, "--steps", "14", text=text)
    direct(tmp_path / "direct", 2, text=text, steps=14)
    ours, theirs = results(tmp_path / "adios2"), results(tmp_path / "direct")
    assert len(ours) >= 5 and ours == theirs


@pytest.mark.test_all
def test_more_ranks_than_cells(tmp_path):
    same_results(tmp_path, 13)


# Each: what is put besides the fields, and a part of the sentence; empty: nothing is said.
ODD = {
    "text": "variable 'words': left out",
    "complex": "variable 'psi': found the type double complex",
    "long-double": "variable 'wide': found the type long double",
    "value": "variable 'count': left out",
    "local-value": "variable 'rank': left out",
    "four-axes": "array 'four': found 4 axes",
    "overlap": "array 'shared': the parts of rank 0 and rank 1 overlap",
    "touch": "array 'touching': the parts of rank 0 and rank 1 overlap",
    "other-type": "array 'kind': rank 1 has another type or shape",
    "other-shape": "array 'size': rank 1 has another type or shape",
    "late": "array 'late': left out, since the first step",
    "growing": "array 'growing': left out, since its type or shape",
    "memory": "variable 'frame': the selection in memory does not hold the part",
    "openpmd-negative": "mesh 'fields': found an origin or spacing",
    "openpmd-nan": "mesh 'fields': found an origin or spacing",
    **dict.fromkeys(["missing", "empty", "twice", "again", "characters", "digits", "same-name", "named-as-mesh",
                     "local", "local-two", "joined", "moving", "splitting", "one-rank", "int-spacing", "openpmd"], ""),
}  # fmt: skip


@pytest.mark.parametrize("odd", few(list(ODD), kept=["overlap"]))
def test_odd_puts(tmp_path, odd):
    """The sentence names the variable, and the fields are as without it."""
    done = start(tmp_path / "odd", 2, "--odd", odd)
    if ODD[odd]:
        assert ODD[odd] in done.stderr, done.stderr
    else:
        assert done.stderr == ""
    assert outcomes(tmp_path / "odd") == ["delivered"] * 3
    direct(tmp_path / "direct", 2)
    assert results(tmp_path / "odd") == results(tmp_path / "direct")


def test_parts_that_change(tmp_path):
    start(tmp_path, 3, "--odd", "moving", text=ALL)
    for index in range(3):
        np.testing.assert_array_equal(variable(tmp_path, "moving", index), np.repeat([[0.0], [1], [2]], 4, axis=1))


@pytest.mark.parametrize("odd", few(["twice", "again"], kept=["again"]))
def test_values_that_are_put_again(tmp_path, odd):
    """The values that are read last count, also those of a part of what was put before."""
    done = start(tmp_path, 2, "--odd", odd, text=ALL)
    assert done.stderr == ""
    last = {"twice": [2.0, 2, 2, 2], "again": [4.0, 5, 5, 1]}[odd]
    for index in range(3):
        np.testing.assert_array_equal(variable(tmp_path, "again", index), [last, last])


@pytest.mark.test_all
def test_lists(tmp_path):
    """Values of local and joined arrays stand in the order of their puts, and then of the ranks."""
    start(tmp_path / "local", 2, "--odd", "local", text=ALL)
    for index in range(3):
        np.testing.assert_array_equal(variable(tmp_path / "local", "list", index), np.full(2 * index + 3, index))
    start(tmp_path / "two", 2, "--odd", "local-two", text=ALL)
    np.testing.assert_array_equal(variable(tmp_path / "two", "list", 2), [1.0] * 12 + [2.0] * 6)
    start(tmp_path / "joined", 2, "--odd", "joined", text=ALL)
    np.testing.assert_array_equal(variable(tmp_path / "joined", "joined", 1), np.ones(6))


def test_openpmd(tmp_path):
    """Values lie where the attributes say, with all digits; the number of the iteration is no part of names."""
    start(tmp_path, 2, "--odd", "openpmd", text=ALL)
    assert outcomes(tmp_path) == ["delivered"] * 3
    for index in (0, 2):
        # Shape and labels are (ranks, x) by (4, y), so that x is the slowest axis of the array.
        assert variable(tmp_path, "E_x", index).tolist() == [[0.5, 1.5]] * 4
        assert variable(tmp_path, "e_momentum_x", index).tolist() == [1, 2, 2]
    with h5py.File(tmp_path / "results" / "fields-1.h5") as file:
        meshes = file["meshes"]
        assert list(meshes["fields"].attrs["spacing"][:2]) == [0.25, 0.1]
        assert list(meshes["fields"].attrs["origin"][:2]) == [1 / 3, -2]
        assert list(meshes["fields_x0"].attrs["origin"][:2]) == [1 / 3 - 0.125, -2]
        places = file["variables/e_coordinates"][...]
        assert places.tolist() == [[1, 1], [2, 2], [2, 2]]


TIMES = {
    "openpmd-time": [0.1 * 1e-15, 0.2 * 1e-15, 0.1 * 3 * 1e-15],
    "openpmd-time-changes": [0.1 * 2, 0.2 * 2, 0.1 * 3 * 2],
    "openpmd-time-float": [float(np.float32(0.1 * (n + 1))) for n in range(3)],
    "openpmd-time-nan": [0, 1, 2],
}


@pytest.mark.parametrize("odd", few(list(TIMES), kept=["openpmd-time", "openpmd-time-changes"]))
@pytest.mark.parametrize("ranks", few([1, 2, 3], kept=[3]))
def test_time_of_openpmd(tmp_path, odd, ranks):
    """`time` times `timeUnitSI`, on ranks without arrays of openPMD, too."""
    done = start(tmp_path, ranks, "--odd", odd, text=ALL)
    assert done.stderr == "" and outcomes(tmp_path) == ["delivered"] * 3
    with (tmp_path / "results" / "iterations.csv").open() as file:
        assert [float(row["time"]) for row in csv.DictReader(file)] == pytest.approx(TIMES[odd], rel=1e-12, abs=0)
    for index, time_of_step in enumerate(TIMES[odd]):
        with h5py.File(tmp_path / "results" / f"fields-{index}.h5") as file:
            assert file.attrs["time"] == time_of_step
            assert file["variables/rho"][...].ravel().tolist() == [index] * 4


@pytest.mark.parametrize("schema", few(["fides", "vtk"], kept=["vtk"]))
def test_images(tmp_path, schema):
    """Attributes for Fides and VTK give the geometry; values at points lie in the middle of cells."""
    start(tmp_path, 2, "--odd", schema, text=ALL)
    spacing = [1 / 3, 0.5] if schema == "fides" else [0.5, 0.25]
    with h5py.File(tmp_path / "results" / "fields-1.h5") as file:
        for mesh, shift in (("image", 0), ("image_points", 0.5)):
            found = file["meshes"][mesh].attrs
            assert list(found["spacing"][:2]) == spacing
            assert list(found["origin"][:2]) == [1 - shift * spacing[0], 2 - shift * spacing[1]]
        assert file["variables/U"][...].min() == 1 and file["variables/V"][...].max() == 2
    with (tmp_path / "results" / "iterations.csv").open() as file:
        times = [float(row["time"]) for row in csv.DictReader(file)]
    assert times == ([0, 0.5, 1] if schema == "fides" else [0, 0.25, 0.5])


@pytest.mark.test_all
def test_ranks_that_are_waited_for(tmp_path):
    done = start(tmp_path, 2, "--odd", "late-rank")
    assert "rank 0 has waited 10 s" in done.stderr and "parameter Ranks" in done.stderr


@pytest.mark.test_all
def test_rules_of_the_file_come_before_attributes(tmp_path):
    rules = """
meshes:
  cloud: {type: points, coordinates: [/data/particles/e/momentum/x]}
arrays:
  "/data/particles/e/position/?": {mesh: cloud, variable: place}
  "/data/particles/*": {mesh: cloud}
  "/data/fields/E/*": {leave_out: true}
  pair: {components: last}
"""
    done = start(tmp_path, 2, "--odd", "openpmd", text=ALL, mapping=rules)
    assert done.stderr.count("sidestream:") == 1 and "it is 'place_2' in the configuration" in done.stderr
    with h5py.File(tmp_path / "results" / "fields-1.h5") as file:
        names = sorted(file["variables"])
        assert names == ["cloud_coordinates", "in_cells", "pair", "place", "place_2"]
        assert file["variables/cloud_coordinates"][...].ravel().tolist() == [1, 2, 2]


@pytest.mark.test_all
@pytest.mark.parametrize("way", ["no-steps", "leave"])
def test_ways_to_end(tmp_path, way):
    start(tmp_path, 2, "--way", way)
    assert outcomes(tmp_path) == ["delivered"] * (1 if way == "no-steps" else 3)


@pytest.mark.test_all
def test_engines_one_after_the_other(tmp_path):
    """The second run of one IO continues in the folder of the first; another IO still writes BP5."""
    start(tmp_path, 2, "--way", "two")
    assert (tmp_path / "other.bp" / "md.idx").exists()
    assert len(outcomes(tmp_path)) >= 3


def test_reading_is_refused(tmp_path):
    done = start(tmp_path, 2, "--way", "read")
    assert "opened the engine for reading" in done.stderr


@pytest.mark.test_all
def test_nothing_to_publish(tmp_path):
    done = start(tmp_path, 2, "--odd", "nothing")
    rules = ("in_cells", "pair")
    assert all(f"arrays.yaml: the rule for '{name}' fits nothing that the program" in done.stderr for name in rules)
    assert done.stderr.count("sidestream:") == 2 and not (tmp_path / "results").exists()


# Each: parameters, rules, configuration, and a part of the sentence.
WRONG = {
    "no file": ({"Configuration": "none.yaml"}, MAPPING, None, "none.yaml"),
    "misspelt": ({}, MAPPING, configuration().replace("in_cells", "in_clels"), "did you mean 'in_cells'"),
    "servers": ({}, MAPPING, configuration(placement="{mode: nodes, servers: 1, buffer: 32 MiB}"), "makes servers of"),
    "no rules": ({"Arrays": "none.yaml"}, MAPPING, None, "'none.yaml' with rules for arrays cannot be opened"),
    "key": ({}, "arrays:\n  T: {mehs: grid}\n", None, "arrays.yaml, line 2: found 'mehs', expected one of mesh,"),
    "spacing": (
        {},
        "meshes:\n  grid: {spacing: [1, -2]}\n",
        None,
        "line 2: expected one to three positive",
    ),
    "word": ({}, "meshes:\n  grid: {origin: [1, left]}\n", None, "found 'left', expected a number"),
    "yaml": ({}, "meshes: {\n", None, "arrays.yaml, line"),
    "list": ({}, "- arrays\n", None, "found no map"),
    "ranks": ({"Ranks": "some"}, MAPPING, None, "parameter Ranks: found 'some'"),
    "range": ({"Ranks": "0-7"}, MAPPING, None, "found the ranks 0 to 7"),
    "order": ({"Order": "fortran"}, MAPPING, None, "parameter Order: found 'fortran'"),
}


@pytest.mark.parametrize("name", few(list(WRONG), kept=["no file", "key"]))
def test_wrong_settings_are_said_and_the_program_goes_on(tmp_path, name):
    parameters, mapping, text, sentence = WRONG[name]
    done = start(tmp_path, 2, text=text, mapping=mapping, **parameters)
    assert sentence in done.stderr, done.stderr
    assert done.stderr.count(sentence) <= 2


@pytest.mark.test_all
def test_parameters(tmp_path):
    done = start(tmp_path / "unknown", 2, NumAggregators="2")
    assert "parameter 'NumAggregators' of the engine is not used" in done.stderr
    start(tmp_path / "time", 1, Time="other")
    with (tmp_path / "time" / "results" / "cells.csv").open() as file:
        assert [row["time"] for row in csv.DictReader(file)] == ["0", "1", "2"]
    start(tmp_path / "self", 2, Ranks="0-1")
    assert outcomes(tmp_path / "self") == ["delivered"] * 3


def kill_at_first_result(servers, file):
    """Kills the server process itself: mpirun would tell it first."""
    for _ in range(600):
        if file.exists() or servers.poll() is not None:
            break
        time.sleep(0.1)
    for process in Path(f"/proc/{servers.pid}/task/{servers.pid}/children").read_text().split():
        os.kill(int(process), signal.SIGKILL)


@pytest.mark.test_all
def test_axes_of_fortran(tmp_path):
    start(tmp_path / "adios2", 2, "--way", "column", Order="column")
    direct(tmp_path / "direct", 2)
    assert results(tmp_path / "adios2") == results(tmp_path / "direct")


@pytest.mark.test_all
def test_sidecar(tmp_path):
    text = configuration(placement="{mode: sidecar, buffer: 32 MiB, session: adios2-test, attach_limit: 2}")
    (tmp_path / "run.yaml").write_text(text)
    servers = subprocess.Popen([*MPIRUN, "-n", "1", TOOL, "serve", "run.yaml"], cwd=tmp_path, stderr=subprocess.PIPE)
    try:
        start(tmp_path, 2, "--way", "span", text=text)
        servers.communicate(timeout=60)
        assert servers.returncode == 0
    finally:
        servers.kill()
    direct(tmp_path / "direct", 2)
    assert results(tmp_path)["results/cells.csv"] == results(tmp_path / "direct")["results/cells.csv"]
    start(tmp_path / "alone", 2, "--way", "span", text=text)  # no servers at all


@pytest.mark.test_all
def test_servers_that_die(tmp_path):
    text = configuration(placement="{mode: sidecar, buffer: 32 MiB, session: adios2-death}")
    (tmp_path / "run.yaml").write_text(text)
    servers = subprocess.Popen([*MPIRUN, "-n", "1", TOOL, "serve", "run.yaml"], cwd=tmp_path, stderr=subprocess.PIPE)
    killer = threading.Thread(target=kill_at_first_result, args=(servers, tmp_path / "results" / "cells.csv"))
    killer.start()
    try:
        start(tmp_path, 2, "--way", "span", "--steps", "3000", text=text)  # asserts that the program ends as usual
        assert servers.wait(timeout=60) != 0  # they died before the program ended
    finally:
        servers.kill()
        killer.join()
