"""Reduced precision in files: all values keep the bounds, in every placement with the same bits, and each reader of the
table in docs/precision.md decodes what it says."""

import csv
import io
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import h5py
import numpy as np
import pytest
import sidestream
from optional_packages import needs
from pairs import few
from precise import SIZES, STEPS, VARIABLES, values
from python_program import TOOL, run_program

PROGRAM = Path(__file__).with_name("precise.py")
ELSEWHERE = Path(__file__).with_name("read_elsewhere.py")

REALS = [name for name, about in VARIABLES.items() if about[1].startswith("float") and name != "places"]
DOUBLES = [name for name in REALS if VARIABLES[name][1] == "float64"]
KEPT_TYPE = ["bit-round:10", "round:1e-3"]
WORDS = [*KEPT_TYPE, "single", "half", "quantise-1", "quantise-2", "quantise-4", "zfp:1e-3"]
IN_VTK = [*KEPT_TYPE, "single", "half"]


@cache
def manual():
    return subprocess.run([TOOL, "reference"], capture_output=True, text=True, timeout=60, check=True).stdout


def has(word):
    return word in manual()


def named(word):
    return word.replace(":", "-")


def variables_of(word):
    return DOUBLES if word == "single" else REALS


def precision_of(word, names):
    return "{" + ", ".join(f"{name}: '{word}'" for name in names) + "}"


def configuration(placement, results, database=True):
    words = [word for word in WORDS if has("`zfp") or not word.startswith("zfp")]
    lines = [f"placement: {placement}", f"output: {{directory: {results}}}", "meshes:"]
    lines += [f"  {mesh}: {{type: uniform, size: {list(size)}}}" for mesh, size in SIZES.items()]
    lines += ["  cloud: {type: points, coordinates: places}", "variables:"]
    for name, (mesh, dtype, centering, components, order) in VARIABLES.items():
        about = f"mesh: {mesh}, type: {dtype}, centering: {centering}, components: {components}, order: {order}"
        lines.append(f"  {name}: {{{about}}}")
    lines.append("outputs:")

    def add(kind, name, rest, word, names):
        lines.append(
            f"  - {kind}: {{name: {name}, {rest}, variables: {names}, precision: {precision_of(word, names)}}}"
        )

    for word in words:
        names, file = variables_of(word), f'file: "{named(word)}-{{cycle:02}}.h5"'
        add("hdf5", named(word), f"{file}, compression: deflate, checksum: true", word, names)
        if word in IN_VTK:
            file = f'file: "vtk-{named(word)}-{{cycle:02}}.pvti"'
            add("vtk", f"vtk-{named(word)}", f"{file}, compression: zlib", word, names)
        if database:
            rest = f"directory: db-{named(word)}, kind: post, fsync: false, codec: [byte-shuffle, gzip]"
            add("database", f"db-{named(word)}", rest, word, names)
    add("hdf5", "ghosts", 'file: "ghosts-{cycle:02}.h5", ghosts: true', "quantise-2", REALS)
    add("hdf5", "plain", 'file: "plain-{cycle:02}.h5"', "half", ["wave", "velocity"])
    places = "precision: {places: 'bit-round:10'}, compression: deflate"
    lines.append(
        f'  - hdf5: {{name: cloud, variables: [places, mass, number], file: "cloud-{{cycle:02}}.h5", {places}}}'
    )
    if has("`zstd"):
        add("hdf5", "zstd", 'file: "zstd-{cycle:02}.h5", compression: zstd, level: 3', "quantise-2", REALS)
    return "\n".join(lines) + "\n"


def run(folder, ranks, placement, beside=False, database=True):
    file, results = folder / "run.yaml", folder / "results"
    file.write_text(configuration(placement, results, database))
    run_program(PROGRAM, file, ranks, beside)
    return results


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(tmp_path_factory.mktemp("precise"), 3, "inline")


def in_kji(name, array):
    return np.moveaxis(array, range(3), (2, 1, 0)) if VARIABLES[name][4] == "row" else array


def bound(word, name, step, by_chunk=False):
    """The largest error allowed of each value; 0 if the variable is stored in full, as a whole or chunk by chunk."""
    real = values(name, step).astype(np.float64)
    finite = real[np.isfinite(real)]
    kind, _, argument = word.partition(":")
    size = np.abs(real)
    if kind == "bit-round":
        normal = np.finfo(VARIABLES[name][1]).smallest_normal
        return np.maximum(size, normal) * 2.0 ** -(int(argument) + 1)
    if kind in ("round", "zfp"):
        return float(argument)
    if kind in ("single", "half"):
        largest, bits, least = {"single": (3.4e38, 24, 2.0**-150), "half": (65504, 11, 2.0**-25)}[kind]
        return np.maximum(size * 2.0**-bits, least) if np.abs(finite).max() <= largest else 0
    if np.isinf(real).any() and not by_chunk:
        return 0
    steps = 2 ** (8 * int(kind[-1])) - 2
    return (finite.max() - finite.min()) / steps / 2 * (1 + 1e-9) + np.abs(finite).max() * 2.0**-51


def check_bound(found, word, name, step, by_chunk=False):
    """Compares values [k, j, i(, component)] with the formula."""
    expected, most = values(name, step).astype(np.float64), bound(word, name, step, by_chunk)
    if word.startswith("quantise") and found.dtype == np.float32:
        most = most + np.abs(expected) * 2.0**-24  # the reader rounds to the declared type
    found = np.asarray(found, np.float64)
    assert found.shape == expected.shape, (name, found.shape)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite], name)
    off = np.abs(found[finite] - expected[finite])
    assert (off <= np.broadcast_to(most, expected.shape)[finite]).all(), (word, name, step, off.max())


def computed(dataset):
    """The values of a dataset by the CF conventions."""
    stored = dataset[...]
    if "scale_factor" not in dataset.attrs:
        return stored
    values = stored * dataset.attrs["scale_factor"] + dataset.attrs["add_offset"]
    return np.where(stored == dataset.attrs["_FillValue"], np.nan, values)


def packed(word):
    return word.startswith("zfp") and find_spec("hdf5plugin") is None


def elsewhere(reader, path, names, **environment):
    command = [sys.executable, str(ELSEWHERE), reader, str(path), *names]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr.decode()
    return np.load(io.BytesIO(done.stdout))


@pytest.mark.parametrize("word", WORDS)
def test_values_in_hdf5_keep_the_bound(results, word):
    if packed(word):
        pytest.skip("hdf5plugin is not installed: zfp in HDF5 is NOT TESTED")
    for step in range(STEPS):
        path = results / f"{named(word)}-{step:02}.h5"
        if word.startswith("zfp"):
            for name, array in elsewhere("h5py", path, REALS).items():
                check_bound(in_kji(name, array), word, name, step)
            continue
        with h5py.File(path) as file:
            for name in variables_of(word):
                dataset = file[f"variables/{name}"]
                check_bound(in_kji(name, computed(dataset)), word, name, step)
                is_full = np.all(np.asarray(bound(word, name, step)) == 0)
                assert ("full_since" in dataset.attrs) == is_full, name
                assert is_full or dataset.attrs["precision"] == word
                kinds = {"single": "f4", "half": "f2", "quantise-1": "i1", "quantise-2": "i2", "quantise-4": "i4"}
                expected = VARIABLES[name][1] if is_full else kinds.get(word, VARIABLES[name][1])
                assert dataset.dtype == np.dtype(expected), name


@pytest.mark.parametrize("word", [word for word in WORDS if not word.startswith("zfp")])
def test_the_reader_computes_values(results, word):
    found = sidestream.open(results / f"{named(word)}.h5.series", into="numpy")
    for name in variables_of(word):
        assert found[name].dtype == np.dtype(VARIABLES[name][1]), name
        for step in range(STEPS):
            with h5py.File(results / f"{named(word)}-{step:02}.h5") as file:
                expected = computed(file[f"variables/{name}"]).astype(VARIABLES[name][1])
            np.testing.assert_array_equal(found[name][step], expected, name)


def test_what_needs_a_plug_in_says_so(results, monkeypatch):
    """h5py of this process has no plug-ins: the tests above import them elsewhere."""
    if not has("`zfp"):
        pytest.skip("NOT TESTED: this build has no zfp")
    assert "hdf5plugin" not in sys.modules
    monkeypatch.setattr("sidestream.reader.precision.find_spec", lambda name: None)
    found = sidestream.open(results / "zfp-1e-3-00.h5", into="numpy")
    with pytest.raises(sidestream.Error, match="install the package hdf5plugin"):
        found["wave"][...]


@pytest.mark.parametrize("name", few(["zfp-1e-3", "zstd"]))
def test_the_reader_makes_plug_ins_known(results, name):
    needs("hdf5plugin")
    if not (results / f"{name}-00.h5").exists():
        pytest.skip(f"NOT TESTED: this build has no {name}")
    code = "import sys, sidestream, numpy\n" + (
        "found = sidestream.open(sys.argv[1], into='numpy')\n"
        "numpy.savez(sys.stdout.buffer, **{name: found[name][...] for name in sys.argv[2:]})"
    )
    command = [sys.executable, "-c", code, str(results / f"{name}-00.h5"), *REALS]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = np.load(io.BytesIO(done.stdout))
    for name_of in REALS:
        assert found[name_of].dtype == np.dtype(VARIABLES[name_of][1])
        check_bound(in_kji(name_of, found[name_of]), "quantise-2" if name == "zstd" else "zfp:1e-3", name_of, 0)


@pytest.mark.parametrize(
    ("word", "reader"),
    few(
        [word for word in WORDS if word not in ("half", "zfp:1e-3")],
        ["netCDF4", "xarray-netcdf4", "xarray-h5netcdf"],
        kept=[("quantise-2", "netCDF4"), ("bit-round:10", "xarray-h5netcdf")],
    ),
)
def test_readers_of_netcdf_compute_values(results, word, reader):
    needs("h5netcdf" if reader.endswith("h5netcdf") else "netCDF4")
    last = STEPS - 1
    found = elsewhere(reader, results / f"{named(word)}-{last:02}.h5", variables_of(word))
    for name in variables_of(word):
        check_bound(in_kji(name, found[name]), word, name, last)


@pytest.mark.parametrize(
    ("reader", "name", "word"),
    few(["netCDF4", "xarray-netcdf4", "xarray-h5netcdf"], [("zfp-1e-3", "zfp:1e-3"), ("zstd", "quantise-2")]),
)
def test_readers_of_netcdf_with_plug_ins(results, name, word, reader):
    if find_spec("hdf5plugin") is None or not (results / f"{name}-00.h5").exists():
        pytest.skip(f"hdf5plugin, or {name} in this build: NOT TESTED")
    needs("h5netcdf" if reader.endswith("h5netcdf") else "netCDF4")
    plug_ins = Path(find_spec("hdf5plugin").origin).parent / "plugins"
    found = elsewhere(reader, results / f"{name}-00.h5", REALS, HDF5_PLUGIN_PATH=str(plug_ins))
    for each in REALS:
        check_bound(in_kji(each, found[each]), word, each, 0)


@pytest.mark.parametrize("reader", few(["h5netcdf", "xarray-h5netcdf"]))
def test_readers_of_16_bit_reals(results, reader):
    needs("h5netcdf")
    found = elsewhere(reader, results / "half-00.h5", ["wave", "velocity"])
    for name in ("wave", "velocity"):
        assert found[name].dtype == np.float16
        check_bound(in_kji(name, found[name]), "half", name, 0)


def test_compression_and_ghosts_change_no_number(results):
    for step in range(STEPS):
        with (
            h5py.File(results / f"quantise-2-{step:02}.h5") as file,
            h5py.File(results / f"ghosts-{step:02}.h5") as other,
        ):
            for name in REALS:
                np.testing.assert_array_equal(file[f"variables/{name}"][...], other[f"variables/{name}"][...])
        with h5py.File(results / f"half-{step:02}.h5") as file, h5py.File(results / f"plain-{step:02}.h5") as other:
            np.testing.assert_array_equal(file["variables/wave"][...], other["variables/wave"][...])
        with h5py.File(results / f"cloud-{step:02}.h5") as file:
            check_bound(file["variables/places"][...], "bit-round:10", "places", step)
            np.testing.assert_array_equal(file["variables/number"][...], values("number", step))


def test_zstd_in_hdf5(results):
    needs("hdf5plugin")
    if not has("`zstd"):
        pytest.skip("NOT TESTED: this build has no zstd")
    found = elsewhere("h5py", results / "zstd-00.h5", REALS)
    with h5py.File(results / "quantise-2-00.h5") as file:
        for name in REALS:
            np.testing.assert_array_equal(found[name], file[f"variables/{name}"][...])


@pytest.mark.parametrize("word", IN_VTK)
def test_vtk_reads_values(results, word):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPImageDataReader

    for step in range(STEPS):
        for mesh in SIZES:
            reader = vtkXMLPImageDataReader()
            reader.SetFileName(str(results / f"vtk-{named(word)}-{step:02}-{mesh}.pvti"))
            reader.Update()
            image = reader.GetOutput()
            for name in variables_of(word):
                of, dtype, centering, *_ = VARIABLES[name]
                if of != mesh:
                    continue
                data = image.GetPointData() if centering == "node" else image.GetCellData()
                found = vtk_to_numpy(data.GetArray(name))
                is_full = np.all(np.asarray(bound(word, name, step)) == 0)
                assert found.dtype == (dtype if word in KEPT_TYPE or is_full else np.float32), name
                shape = values(name, step).shape
                check_bound(found.reshape(shape), word, name, step)
                with h5py.File(results / f"{named(word)}-{step:02}.h5") as file:
                    same = in_kji(name, file[f"variables/{name}"][...])
                np.testing.assert_array_equal(found.reshape(shape), same, name)


@pytest.mark.parametrize("word", WORDS)
def test_databases_take_the_same_words(results, word):
    if word.startswith("zfp") and not has("`zfp"):
        pytest.skip("NOT TESTED: this build has no zfp")
    found = sidestream.open(results / f"db-{named(word)}", into="numpy")
    for name in variables_of(word):
        for step in range(STEPS):
            array = in_kji(name, np.asarray(found[name][step]))
            if word.startswith("quantise") and name == "holes":
                np.testing.assert_array_equal(array, values(name, step))  # chunks with NaN are stored in full
            else:
                check_bound(array, word, name, step, by_chunk=True)


def contents(results):
    """All that a reader can find in the files, apart from what names servers and zfp's own bytes."""
    found = {}
    for path in sorted(results.glob("*.h5")):
        word = path.name[:-6]
        if path.stem[-3] != "-" or word.startswith(("zfp", "zstd")) or not path.stem[-2:].isdigit():
            continue
        with h5py.File(path) as file:
            for name, dataset in file["variables"].items():
                attrs = {key: np.asarray(value).tolist() for key, value in dataset.attrs.items()}
                # References to scales are those of a file.
                for other in ("blocks", "lengths", "DIMENSION_LIST"):
                    attrs.pop(other, None)
                found[path.name, name] = (dataset.dtype, dataset[...].tobytes(), attrs)
    return found


@pytest.mark.parametrize(
    ("ranks", "placement"),
    few(
        [
            (3, "{mode: nodes, servers: 1}"),
            (5, "{mode: nodes, servers: 2}"),
            (1, "inline"),
            (2, "inline"),
            (5, "inline"),
            (4, "{mode: cores, per_node: 1, buffer: 64 MiB}"),
            (5, "{mode: nodes, servers: 3, partitioner: balanced}"),
            (3, "{mode: sidecar, buffer: 64 MiB, session: NAME}"),
        ],
    ),
)
def test_every_placement_has_the_same_bits(results, tmp_path, ranks, placement):
    beside = "sidecar" in placement
    found = contents(run(tmp_path, ranks, placement.replace("NAME", f"precise-{os.getpid()}"), beside, database=False))
    expected = contents(results)
    assert len(expected) > 100 and found.keys() == expected.keys()
    for key, array in expected.items():
        assert found[key] == array, key


@pytest.mark.test_all
def test_servers_behind_forwarders_have_the_same_bits(results, tmp_path):
    placement = "{mode: nodes, servers: 2, forward: partials, per_node: 1}"
    assert contents(run(tmp_path, 6, placement, database=False)) == contents(results)


def test_analyse_computes_values(results, tmp_path):
    file = tmp_path / "later.yaml"
    file.write_text(
        f"placement: inline\noutput: {{directory: {tmp_path / 'later'}}}\n"
        "meshes: {body: {type: uniform, size: [13, 9, 14]}}\n"
        "variables: {holes: {mesh: body}, velocity: {mesh: body, type: float32, centering: node, components: 3, "
        "order: row}}\n"
        "analyses: [statistics: {variable: holes}]\n"
        "outputs: [hdf5: {variables: [holes, velocity]}]\n"
    )
    for word in ("quantise-2", "half"):
        paths = [str(results / f"{word}-{step:02}.h5") for step in range(STEPS)]
        command = [TOOL, "analyse", *paths, "--config", str(file), "--directory", str(tmp_path / word)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        for step, path in enumerate(paths):
            with h5py.File(path) as before, h5py.File(tmp_path / word / f"fields-{step:06}.h5") as after:
                for name in ("holes", "velocity"):
                    expected = computed(before[f"variables/{name}"]).astype(VARIABLES[name][1])
                    np.testing.assert_array_equal(after[f"variables/{name}"][...], expected)
        with (tmp_path / word / "statistics.csv").open() as table:
            assert len(list(csv.reader(table))) == STEPS + 1


CHECKED = [
    ("hdf5: {precision: {waves: half}}", "did you mean 'wave'?"),
    ("hdf5: {precision: {wave: haf}}", "did you mean 'half'?"),
    ("hdf5: {precisio: {wave: half}}", "did you mean 'precision'?"),
    ("hdf5: {precision: {number: half}}", "values of type int32, expected float32 or float64"),
    ("hdf5: {precision: {velocity: single}}", "which are single"),
    ("hdf5: {precision: {places: half}}", "which says where the mesh is"),
    ("hdf5: {precision: {wave: 'bit-round:10'}}", "add 'compression: deflate'"),
    ("hdf5: {precision: {wave: 'bit-round:60'}, compression: deflate}", "from 1 to 51 for float64"),
    ("vtk: {variables: wave, precision: {wave: quantise-2}, compression: zlib}", "for which VTK has no form"),
    ("vtk: {variables: wave, precision: {wave: 'zfp:1'}, compression: zlib}", "for which VTK has no form"),
    ("vtk: {variables: velocity, precision: {velocity: half}}", "add 'compression: zlib'"),
    ("database: {precision: {wave: half}}", "in a checkpoint"),
    ("database: {kind: post, precision: {wave: half}, codecs: {wave: zstd}}", "under 'codecs' too"),
    ("database: {kind: post, precision: {wav: half}}", "did you mean 'wave'?"),
]


@pytest.mark.parametrize(("output", "sentence"), few(CHECKED, keep=3))
def test_mistakes_get_a_sentence(tmp_path, output, sentence):
    file = tmp_path / "run.yaml"
    head = configuration("inline", tmp_path / "results").partition("outputs:")[0]
    file.write_text(f"{head}outputs:\n  - {output}\n")
    done = subprocess.run([TOOL, "check", str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert sentence in done.stdout + done.stderr


LEVELS = """
import sys
import numpy as np
import sidestream
from mpi4py import MPI
text = f'''
placement: inline
output: {{directory: '{sys.argv[1]}'}}
meshes: {{grid: {{type: uniform, size: [8, 8], refinement: [2]}}}}
variables: {{a: {{mesh: grid}}}}
outputs: [hdf5: {{precision: {{a: quantise-2}}}}]
'''
with sidestream.open_session(MPI.COMM_WORLD, text=text) as session:
    session.set_block('grid', 0, [0, 0], [8, 8])
    session.set_block('grid', 1, [4, 4], [12, 12], level=1)
    session.start()
    session.publish('a', 0, np.arange(64.0).reshape(8, 8))
    session.publish('a', 1, -np.arange(64.0).reshape(8, 8))
    session.end_iteration(0, 0.0)
"""


@pytest.mark.test_all
def test_levels_share_a_range(tmp_path):
    command = [sys.executable, "-c", LEVELS, str(tmp_path / "results")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = sidestream.open(tmp_path / "results" / "fields-000000.h5", into="levels")
    for level, sign in enumerate((1, -1)):
        off = np.abs(np.asarray(found[level]["a"]) - sign * np.arange(64.0))
        assert 0 < off.max() <= 126 / 65534 / 2 * (1 + 1e-9)
