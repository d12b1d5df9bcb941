"""Conditions and kept iterations (`keep_back`) of a program in Python, in every placement, compared with NumPy."""

import math
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few
from python_program import MPIRUN, TOOL
from watched import SHAPE, SPACING, field

SCRIPT = Path(__file__).with_name("watched.py")
MESH = """\
meshes: {{grid: {{type: uniform, size: [9, 6, 5], spacing: [0.25, 0.5, 1.0], origin: [-1, 0, 10]}}}}
variables: {{t: {{mesh: grid, type: float64, centering: cell, order: row}}}}
placement: {}
output: {{directory: {}}}
"""
BINS = 16


def run(folder, placement, ranks, tasks, arguments, status=0):
    """Returns the standard output and error. With `sidecar` and `job` others serve the same file."""
    results = folder / "results"
    (folder / "run.yaml").write_text(
        MESH.format(placement.replace("STREAMS", str(folder / "streams")), results) + tasks
    )
    beside = "sidecar" in placement or "job" in placement
    command = [TOOL, "serve", str(folder / "run.yaml")]
    if "job" in placement:
        command = [MPIRUN, "-n", "2", TOOL, "endpoint", "--wait", "60", str(folder / "run.yaml")]
    servers = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) if beside else None
    try:
        program = [
            MPIRUN,
            "-n",
            str(ranks),
            sys.executable,
            str(SCRIPT),
            str(folder / "run.yaml"),
            *map(str, arguments),
        ]
        done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
        text = done.stdout + done.stderr
        assert done.returncode == status, text
        if servers:
            text += servers.communicate(timeout=60)[0]
            assert servers.returncode == 0, text
        return text, results
    finally:
        if servers and servers.poll() is None:
            servers.kill()


PLACEMENTS = few(
    [
        ("inline", 1),
        ("inline", 3),
        ("{mode: cores, buffer: 8 MiB}", 4),
        ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5),
        ("{mode: nodes, servers: 1, buffer: 8 MiB, forward: blocks}", 4),
        ("{mode: nodes, servers: 1, buffer: 8 MiB, forward: partials}", 4),
        ("{mode: sidecar, buffer: 8 MiB}", 2),
        ("{mode: job, buffer: 8 MiB, stream: {directory: STREAMS, engine: files}}", 3),
    ],
    kept=[("{mode: nodes, servers: 2, buffer: 8 MiB}", 5)],
)


def facts(kind, step):
    """The statistics of a step, as Python's numbers."""
    values = field(kind, step)
    finite = values[np.isfinite(values)]
    known = {
        "nan(t)": np.isnan(values).sum(),
        "infinite(t)": np.isinf(values).sum(),
        "min(t)": finite.min(),
        "max(t)": finite.max(),
        "sum(t)": math.fsum(finite),
    }
    for share in (0, 0.1, 0.5, 0.99, 1):
        known[f"quantile(t, {share})"] = np.quantile(finite, share, method="inverted_cdf")
    for name, extreme in (("at_max", finite.max()), ("at_min", finite.min())):
        for axis, places in enumerate(np.nonzero(values == extreme)):
            centre = (-1, 0, 10)[axis] + SPACING[axis] * (places.min() + 0.5)
            known[f"{name}(t, {'xyz'[axis]})"] = centre
    return {name: float(value) for name, value in known.items()}


def entropy(kind, step):
    values = field(kind, step)
    finite = values[np.isfinite(values)]
    low, high = finite.min(), finite.max()
    edges = low + np.arange(BINS) * (high - low) / BINS
    counts = np.bincount(np.searchsorted(edges, finite, side="right") - 1, minlength=BINS)
    return -sum(n / finite.size * math.log(n / finite.size) for n in counts if n)


@pytest.mark.parametrize(("placement", "ranks"), PLACEMENTS)
@pytest.mark.parametrize("kind", few(["random", "odd", "narrow", "constant"], kept=["odd"]))
def test_statistics_like_numpy(tmp_path, placement, ranks, kind):
    """One condition for each step holds if every statistic has the bits of NumPy's; a wrong bit in any makes it fail,
    as the second table shows."""
    steps, tasks = 3, "analyses:\n"
    for step in range(steps):
        known = facts(kind, step)
        all_of = " and ".join(f"{name} == {value!r}" for name, value in known.items())
        near = 0.0 if kind == "constant" else float(entropy(kind, step))
        all_of += f" and abs(entropy(t, {BINS}) - {near!r}) < 1e-12 and iteration == {step}"
        tasks += f'  - statistics: {{variable: t, file: right-{step}.csv, when: "{all_of}"}}\n'
        wrong = np.nextafter(known["quantile(t, 0.5)"], np.inf)
        tasks += (
            f'  - statistics: {{variable: t, file: wrong-{step}.csv, when: "quantile(t, 0.5) == {float(wrong)!r}"}}\n'
        )
    _, results = run(tmp_path, placement, ranks, tasks, [kind, steps])
    assert sorted(file.name for file in results.glob("*-?.csv")) == [f"right-{step}.csv" for step in range(steps)]


@pytest.mark.parametrize(
    ("placement", "ranks"), few([("inline", 2), ("{mode: cores, buffer: 8 MiB}", 3)], kept=[("inline", 2)])
)
def test_several_iterations_back(tmp_path, placement, ranks):
    """Refused iterations do not count; a second run begins to remember anew."""
    greatest = [float(field("random", step).max()) for step in range(8)]
    delivered = [0, 1, 2, 4, 5, 6, 7]
    tasks = "analyses:\n"
    for n, step in enumerate(delivered):
        was = f"previous(max(t), 3) == {greatest[delivered[n - 3]]!r}" if n >= 3 else "not previous(max(t), 3) < 1e300"
        tasks += f'  - statistics: {{variable: t, file: back-{step}.csv, when: "{was} and iteration == {step}"}}\n'
        if n >= 2:
            rate = (greatest[step] - greatest[delivered[n - 2]]) / (0.5 * (step - delivered[n - 2]))
            tasks += f'  - statistics: {{variable: t, file: rate-{step}.csv, when: "rate(max(t), 2) == {rate!r}"}}\n'
    _, results = run(tmp_path, placement, ranks, tasks, ["random", 8, 3])
    wanted = [f"back-{step}.csv" for step in delivered] + [f"rate-{step}.csv" for step in delivered[2:]]
    assert sorted(file.name for file in results.glob("*-?.csv")) == sorted(wanted)


BOX = """\
outputs:
  - hdf5: {{name: box, variables: [t], file: "box-{{cycle:02}}.h5", when: nan(t) > 0, keep_back: {}}}
"""


def written(results):
    """The steps of the black box. Each must have the values of its step."""
    steps = []
    for file in sorted(results.glob("box-??.h5")):
        step = int(file.stem[4:])
        with h5py.File(file) as opened:
            found = opened["variables/t"][...]
        values = field("planted", step)
        assert np.array_equal(found.reshape(SHAPE) if found.shape == SHAPE else found.T, values, equal_nan=True), file
        steps.append(step)
    return steps


@pytest.mark.parametrize(("placement", "ranks"), PLACEMENTS)
def test_the_black_box(tmp_path, placement, ranks):
    """A NaN in one cell from step 6 on writes the three steps before it, and each later one once."""
    text, results = run(tmp_path, placement, ranks, BOX.format(3), ["planted", 8])
    assert written(results) == [3, 4, 5, 6, 7], text


@pytest.mark.parametrize(
    ("placement", "ranks"), few([("inline", 3), ("{mode: cores, buffer: 8 MiB}", 4)], kept=[("inline", 3)])
)
def test_a_black_box_with_a_gap(tmp_path, placement, ranks):
    """A refused step is absent, and one more than three steps ago is not written."""
    text, results = run(tmp_path, placement, ranks, BOX.format(3), ["planted", 7, 4])
    assert written(results) == [3, 5, 6], text
    log = (results / "messages.txt").read_text() if (results / "messages.txt").exists() else text
    assert "written now: 3, 5; refused or too large to keep: 4" in log + text


def test_a_black_box_that_is_too_small(tmp_path):
    text, results = run(tmp_path, "inline", 1, BOX.format("3, keep_back_memory: 4 KiB"), ["planted", 8])
    assert "do not fit into 4096 bytes" in text
    assert written(results) == [3, 6, 7]  # one copy fits; it is given up after three steps


BLOCKED = BOX.replace("box-{{cycle:02}}", "box/box-{{cycle:02}}").replace("nan(t) > 0", "cycle == 6")


@pytest.mark.parametrize("ranks", few([1, 3], kept=[3]))
def test_a_black_box_that_cannot_be_written_at_once(tmp_path, ranks):
    """Steps that fail in step 6 stay, are named, and are written as soon as that is possible: once."""
    text, results = run(tmp_path, "inline", ranks, BLOCKED.format(3), ["planted", 10, "free=8"])
    assert "written now: none; could not be written, and are tried again" in text, text
    assert "'keep_back' has room: 3, 4, 5, 6" in text, text
    # Step 7 takes the place of step 3.
    assert "iteration 7: box: kept iterations could not be written, and are lost" in text, text
    assert "their place: 3;" in text, text
    assert "iteration 8: box: kept iterations that could not be written before are written now: 4, 5, 6" in text, text
    assert written(results / "box") == [4, 5, 6], text


def test_a_black_box_that_can_never_be_written(tmp_path):
    text, results = run(tmp_path, "inline", 2, BLOCKED.format(3), ["planted", 8, "free=100"])
    assert "their place: 3;" in text, text
    assert "box: kept iterations could not be written, and are lost at the end of the run: 4, 5, 6;" in text, text
    assert (results / "box").is_file(), text


def test_then(tmp_path):
    """A condition ends the run in order, or sets a parameter that the program reads."""
    tasks = "analyses:\n  - statistics: {variable: t, when: nan(t) > 0, then: %s}\n"
    end = "ending: {signals: [USR1], margin: 60 s}\n"
    text, _ = run(tmp_path, "inline", 2, tasks % "end" + end, ["planted", 20])
    assert "steps 8" in text and "'then: end' of statistics" in text
    (tmp_path / "steered").mkdir()
    steering = "steering: {stop: {type: integer, default: 0}}\n"
    text, _ = run(tmp_path / "steered", "inline", 2, tasks % "stop = 1" + steering, ["planted", 20])
    assert "steps 8" in text or "steps 7" in text


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ("outputs:\n  - hdf5: {keep_back: 3}\n", "found 'keep_back' without 'when'"),
        (
            "analyses:\n  - statistics: {variable: t, when: nan(t) > 0, keep_back: 3}\n",
            "for an analysis, expected an output",
        ),
        ("outputs:\n  - database: {when: nan(t) > 0, keep_back: 3}\n", "for a checkpoint"),
        ("outputs:\n  - hdf5: {when: nan(t) > 0, then: end}\n", "expected the section 'ending'"),
        ("outputs:\n  - hdf5: {when: nan(t) > 0, then: halt}\n", "write it as in 'stop = 1'"),
        ("outputs:\n  - hdf5: {then: end}\nending: {signals: [USR1], margin: 60 s}\n", "also needs 'when' or 'on'"),
    ],
)
def test_mistakes(tmp_path, tasks, said):
    (tmp_path / "run.yaml").write_text(MESH.format("inline", "results") + tasks)
    done = subprocess.run([TOOL, "check", tmp_path / "run.yaml"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and said in done.stderr, done.stderr
