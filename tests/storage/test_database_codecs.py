"""Databases with codecs that have arguments, are chosen automatically, run on several threads, or come from
plug-ins."""

import os
import shutil
import subprocess
from pathlib import Path

import database_reader
import numpy as np
import pytest
from pairs import few
from test_database import TOOL, check_whole, configure, simulate, tool

PLUGIN = Path(os.environ["DELTA_CODEC"])
LARGE = (70, 61, 53)  # 1.8 MB in a piece


def has(codec):
    return f"`{codec}" in tool("reference")


def contexts(folder):
    return list(database_reader.contexts(folder / "out" / "data").values())


def check_option(folder, options, plugins=""):
    """The message of the command about a configuration that it refuses."""
    file = configure(folder, options=options)
    file.write_text(file.read_text() + plugins)
    sets = [f"--set={name}={value}" for name, value in zip(("nx", "ny", "nz"), (4, 4, 4), strict=True)]
    spacing = [f"--set={name}=0.25" for name in ("hx", "hy", "hz")]
    done = subprocess.run(
        [TOOL, "check", file, *sets, *spacing], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0, done.stdout
    return done.stdout + done.stderr


@pytest.mark.test_all
@pytest.mark.parametrize(("placement", "ranks"), few([("{mode: cores, buffer: 32 MiB}", 3), ("inline", 2)]))
def test_any_number_of_threads_writes_the_same_bytes(tmp_path, placement, ranks):
    files = {}
    for threads in (1, 2, 5):
        options = f"codec: [byte-shuffle, gzip], server_threads: {threads}"
        # With ghosts, arrays have gaps, and chunks are put together from lines.
        expected, _ = simulate(
            tmp_path, ranks, "--blocks", 3, "--ghosts", 1, grid=LARGE, steps=2, options=options, placement=placement
        )
        check_whole(tmp_path / "out" / "data", expected)
        files[threads] = [c.piece(0, p).tobytes() for c in contexts(tmp_path) for p in c.tables[0][1]]
        stored = [chunk for c in contexts(tmp_path) for chunk in c.tables[0][2].tobytes()]
        files[threads].append(bytes(stored))
        shutil.rmtree(tmp_path / "out")
    assert files[1] == files[2] == files[5]


@pytest.mark.parametrize(
    ("placement", "ranks"), few([("inline", 3), ("{mode: cores, buffer: 32 MiB, per_node: 2}", 5)])
)
def test_servers_that_write_in_turn_write_the_same(tmp_path, placement, ranks):
    shared = "contributors_per_file: 1, codec: gzip"
    for options, files in (
        ("stagger: true", ""),
        (f"stagger: true, {shared}", ""),
        ("kind: checkpoint", ", writers: 1"),
        (shared, ", writers: 2, striping: {count: 4, size: 1 MiB}"),
    ):
        expected, done = simulate(
            tmp_path, ranks, "--blocks", 5, options=options, placement=placement, steps=6, files=files
        )
        assert done.stderr.count("output.striping: the files in") == files.count("striping")
        check_whole(tmp_path / "out" / "data", expected)
        shutil.rmtree(tmp_path / "out")


@pytest.mark.parametrize("placement", few(["inline", "{mode: cores, buffer: 32 MiB}"]))
def test_auto(tmp_path, placement):
    expected, _ = simulate(
        tmp_path, 3, "--blocks", 2, grid=LARGE, steps=2, options="codec: auto, server_threads: 2", placement=placement
    )
    check_whole(tmp_path / "out" / "data", expected)
    for context in contexts(tmp_path):
        about = context.about["variables"][0]
        assert len(about["others"]) == 1
        assert about["others"][0][0] == "byte-shuffle"
        assert {int(n) for table in context.tables for n in table[2]["encoded"]} <= {0, 1, 2}
    # Waves are packed well in the first context, when no server is behind yet.
    assert contexts(tmp_path)[0].entry["stored"] < 0.98 * contexts(tmp_path)[0].entry["bytes"]
    assert " or byte-shuffle" in tool("info", tmp_path / "out" / "data", "--cycle", 0)


@pytest.mark.keep(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zfp_keeps_its_bound(tmp_path, dtype):
    if not has("zfp"):
        pytest.skip("NOT TESTED: this build has no zfp")
    sizes = []
    for bound in ("1e-1", "1e-3", "1e-5"):
        options = f"kind: post, codecs: {{field: 'zfp:{bound}'}}"
        expected, _ = simulate(tmp_path, 3, "--blocks", 2, grid=LARGE, steps=2, options=options, dtype=dtype)
        for context in contexts(tmp_path):
            assert context.about["variables"][0]["codec"] == [f"zfp:{bound}"]
            found = context.whole("field").astype("f8")
            error = np.abs(found - expected[context.entry["cycle"]].astype("f8")).max()
            assert 0 < error <= float(bound)
        assert "2 of 2 contexts are whole" in tool("verify", tmp_path / "out" / "data")
        sizes.append(contexts(tmp_path)[0].entry["stored"] / contexts(tmp_path)[0].entry["bytes"])
        shutil.rmtree(tmp_path / "out")
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.25
    # The same across processes: another number of ranks writes the same values in other chunks.
    assert sizes[2] < 1


def test_codecs_of_plugins(tmp_path):
    plugins = f"plugins: [{PLUGIN}]\n"
    file = configure(
        tmp_path, "kind: checkpoint, codec: ['delta:1', byte-shuffle, gzip]", "{mode: cores, buffer: 32 MiB}"
    )
    file.write_text(file.read_text() + plugins)
    text = file.read_text()
    # simulate() writes the configuration, so an environment variable replaces it by one with the plug-in.
    other = tmp_path / "with-plugin.yaml"
    other.write_text(text)
    os.environ["SIDESTREAM_CONFIG"] = str(other)
    try:
        expected, _ = simulate(tmp_path, 3, "--blocks", 3, options="kind: checkpoint", steps=2)
    finally:
        del os.environ["SIDESTREAM_CONFIG"]
    data = tmp_path / "out" / "data"
    done = subprocess.run([TOOL, "verify", data], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "the codec 'delta' is not in this build" in done.stdout + done.stderr
    os.environ["SIDESTREAM_CODEC_PLUGINS"] = str(PLUGIN)
    try:
        assert "2 of 2 contexts are whole" in tool("verify", data)
    finally:
        del os.environ["SIDESTREAM_CODEC_PLUGINS"]
    for context in contexts(tmp_path):  # decoded by hand
        for group, table in enumerate(context.tables):
            for piece in table[1]:
                assert context.about["variables"][0]["codec"] == ["delta:1", "byte-shuffle", "gzip"]
                values = undo_delta(context, group, piece)
                assert np.isin(values, expected[context.entry["cycle"]]).all()


def undo_delta(context, group, piece):
    """The values of a piece, in the order of the file. The remaining codec of the list is one that the reader knows."""
    about = context.variables[piece["variable"]]
    about["codec"] = ["byte-shuffle", "gzip"]
    try:
        words = context.piece(group, piece).transpose(2, 1, 0, 3).tobytes()
    finally:
        about["codec"] = ["delta:1", "byte-shuffle", "gzip"]
    return np.bitwise_xor.accumulate(np.frombuffer(words, "u8")).view("f8")


@pytest.mark.keep(4)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("codec: [auto, gzip]", "found 'auto' beside other codecs"),
        ("codec: ['half:2']", "found the codec 'half:2', expected 'half'"),
        ("codec: ['delta:1']", "the codec 'delta' is not in this build"),
        ("kind: post, codec: ['zfp:1e-3']", "found a codec that loses something for all variables"),
        ("kind: post, codecs: {field: zfp}", "expected 'zfp:BOUND'"),
        ("kind: post, codecs: {field: 'zfp:-1'}", "a number above 0"),
        ("codecs: {field: 'zfp:1e-3'}", "loses something for 'field' in a checkpoint"),
        ("server_threads: 0", "server_threads"),
    ],
)
def test_wrong_codecs_are_refused(tmp_path, options, sentence):
    if "zfp" in options and not has("zfp"):
        pytest.skip("NOT TESTED: this build has no zfp")
    assert sentence in check_option(tmp_path, options)


def test_wrong_arguments_of_plugins_are_refused(tmp_path):
    said = check_option(tmp_path, "codec: ['delta:0', gzip]", f"plugins: [{PLUGIN}]\n")
    assert "a whole number from 1 to 1024" in said
