"""Runs `sidestream analyse`, and compares its results with those of a run in situ."""

import os
from pathlib import Path

import mini_app

TOOL = os.environ["SIDESTREAM_TOOL"]
# Files that differ between runs, and the outputs of a run.
OTHER = ("run.yaml", "timings.csv", "iterations.csv", "movement.csv", "messages.txt", "provenance.txt")


def run(ranks, program, *arguments, status=0, timeout=200):
    done = mini_app.run(ranks, *arguments, program=program, timeout=timeout)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def configure(folder, name, tasks, placement="inline", outputs="", more=""):
    """A configuration whose results go to the folder of that name."""
    file = Path(folder) / f"{name}.yaml"
    text = f"placement: {placement}\noutput: {{directory: {Path(folder) / name}}}\n{tasks}{outputs}{more}"
    file.write_text(text)
    return file


def analyse(folder, name, files, tasks, *options, ranks=1, placement="inline", status=0, more=""):
    """Runs the command; returns its output and the folder of results."""
    file = configure(folder, name, tasks, placement, more=more)
    files = files if isinstance(files, list) else [files]
    said = run(ranks, TOOL, "analyse", *files, "--config", file, *options, status=status)
    return said, Path(folder) / name


def results(folder):
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and path.name not in OTHER and not path.name.startswith(".")
    }
    return {name: data for name, data in found.items() if not name.startswith(("data/", "fields"))}


def same(one, other, least=1):
    a, b = results(one), results(other)
    assert sorted(a) == sorted(b)
    assert len(a) >= least
    different = [name for name in a if a[name] != b[name]]
    assert not different, different
