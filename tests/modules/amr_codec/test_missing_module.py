"""Databases of octrees where the module amr_codec is missing: what is refused with which words, and what goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "storage"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "system"))
import database_reader
from programs import built
from test_kinds import DECLARATIONS

PROGRAM, TOOL = built("SIDESTREAM_KINDS_PROGRAM"), built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
MISSING = "found 'tree', which the module sidestream_amr_codec has, and found no such module in"


def start(command, environment):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=False, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout + done.stderr


def simulate(folder, codec, environment):
    """Writes octrees to folder/data; the status and what was printed."""
    file = folder.parent / "run.yaml"
    output = f"outputs: [database: {{directory: data, variables: [t], kind: checkpoint, {codec}}}]\n"
    file.write_text(f"placement: inline\noutput: {{directory: {folder}}}\n{DECLARATIONS['octree']}{output}")
    return start([MPIRUN, "-n", "2", PROGRAM, str(file), "kind=octree", "steps=2", "changing=1"], environment)


def codecs(data, variable):
    return [c.variables[c.variable(variable)].get("codec", []) for c in database_reader.contexts(data).values()]


@pytest.fixture
def without(tmp_path):
    """An environment in which there are no modules."""
    (tmp_path / "nothing").mkdir()
    return {"SIDESTREAM_MODULES": str(tmp_path / "nothing")}


@pytest.mark.parametrize("codec", ["codec: [tree]", "codecs: {t: tree}"])
def test_the_codec_by_name_is_refused(tmp_path, without, codec):
    status, text = simulate(tmp_path / "run", codec, without)
    assert status != 0 and MISSING in text, text
    assert "SIDESTREAM_WITH_AMR_CODEC=ON" in text and "run.yaml:" in text, text


def test_auto_does_without(tmp_path, without):
    status, text = simulate(tmp_path / "run", "codec: auto", without)
    assert status == 0, text
    data = tmp_path / "run/data"
    assert codecs(data, "split") == [["tree"]] * 2  # flags need no module
    assert all(codec[-1] in ("zstd", "gzip") for codec in codecs(data, "t"))
    status, text = start([TOOL, "verify", str(data)], without)
    assert status == 0, text


def test_readers_name_the_module(tmp_path, without):
    status, text = simulate(tmp_path / "run", "codec: auto", {})
    assert status == 0, text
    data = tmp_path / "run/data"
    assert codecs(data, "t") == [["tree"]] * 2
    status, text = start([TOOL, "verify", str(data)], {})
    assert status == 0, text
    status, text = start([TOOL, "verify", str(data)], without)
    assert status != 0 and MISSING in text, text
    again = tmp_path / "again.yaml"
    again.write_text(
        f"placement: inline\noutput: {{directory: {tmp_path / 'again'}}}\nanalyses: [statistics: {{variable: t}}]\n"
    )
    replay = [MPIRUN, "-n", "2", TOOL, "replay", str(data), str(again)]
    status, text = start(replay, without)
    assert status != 0 and MISSING in text, text
    status, text = start(replay, {})
    assert status == 0, text
