"""The codec `bounded` in databases: each value keeps its bound in every placement, all readers give the same bits, and
what cannot be is refused with a sentence."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import sidestream
from pairs import few
from precise import SIZES, STEPS, VARIABLES, values
from python_program import TOOL, run_program
from sidestream.codecs.decoding import decoded

PROGRAM = Path(__file__).resolve().parents[2] / "python" / "precise.py"
WORDS = {"absolute": "bounded:1e-3", "ranged": "bounded:range:1e-4", "each": "bounded:each:1e-3"}
REALS = [name for name, about in VARIABLES.items() if about[1].startswith("float") and name not in ("places", "mass")]


def head(results, placement="inline"):
    lines = [f"placement: {placement}", f"output: {{directory: {results}}}", "meshes:"]
    lines += [f"  {mesh}: {{type: uniform, size: {list(size)}}}" for mesh, size in SIZES.items()]
    lines += ["  cloud: {type: points, coordinates: places}", "variables:"]
    for name, (mesh, dtype, centering, components, order) in VARIABLES.items():
        about = f"mesh: {mesh}, type: {dtype}, centering: {centering}, components: {components}, order: {order}"
        lines.append(f"  {name}: {{{about}}}")
    return "\n".join(lines) + "\noutputs:\n"


def run(folder, ranks, placement):
    results, file = folder / "results", folder / "run.yaml"
    text = head(results, placement)
    for name, word in WORDS.items():
        precision = ", ".join(f"{each}: '{word}'" for each in REALS)
        text += f"  - database: {{name: {name}, directory: {name}, kind: post, fsync: false, variables: {REALS}, "
        text += f"precision: {{{precision}}}}}\n"
    text += f"  - database: {{name: plain, directory: plain, kind: post, fsync: false, variables: {REALS}}}\n"
    file.write_text(text)
    run_program(PROGRAM, file, ranks, "sidecar" in placement)
    return results


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(tmp_path_factory.mktemp("bounded"), 3, "inline")


def found_in(folder):
    opened = sidestream.open(folder, into="numpy")
    return {(name, step): np.asarray(opened[name][step]) for name in REALS for step in range(STEPS)}


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", WORDS)
def test_values_keep_the_bound(results, name):
    for (variable, step), array in found_in(results / name).items():
        expected = values(variable, step)
        if VARIABLES[variable][4] == "row":
            array = np.moveaxis(array, range(3), (2, 1, 0))
        finite = np.isfinite(expected)
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(array[~finite], expected[~finite])
        known = expected[finite].astype(np.float64)
        most = {"absolute": 1e-3, "ranged": 1e-4 * (known.max() - known.min()), "each": 1e-3 * np.abs(known)}[name]
        assert (np.abs(array[finite].astype(np.float64) - known) <= most).all(), (variable, step)
        if name == "each":
            np.testing.assert_array_equal(np.signbit(array[finite]), np.signbit(known))


def test_it_saves_space(results):
    assert size_of(results / "absolute") < size_of(results / "plain") / 1.5


@pytest.mark.parametrize("name", few(["absolute", "each", "ranged"], keep=2))
def test_the_decoder_in_python_gives_the_same_bits(results, name, monkeypatch, tmp_path):
    compiled = found_in(results / name)
    monkeypatch.setenv("SIDESTREAM_MODULES", str(tmp_path))
    for key, array in found_in(results / name).items():
        assert array.tobytes() == compiled[key].tobytes(), key


GOLDEN = {"bounded:0.015625": ("chunk", "values"), "bounded:each:0.001953125": ("chunk-each", "values-each")}


@pytest.mark.parametrize("word", GOLDEN)
def test_the_decoder_in_python_knows_the_golden_chunk(word, monkeypatch, tmp_path):
    monkeypatch.setenv("SIDESTREAM_MODULES", str(tmp_path))
    chunk, expected = ((Path(__file__).with_name("golden") / name).read_bytes() for name in GOLDEN[word])
    dtype = np.dtype("<f8")
    assert decoded(chunk, [word], dtype, len(expected)) == expected
    for bad in (chunk[:40], chunk[:-1], chunk + b"0", b"3" + chunk[1:], chunk[:33] + bytes(40) + chunk[73:]):
        with pytest.raises(sidestream.Error):
            decoded(bad, [word], dtype, len(expected))


@pytest.mark.parametrize(
    ("at", "put"),
    [(33, struct.pack("<d", 0.5)), (33, struct.pack("<d", np.nan)), (41, struct.pack("<h", 1)), (59, b"\x07")],
)
def test_the_decoder_in_python_refuses_heads_that_no_encoder_makes(at, put, monkeypatch, tmp_path):
    monkeypatch.setenv("SIDESTREAM_MODULES", str(tmp_path))
    chunk = Path(__file__).with_name("golden").joinpath("chunk-each").read_bytes()
    with pytest.raises(sidestream.Error, match="the codec 'bounded' has no such"):
        decoded(chunk[:at] + put + chunk[at + len(put) :], ["bounded:each:1e-3"], np.dtype("<f8"), 6048 - 8)


def test_the_tool_decodes_the_same_bits(results, tmp_path):
    done = subprocess.run([TOOL, "verify", str(results / "absolute")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    command = [TOOL, "export", str(results / "absolute"), str(tmp_path / "all.h5"), "--variables", "wave"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = found_in(results / "absolute")
    for step, path in enumerate(sorted(tmp_path.glob("all*.h5"))):
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["variables/wave"][...], expected["wave", step])


def test_a_box_across_blocks(results):
    expected = found_in(results / "absolute")["wave", STEPS - 1]
    opened = sidestream.open(results / "absolute", into="numpy")["wave"]
    np.testing.assert_array_equal(opened[STEPS - 1, 3:13, 1:8, 2:12], expected[3:13, 1:8, 2:12])


@pytest.mark.parametrize(
    ("ranks", "placement"),
    few(
        [
            (5, "{mode: nodes, servers: 2}"),
            (4, "{mode: cores, per_node: 1, buffer: 64 MiB}"),
            (3, "{mode: sidecar, buffer: 64 MiB, session: NAME}"),
        ]
    ),
)
def test_every_placement_has_the_same_bits(results, tmp_path, ranks, placement):
    again = run(tmp_path, ranks, placement.replace("NAME", f"bounded-{os.getpid()}"))
    for name in WORDS:
        expected = found_in(results / name)
        for key, array in found_in(again / name).items():
            assert array.tobytes() == expected[key].tobytes(), (name, key)


CHECKED = [
    ("hdf5: {precision: {wave: 'bounded:1e-3'}}", "which only databases have"),
    ("vtk: {variables: wave, precision: {wave: 'bounded:1e-3'}}", "for which VTK has no form"),
    ("database: {kind: post, precision: {wave: 'bounded:0'}}", "expected the largest error that is allowed"),
    ("database: {kind: post, precision: {wave: 'bounded:range:2'}}", "its part of the range, below 1"),
    ("database: {kind: post, precision: {wave: 'bounded:each:1e-9'}}", "its part of each value, from 1e-8 to below 1"),
    ("database: {kind: post, precision: {wave: 'bounded:eech:1e-3'}}", "did you mean 'each'?"),
    ("database: {kind: post, precision: {wave: bounded}}", "expected 'bounded:BOUND'"),
    ("database: {kind: post, precision: {wave: 'bonded:1'}}", "did you mean 'bounded'?"),
    ("database: {kind: post, codecs: {number: 'bounded:1'}}", "does not take values of type int32"),
    ("database: {precision: {wave: 'bounded:1'}}", "in a checkpoint"),
]


def check(tmp_path, output, **environment):
    file = tmp_path / "run.yaml"
    file.write_text(f"{head(tmp_path / 'results')}  - {output}\n")
    command = [TOOL, "check", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})


@pytest.mark.parametrize(("output", "sentence"), few(CHECKED, keep=3))
def test_mistakes_get_a_sentence(tmp_path, output, sentence):
    done = check(tmp_path, output)
    assert done.returncode == 1
    assert sentence in done.stdout + done.stderr


def test_the_words_are_accepted(tmp_path):
    for word in WORDS.values():
        done = check(tmp_path, f"database: {{kind: post, codecs: {{wave: '{word}'}}, codec: auto}}")
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_missing_module_is_named(results, tmp_path):
    (tmp_path / "nothing").mkdir()
    nothing = {"SIDESTREAM_MODULES": str(tmp_path / "nothing")}
    done = check(tmp_path, "database: {kind: post, precision: {wave: 'bounded:1e-3'}}", **nothing)
    sentence = "found 'bounded', which the module sidestream_bounded_codec has, and found no such module in"
    assert done.returncode == 1 and sentence in done.stdout + done.stderr
    command = [TOOL, "verify", str(results / "absolute")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **nothing})
    assert done.returncode == 1 and sentence in done.stdout + done.stderr
