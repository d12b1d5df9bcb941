"""Separate processes draw the charts of a run after their tables are written. No rank draws, and nothing waits."""

import csv
import json
import os
import stat
import sys

import pytest
from PIL import Image
from support import run

STEPS = 2
GROWING = """\
analyses:
  - histogram: {name: growing, variable: t, bins: 9, range: [-2, 2], file: growing.csv,
                image: {file: "growing-{index}.svg", caption: "{label} in cycle {cycle}"}}
"""
TASKS = f"""\
{GROWING}\
  - histogram: {{variable: t, bins: 9, file: "histogram-{{index}}.csv",
                image: {{file: "histogram-{{index}}.png", size: [320, 240]}}}}
  - histogram2d: {{x: {{variable: t, bins: 4}}, y: {{variable: t, bins: 3}}, file: "both-{{index}}.h5",
                  image: {{file: latest.pdf}}}}
"""
# Replaces the interpreter: records the process that started it, waits before the first picture, and draws. The other
# ranks are busy while they wait for it.
INTERPRETER = """\
#!/bin/sh
parent=$(tr '\\0' '\\n' < /proc/$PPID/environ | grep '^OMPI_COMM_WORLD_RANK=')
echo "$PPID ${parent#*=} ${OMPI_COMM_WORLD_RANK:-no rank}" >> FOLDER/started
case "$*" in *histogram-0.png*) sleep WAIT;; esac
exec PYTHON "$@"
"""
# Records its arguments and says of each chart that it is drawn.
RECORDER = """\
#!/bin/sh
printf '%s\\n' "$@" >> FOLDER/words
printf '\\037drawn\\n'
for word; do [ "$word" != --next ] || printf '\\037drawn\\n'; done
"""


@pytest.fixture
def interpreter(tmp_path, monkeypatch):
    """A function that makes a script draw the charts."""

    def use(text, wait="0"):
        script = tmp_path / "interpreter"
        text = text.replace("FOLDER", str(tmp_path)).replace("WAIT", wait).replace("PYTHON", sys.executable)
        script.write_text(text)
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("SIDESTREAM_PYTHON", str(script))

    return use


def execute(folder, ranks, placement, tasks=TASKS, steps=STEPS):
    return run(folder, ranks, placement, tasks, [f"steps={steps}", "blocks=2"], alone=True)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "placement"),
    [(3, "{mode: cores, per_node: 1, buffer: 8 MiB}"), (2, "inline"), (4, "{mode: nodes, servers: 2, buffer: 8 MiB}")],
)
def test_all_are_drawn_and_no_step_waits(tmp_path, interpreter, ranks, placement):
    """The tables of the last step exist before the first picture."""
    interpreter(INTERPRETER, wait="1")
    done = execute(tmp_path, ranks, placement, TASKS if placement == "inline" else TASKS.split("  - histogram2d")[0])
    assert done.status == 0 and "warning" not in done.text, done.text
    for step in range(STEPS):
        with Image.open(done.results / f"histogram-{step}.png") as image:
            assert image.size == (320, 240) and "Sidestream" in image.text["Description"]
        assert (done.results / f"growing-{step}.svg").read_bytes().startswith(b"<?xml")
    assert placement != "inline" or (done.results / "latest.pdf").read_bytes().startswith(b"%PDF")
    listed = json.loads((done.results / "histogram.png.series").read_text())["files"]
    assert [entry["name"] for entry in listed] == [f"histogram-{step}.png" for step in range(STEPS)]
    started = (tmp_path / "started").read_text().splitlines()
    assert 1 <= len(started) <= 3 * STEPS and all("no rank" in line for line in started)
    assert len({line.split()[0] for line in started}) == 1  # one process has started all charts
    with (done.results / "timings.csv").open() as file:
        roles = {row["rank"]: row["role"] for row in csv.DictReader(file)}
    assert placement == "inline" or roles[started[0].split()[1]] == "server"
    assert not [path.name for path in done.results.iterdir() if path.name.startswith((".histogram-", ".latest"))]
    last = (done.results / f"histogram-{STEPS - 1}.csv").stat().st_mtime
    assert last < (done.results / "histogram-0.png").stat().st_mtime


def test_without_an_interpreter_it_is_said_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SIDESTREAM_PYTHON", "/nowhere/python")
    done = execute(tmp_path, 2, "inline")
    assert done.status == 0 and not done.errors, done.text
    assert done.text.count("SIDESTREAM_PYTHON") == 1 and "'/nowhere/python'" in done.text
    assert f"{3 * STEPS - 1} more charts were not drawn" in done.text
    assert (done.results / f"histogram-{STEPS - 1}.csv").is_file() and not list(done.results.glob("*.png"))


@pytest.mark.test_all
def test_a_picture_that_fails_is_a_warning(tmp_path, interpreter):
    interpreter("""\
#!/bin/sh
left=$#
while [ $left -gt 0 ]; do
  word=$1; shift; left=$((left - 1))
  case "$word" in *growing-1.svg) word=--output=/proc/nowhere/growing-1.svg;; esac
  set -- "$@" "$word"
done
exec PYTHON "$@"
""")
    done = execute(tmp_path, 2, "inline", GROWING, steps=3)
    assert done.status == 0 and not done.errors, done.text
    reason = "growing-1.svg' was not drawn: /proc/nowhere/growing-1.svg: cannot be written"
    assert done.text.count("was not drawn") == done.text.count(reason) == 1
    listed = json.loads((done.results / "growing.svg.series").read_text())["files"]
    assert [entry["name"] for entry in listed] == ["growing-0.svg", "growing-2.svg"]


def test_other_endings_are_refused(tmp_path):
    done = run(tmp_path, 1, "inline", TASKS.replace(".svg", ".gif"), ["steps=1"], alone=True)
    assert done.status != 0
    assert "'growing-{index}.gif' with the ending '.gif', expected one of .png, .pdf, .svg" in done.text


def test_captions_and_titles_are_those_of_the_run(tmp_path, interpreter):
    interpreter(RECORDER)
    done = execute(tmp_path, 1, "inline")
    assert done.status == 0, done.text
    words = (tmp_path / "words").read_text().splitlines()
    cycles = sorted(word for word in words if word.startswith("--caption=t in cycle "))
    assert len(set(cycles)) == STEPS
    assert words.count("--unit=variable:K") == 2 * STEPS and words.count("--unit=x:K") == STEPS
    assert {word for word in words if word.startswith("--iteration=")} == {f"--iteration={n}" for n in range(STEPS)}
    assert os.environ["SIDESTREAM_PYTHON"] == str(tmp_path / "interpreter")
