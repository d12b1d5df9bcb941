"""The reader, compared with data of holes.py that NumPy joins, with and without xarray and Dask."""

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import sidestream
from sidestream.reader import into_xarray, lazy
from sidestream.reader import opening as reader

PROGRAM = Path(__file__).with_name("holes.py")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
NAN = np.float32(np.nan)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    results = tmp_path_factory.mktemp("holes") / "results"
    command = [MPIRUN, "-n", "3", sys.executable, str(PROGRAM), str(results)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


@pytest.fixture(params=["xarray with Dask", "xarray", "numpy"])
def opened(request, monkeypatch):
    """Opens data with the packages of that name. values(found, name) is the same with each."""
    missing = {"xarray with Dask": (), "xarray": ("dask",), "numpy": ("dask", "xarray")}[request.param]
    for module in (reader, into_xarray):
        monkeypatch.setattr(module, "find_spec", lambda name: None if name in missing else name)
    return sidestream.open


def density(step):
    whole = np.repeat(np.float32([10 * step, 10 * step + 1, 10 * step + 2]), 2)[:, None, None] * np.ones((2, 3), "f4")
    if step == 1:
        whole[2:4] = NAN
    return whole


def test_fields_over_time(opened, directory):
    found = opened(directory)["fields/all.h5"]
    expected = np.stack([density(0), density(1)])
    assert found["density"].dims == ("time", "stretched_z", "stretched_y", "stretched_x")
    assert found["density"].attrs["units"] == "kg/m3" and found["density"].attrs["long_name"] == "density of the gas"
    np.testing.assert_array_equal(np.asarray(found["density"]), expected)
    late = np.stack([np.full((6, 3), np.nan), np.arange(18.0).reshape(6, 3)])
    np.testing.assert_array_equal(np.asarray(found["late"]), late)
    line = np.arange(18.0).reshape(9, 2)
    assert found["line"].dims == ("time", "line_x", "component_2")
    np.testing.assert_array_equal(np.asarray(found["line"]), np.stack([line, line + 100]))
    # Nodes that two blocks share have the values of the lower block.
    state = np.repeat(np.int16([0, 1, 2]), [3, 2, 2])
    np.testing.assert_array_equal(np.asarray(found["state"])[1, :, 2, 3], state)
    assert found["state"].dims[1:] == ("stretched_z_node", "stretched_y_node", "stretched_x_node")


@pytest.mark.parametrize(
    "key", [(0,), (..., 1), (slice(None), slice(4, 1, -2)), (1, slice(1, 5), 0, slice(0, 0)), (-1, -6, 1, 2)]
)
def test_a_part_is_what_numpy_makes_of_the_whole(opened, directory, key):
    found = opened(directory)["all"]["density"]
    expected = np.stack([density(0), density(1)])[key]
    np.testing.assert_array_equal(np.asarray(found[key]), expected)


def test_coordinates(directory):
    found = sidestream.open(directory)["all"]
    np.testing.assert_array_equal(found["stretched_z_node"], [0, 1, 2, 4, 8, 16, 32])
    np.testing.assert_array_equal(found["stretched_x"], [0.5, 2, 3.5])
    np.testing.assert_array_equal(found["flat_y"], [1, 3, 5, 7, 9, 11])
    np.testing.assert_array_equal(found["time"], [0, 0.5])
    np.testing.assert_array_equal(found["cycle"], [0, 5])
    assert float(found["density"].sel(time=0, stretched_z=12, stretched_y=1.5, stretched_x=2)) == 2


def test_one_file(opened, directory):
    path = directory / "fields/05/all.h5"
    found = opened(path)
    np.testing.assert_array_equal(np.asarray(found["density"]), density(1))
    assert found["density"].attrs["missing"] == 12
    assert np.asarray(found["density"])[4, 1, 2] == found["density"][4, 1, 2] == 12
    if isinstance(found, sidestream.Fields):
        assert (found.attrs["time"], found.attrs["cycle"]) == (0.5, 5)
    else:
        assert (found["time"], found["cycle"], found["iteration"]) == (0.5, 5, 1)


def test_lists_whose_lengths_change(opened, directory):
    over_time = opened(directory)["particles.h5"]
    assert "masses" not in over_time and sorted(over_time.attrs["changing"]) == ["masses", "places"]
    one = opened(directory / "particles-05.h5")
    np.testing.assert_array_equal(np.asarray(one["masses"]), [0, 10, 11, 20, 21, 22])
    coords = one.coords["point_block" if "point_block" in one.coords else "cell_block"]
    blocks = coords[1] if isinstance(one, sidestream.Fields) else coords
    np.testing.assert_array_equal(blocks, [0, 1, 1, 2, 2, 2])


def test_nothing_is_read_before_it_is_asked_for(directory, monkeypatch):
    read = []
    monkeypatch.setattr(lazy.FileArray, "_read", lambda self, index: read.append(index) or np.zeros(1))
    found = sidestream.open(directory)["all"]
    assert not read
    assert found["density"].chunks == ((1, 1), (2, 2, 2), (2,), (3,))
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(lazy.FileArray((), (), np.dtype(float), {}, (), directory, ""), copy=False)


def test_tables(directory):
    found = sidestream.open(directory)
    each, pieces = found["each.csv"], found["pieces"]
    assert each.dtype.names[:4] == ("iteration", "cycle", "time", "bin")
    assert list(each["cycle"]) == [0, 0, 0, 5, 5, 5]
    assert list(each["count"][:3]) == [12, 12, 12]
    np.testing.assert_array_equal(each, pieces)
    iterations = sidestream.open(directory / "iterations.csv")
    assert list(iterations["outcome"]) == ["delivered"] * 2
    assert iterations["cycle"].dtype == np.int64 and iterations["time"].dtype == np.float64


def test_columns_of_one_name(tmp_path):
    (tmp_path / "shared.csv").write_text("iteration,cycle,time,time,mean\n0,5,0.5,0.25,1\n", encoding="utf-8")
    shared = sidestream.open(tmp_path / "shared.csv")
    assert shared.dtype.names == ("iteration", "cycle", "time", "time_2", "mean")
    assert shared["time"][0] == 0.5 and shared["time_2"][0] == 0.25
    (tmp_path / "own-0.csv").write_text("time,mean\n0.25,1\n", encoding="utf-8")
    line = '{"name": "own-0.csv", "time": 0.5, "cycle": 5, "iteration": 0}'
    (tmp_path / "own.csv.series").write_text(f'{{"files": [{line}]}}', encoding="utf-8")
    own = sidestream.open(tmp_path)["own.csv"]
    assert own.dtype.names == ("iteration", "cycle", "time", "time_2", "mean") and own["time_2"][0] == 0.25


def test_an_index_of_a_run_that_goes_on(tmp_path):
    line = '{{"name": "t-{0}.csv", "time": {0}.5, "cycle": {0}, "iteration": {0}}}'
    for n in range(3):
        (tmp_path / f"t-{n}.csv").write_text(f"mean,what\n{n}.25,x\n")
    (tmp_path / "t.csv.series").write_text('{"files": [' + line.format(0) + "]}")
    (tmp_path / ".t.csv.series.rest").write_text("\n".join(line.format(n) for n in (0, 1)) + "\n" + line.format(2)[:9])
    found = sidestream.open(tmp_path)["t"]
    assert found.dtype.names == ("iteration", "cycle", "time", "mean", "what")
    assert found.tolist() == [(0, 0, 0.5, 0.25, "x"), (1, 1, 1.5, 1.25, "x")]


def test_a_directory_lists_what_can_be_read(directory):
    found = sidestream.open(directory)
    records = ["iterations.csv", "run.yaml", "timings.csv"]
    results = ["each.csv", "fields/all.h5", "particles.h5", "pieces.csv", "surface.vtp"]
    assert sorted(found) == sorted([*results, *records])
    with pytest.raises(KeyError, match=r"'nothing' in .*; there are: each.csv, fields/all.h5"):
        found["nothing"]


GONE = """
import sys
import numpy as np
import sidestream
from mpi4py import MPI

with sidestream.open_session(MPI.COMM_SELF, text=sys.argv[1]) as session:
    for cycle, count in enumerate((0, 3, 0)):
        session.set_block_list("stars", 0, count, count)
        session.publish("place", 0, np.full((count, 3), 0.5))
        session.publish("mass", 0, np.arange(1.0, count + 1))
        session.end_iteration(cycle, cycle)
"""
STARS = """\
output: {directory: DIRECTORY}
meshes: {stars: {type: points, coordinates: place}}
variables: {place: {mesh: stars, components: 3}, mass: {mesh: stars, centering: node}}
analyses: [statistics: {variable: mass}]
outputs: [hdf5: {variables: [place, mass]}]
"""


def test_iterations_without_any_particle(tmp_path):
    """Analyses find nothing in empty arrays. Files of such arrays can be opened and analysed."""
    command = [sys.executable, "-c", GONE, STARS.replace("DIRECTORY", str(tmp_path / "results"))]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    counts = sidestream.open(tmp_path / "results/statistics.csv")["count"]
    np.testing.assert_array_equal(counts, [0, 3, 0])
    none = sidestream.open(tmp_path / "results/fields-000000.h5", into="numpy")
    assert {name: len(none[name]) for name in none} == {"mass": 0, "place": 0}
    found = sidestream.open(tmp_path / "results/fields.h5.series", into="numpy")
    np.testing.assert_array_equal(found["mass"][1], [1, 2, 3])
    (tmp_path / "later.yaml").write_text(
        f"output: {{directory: {tmp_path}/later}}\nanalyses: [statistics: {{variable: mass}}]\n"
    )
    analyse = [os.environ["SIDESTREAM_TOOL"], "analyse", f"{tmp_path}/results/fields-*.h5"]
    subprocess.run([*analyse, "--config", str(tmp_path / "later.yaml")], check=True, capture_output=True, timeout=60)
    later = sidestream.open(tmp_path / "later/statistics.csv")
    np.testing.assert_array_equal(later["sum"], [6])


def test_what_cannot_be_read_is_said(directory, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "short.csv").write_text("a,b\n1\n")
    (tmp_path / "no.h5").write_text("no")
    (tmp_path / "no.h5.series").write_text("[]")
    mixed = tmp_path / "mixed.series"
    listed = [{"name": name, "time": 0, "cycle": 0, "iteration": 0} for name in ("a.h5", "b.csv")]
    mixed.write_text(json.dumps({"files": listed}))
    server = next((directory / "fields/05").glob("all-*.h5"))
    alone = tmp_path / "all.h5"
    alone.write_bytes((directory / "fields/05/all.h5").read_bytes())
    for path, says in [
        (tmp_path / "nothing", "there is no such file or directory"),
        (tmp_path / "empty.csv", "the file is empty"),
        (tmp_path / "short.csv", "row 1 has 1 entries, expected 2"),
        (tmp_path / "no.h5", "this is no HDF5 file"),
        (tmp_path / "no.h5.series", "this is no index over time"),
        (directory / "surface.pvd", "files that end in '.pvd' are not read here, but .csv"),
        (mixed, "files that end in .csv, .h5, which are not read together"),
        (server, "the blocks of one server; open the one that shows all"),
        (alone, "with blocks is missing beside it; move them together"),
    ]:
        with pytest.raises(sidestream.Error, match=says) as raised:
            sidestream.open(path)
        assert raised.value.code is sidestream.Code.FILE


def test_xarray_that_is_not_there(directory, monkeypatch):
    monkeypatch.setattr(reader, "find_spec", lambda name: None)
    with pytest.raises(sidestream.Error, match="xarray is not installed"):
        sidestream.open(directory / "particles-05.h5", into="xarray")


def test_variables_without_a_value_are_there(tmp_path):
    """All particles are gone for a while, and the coarsest level is missing."""
    from mpi4py import MPI

    text = f"""\
placement: inline
output: {{directory: {tmp_path}}}
meshes: {{swarm: {{type: points, dimensions: 2, coordinates: pos}}, box: {{size: [8, 4], refinement: [2]}}}}
variables: {{pos: {{mesh: swarm, components: 2}}, w: {{mesh: swarm, type: int32}}, f: {{mesh: box}}, g: {{mesh: box}}}}
outputs: [hdf5: {{file: "all-{{cycle}}.h5"}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block("box", 7, [4, 0], [8, 4], level=1)
        for step, count in enumerate((3, 0, 2)):
            session.set_block_list("swarm", 0, count, count)
            session.publish("pos", 0, np.full((count, 2), float(step)))
            session.publish("w", 0, np.full(count, step, np.int32))
            session.publish("f", 7, np.ones((4, 4)))
            session.end_iteration(step, step)
    with h5py.File(tmp_path / "all-1.h5") as file:
        assert file["variables/pos"].shape == (0, 2) and file["variables/w"].shape == (0,)
        assert file["variables/w"].dtype == np.int32 and list(file["variables/w"].attrs["blocks"]) in ([], [0])
        assert file["variables/f"].shape == (4, 8) and np.isnan(file["variables/f"][...]).all()
        assert file["variables/f"].attrs["missing"] == 32
        assert "g" not in file["variables"]  # it was not published
    alone = sidestream.open(tmp_path / "all-1.h5")
    assert alone["pos"].shape == (0, 2) and alone["w"].shape == (0,)
    found = sidestream.open(tmp_path / "all.h5.series")
    assert found["f"].shape == (3, 4, 8) and set(found.attrs["changing"]) == {"pos", "w"}


NAMES = ("x", "y", "time", "cycle", "iteration", "x_axis", "f")


def test_variables_may_be_called_like_axes(tmp_path, opened):
    """Variables keep their names, over time and in one file. Axes are renamed if names collide."""
    from mpi4py import MPI

    text = f"""\
placement: inline
output: {{directory: {tmp_path}}}
meshes: {{box: {{size: [4, 3]}}}}
variables: {{{", ".join(f"{name}: {{mesh: box}}" for name in NAMES)}}}
outputs: [hdf5: {{file: "all-{{cycle}}.h5"}}, database: {{directory: data, kind: post, fsync: false, hdf5: false}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block("box", 0, [0, 0], [4, 3])
        for step in range(2):
            for number, name in enumerate(NAMES):
                session.publish(name, 0, np.full((3, 4), 10.0 * step + number))
            session.end_iteration(step, 0.5 * step)
    for place in ("all.h5.series", "data", "all-1.h5"):
        found = opened(tmp_path / place)
        last = (lambda a: a) if place == "all-1.h5" else (lambda a: a[-1])
        for number, name in enumerate(NAMES):
            assert found[name].shape[-2:] == (3, 4)
            np.testing.assert_array_equal(last(np.asarray(found[name])), np.full((3, 4), 10.0 + number))
        if hasattr(found, "sizes"):
            assert found["f"].dims[-2:] == ("y_axis", "x_axis_")
            np.testing.assert_array_equal(np.asarray(found["x_axis_"]), [0.5, 1.5, 2.5, 3.5])
            assert np.asarray(found["time_axis"]).ravel()[-1] == 0.5
            assert np.asarray(found["cycle_axis"]).ravel()[-1] == 1
