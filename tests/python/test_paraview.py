"""Scenes of ParaView: with a stand-in for ParaView whose pixels are known, and with ParaView itself where it is."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

HERE = Path(__file__).parent
TOOL, FIELD = os.environ["SIDESTREAM_TOOL"], os.environ["SIDESTREAM_FIELD_PROGRAM"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
N, STEPS = 8, 3

HEAD = """\
from paraview.simple import *
grid = Reader(registrationName='data.vti', FileName=['/nowhere/data.vti'])
view = CreateView('RenderView')
Show(grid, view, 'CELLS', 't')
"""
GOOD = f"""{HEAD}
other = CreateView('RenderView')
Show(grid, other, 'POINTS', 'p', 1)
CreateExtractor('PNG', other)
SaveScreenshot('unused.jpg', view, Quality=90)
CreateExtractor('TXT', grid)
if __name__ == '__main__':
    SaveExtracts(ExtractsOutputDirectory='unused')
"""
VARIABLES = """\
meshes: {grid: {type: uniform, size: [$n, $n, $n], spacing: [$h, $h, $h]}}
variables:
  t: {mesh: grid, type: float64, centering: cell}
  p: {mesh: grid, type: float32, centering: node, components: 2, order: row}
"""


def program_of(folder):
    """An interpreter that has the stand-in, and needs nothing from the environment."""
    file = folder / "pvbatch"
    file.write_text(f'#!/bin/sh\nPYTHONPATH="{HERE}/paraview_standin" exec "{sys.executable}" "$@"\n')
    file.chmod(0o755)
    return file


def entry(name, state, program, files, more=""):
    return (
        f"  - python: {{name: {name}, variables: [t, p], script: sidestream.paraview, call: Scene, file: [{files}],\n"
        f'             arguments: {{state: {state}, source: data.vti, program: "{program}", display: none{more}}}}}\n'
    )


def run(folder, ranks, entries, placement="inline", options=()):
    """Runs the simulation. Returns the output."""
    (folder / "run.yaml").write_text(
        f"placement: {placement}\noutput: {{directory: results}}\n{VARIABLES}analyses:\n{entries}"
    )
    command = [MPIRUN, "-n", str(ranks), FIELD, "run.yaml", f"grid={N}", f"steps={STEPS}", "blocks=2", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"SIDESTREAM_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("L")).astype(int)


@pytest.mark.parametrize(
    ("ranks", "placement"),
    [
        (1, "inline"),
        (4, "{mode: nodes, servers: 2}"),
        pytest.param(2, "inline", marks=pytest.mark.test_all),
        pytest.param(3, "{mode: cores, per_node: 1}", marks=pytest.mark.test_all),
    ],
)
def test_pictures_are_of_the_whole_mesh(tmp_path, ranks, placement):
    (tmp_path / "state.py").write_text(GOOD)
    files = '"t-{index}.png", "p-{index}.png"'
    said = run(
        tmp_path, ranks, entry("scene", "state.py", program_of(tmp_path), files, ", extracts: written"), placement
    )
    assert "error" not in said, said
    at = (np.arange(N) + 0.5) / N
    x, y, i = at[None, :], at[:, None], np.arange(N + 1)
    for step in range(STEPS):
        now = 0.1 * step
        t = np.sin(6.3 * x + now) * np.cos(4.1 * y) + 0.7 * np.sin(5.2 * at[N // 2] - 0.5 * now) + 0.1 * x * y
        assert np.abs(pixels(tmp_path / f"results/t-{step}.png")[::-1] - (40 * t + 100)).max() <= 1
        p = (40 * (i[None, :] + 2 * i[:, None] + 3 * ((N + 1) // 2)) + 100) % 256
        assert np.array_equal(pixels(tmp_path / f"results/p-{step}.png")[::-1], p)
        assert float((tmp_path / f"written/parts/{step}.txt").read_text()) == pytest.approx(now)
    assert sorted(path.name for path in (tmp_path / "written").iterdir()) == ["0.index", "1.index", "2.index", "parts"]


FAILURES = {
    "unknown": (HEAD + "SaveScreenshot('x.png', wiev)\n", "unknown.py:5: NameError: name 'wiev' is not defined"),
    "unsourced": (
        "from paraview.simple import *\nReader(registrationName='a.vti')\n",
        "unsourced.py: the script makes no source 'data.vti'; it makes 'a.vti'",
    ),
    "crashing": (HEAD + "import os\nprint('last words', flush=True)\nos.abort()\n", "was ended by SIGABRT before"),
    "leaving": (HEAD + "import os\nos._exit(3)\n", "exited with status 3 before"),
    "hanging": (HEAD + "while True:\n    pass\n", "did not answer within 2 s and was ended"),
    "unwritten": (HEAD + "CreateExtractor('TXT', grid)\n", "the extractor 'TXT' writes files: name a directory"),
    "late": (
        HEAD + "def catalyst_execute(info):\n    if info.timestep == 10:\n        raise ValueError('at 10')\n",
        "late.py:7: ValueError: at 10",
    ),
}


@pytest.mark.parametrize(
    "names", [["unknown", "crashing", "late"], pytest.param(list(FAILURES), marks=pytest.mark.test_all)], ids=len
)
def test_failures_cost_the_picture_only(tmp_path, names):
    program, entries = program_of(tmp_path), ""
    for name in names:
        text, _ = FAILURES[name]
        (tmp_path / f"{name}.py").write_text(text)
        limit = ", limit: 2" if name == "hanging" else ""
        made = entry(name, f"{name}.py", program, f'"{name}-{{index}}.png"', limit)
        entries += made if name == "late" else made.replace("call:", f"every: {STEPS}, call:")
    (tmp_path / "state.py").write_text(HEAD)
    entries += entry("good", "state.py", program, '"good-{index}.png"')
    entries += entry("absent", "state.py", "/nowhere/pvbatch", '"absent-{index}.png"')
    said = run(tmp_path, 3, entries, "{mode: cores, per_node: 1}")
    for name in names:
        assert FAILURES[name][1] in said, said
    assert "last words" in said
    assert "found no program '/nowhere/pvbatch' on this server" in said
    made = sorted(path.stem for path in (tmp_path / "results").glob("*.png"))
    assert made == ["good-0", "good-1", "good-2", "late-0", "late-2"]  # the script goes on after the failure


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("state: nowhere.py", "state: found no file 'nowhere.py'"),
        ("state: broken.py", 'broken.py", line 2'),
        ("state: state.py, display: some", "display: found 'some', expected auto or none"),
        ("state: state.py, extract: here", "did you mean 'extracts'?"),
        ("state: state.py, source: 't='", "source: found 't='"),
    ],
)
def test_check_finds_mistakes(tmp_path, arguments, sentence):
    (tmp_path / "broken.py").write_text("x = 1\ny = = 2\n")
    (tmp_path / "state.py").write_text(HEAD)
    text = "  - python: {variables: t, script: sidestream.paraview, call: Scene, file: a.png"
    text += f", arguments: {{{arguments}}}}}\n"
    (tmp_path / "run.yaml").write_text(f"placement: inline\n{VARIABLES}analyses:\n{text}")
    command = [TOOL, "check", "--set", "n=8", "--set", "h=0.125", "run.yaml"]
    environment = os.environ | {"SIDESTREAM_PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode != 0
    assert sentence in done.stdout + done.stderr


@pytest.mark.test_all
def test_ends_with_its_server(tmp_path):
    """A server that is killed leaves no interpreter behind, busy or not."""
    (tmp_path / "state.py").write_text("while True:\n    pass\n")
    server = (
        "import sys\nfrom sidestream.paraview.child import Child\n"
        f"start = {{'state': {str(tmp_path / 'state.py')!r}, 'display': 'none', 'extracts': ''}}\n"
        f"child = Child({str(program_of(tmp_path))!r}, start, 60)\n"
        "print(child._process.pid, flush=True)\n"
        "child.ask({'index': 0, 'cycle': 0, 'time': 0.0, 'meshes': []}, [])\n"
    )
    with subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        time.sleep(1)  # it is in the script's loop, or on its way there
        assert Path(f"/proc/{child}").exists()
        process.send_signal(signal.SIGKILL)
    until = time.monotonic() + 10
    while not ended(child):
        assert time.monotonic() < until, f"process {child} goes on"
        time.sleep(0.05)


def ended(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


READING = """\
import runpy, sys
from paraview.simple import *
runpy.run_path('scene.py')
GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
SaveScreenshot('read.png', GetActiveView())
"""


@pytest.mark.test_all
@pytest.mark.skipif(
    not (shutil.which("pvbatch") and shutil.which("xvfb-run")),
    reason="pvbatch or xvfb-run is not installed: ParaView is NOT TESTED",
)
def test_the_example_with_paraview(tmp_path):
    """ParaView draws the same pixels of the run's blocks as of a file that it reads by itself."""
    shutil.copytree(HERE.parents[1] / "examples" / "paraview", tmp_path, dirs_exist_ok=True)
    oscillators = os.environ["SIDESTREAM_OSCILLATORS"]
    sources = subprocess.run([oscillators, "--generate", "24"], capture_output=True, text=True, check=True).stdout
    (tmp_path / "sources.osc").write_text(sources)
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONPATH"} | {"SIDESTREAM_PYTHON": sys.executable}
    for configuration in ("first.yaml", "run.yaml"):
        command = [MPIRUN, "-n", "3", oscillators, "sources.osc", "--grid", "64", "--steps", "41"]
        subprocess.run(
            [*command, "--sidestream", configuration], cwd=tmp_path, check=True, timeout=280, env=environment
        )
    (tmp_path / "reading.py").write_text(READING)
    clean = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "OMPI_COMM", "PMIX"))}
    words = ["xvfb-run", "-a", "-s", "-noreset -screen 0 64x64x24", "pvbatch", "--no-mpi", "reading.py"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=120, env=clean)
    mine, read = (np.asarray(Image.open(tmp_path / name)) for name in ("results/scene-040.png", "read.png"))
    assert len(np.unique(mine.reshape(-1, mine.shape[2]), axis=0)) > 100
    differ = (mine[..., :3] != read[..., :3]).any(axis=2)
    assert not differ[30:].any()  # above is the time, which the reader does not know at first
