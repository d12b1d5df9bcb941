"""Former names of keys and attributes give the same bytes in files, and one warning with the new name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import built
from support import run_beside
from test_kinds import DECLARATIONS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader

PROGRAM, TOOL = built("SIDESTREAM_KINDS_PROGRAM"), built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
OUTPUTS = "outputs: [database: {directory: data, kind: post, codec: [byte-shuffle, gzip]}, metadata]\n"


def declared(name):
    """Runs the kinds program with an octree and a relation of values under that name of the key."""
    return DECLARATIONS["octree"].replace("components: 2}", f"components: 2, {name}: mean}}")


def published(folder, declarations, placement, **options):
    """Returns the run's output, its metadata files, and the relations, sizes and checksums in its database."""
    folder.mkdir()
    text = f"placement: {placement}\noutput: {{directory: {folder}}}\n{declarations}{OUTPUTS}"
    (folder / "case.yaml").write_text(text)
    command = [MPIRUN, "-n", "3", PROGRAM, str(folder / "case.yaml"), "kind=octree", "steps=2"]
    printed = run_beside(folder, [*command, *(f"{key}={value}" for key, value in options.items())], 2)
    contexts = database_reader.contexts(folder / "data").values()
    chunks = [sorted((int(r["bytes"]), int(r["sum"])) for _, _, t in c.tables for r in t) for c in contexts]
    relations = [c.variables[c.variable("t")]["relations"] for c in contexts]
    about = [file.read_bytes() for file in sorted(folder.glob("metadata-*.yaml"))]
    return printed, about, relations, chunks


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", ["cores", "inline"])
def test_configuration(tmp_path, placement):
    printed, *files = published(tmp_path / "new", declared("parent"), placement)
    told, *same = published(tmp_path / "old", declared("father"), placement)
    assert files == same
    assert files[1] == [{"father": "mean"}] * 2  # formats keep the former names
    assert [len(re.findall(rb"father: .?mean", file)) for file in files[0]] == [1, 1]
    assert "father" not in printed
    assert told.count("is called 'parent' now") == 1
    assert "found the key 'father', which is called 'parent' now; write 'parent'" in told


def test_calls(tmp_path):
    printed, *files = published(tmp_path / "new", "", "inline", calls=1)
    told, *same = published(tmp_path / "old", "", "inline", calls=2)
    assert files == same
    assert files[1] == [{"father": "mean"}] * 2
    assert "father" not in printed
    assert told.count("is called 'parent' now") == 1
    assert "the attribute 'father' of variables is called 'parent' now" in told


def check(file, *options):
    done = subprocess.run([TOOL, "check", str(file), *options], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_check(tmp_path):
    """The tool warns, too, but not about files that the output `metadata` wrote."""
    file, about = tmp_path / "run.yaml", tmp_path / "about.yaml"
    file.write_text(declared("father"))
    status, text = check(file)
    assert status == 0, text
    assert text.count("found the key 'father'") == 1
    file.write_text(declared("father").replace("father: mean", "father: mean, parent: sum"))
    status, text = check(file)
    assert status != 0
    assert "remove 'father'" in text
    about.write_text("sidestream_metadata: 2\n" + declared("father"))
    file.write_text("outputs: [database: {variables: [t]}]\n")
    status, text = check(file, "--declared", str(about))
    assert status == 0, text
    assert "called" not in text
