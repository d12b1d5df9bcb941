"""The demo reads timings and draws pictures, here from synthetic files with known contents."""

import itertools
import sys
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "demo"))

import film
import plots
import report
from modes import MODES, configuration
from timings import read_run, read_session, read_simulation

STEPS = 12
TASKS = {"statistics": 0.02, "slice": 0.01, "isosurface": 0.08, "render": 0.12, "hdf5": 0.05}


def write_run(directory, inline=False, server=False):
    """A run of 0.4 s a step. Analyses take 0.28 s, on the simulation's core, or on a server's, which starts 0.01 s
    later."""
    directory.mkdir()
    opened = 2.0  # the session opened before the first step
    rows, times, at = [], [], 0.0
    for n in range(STEPS):
        end = sum(TASKS.values()) if inline else 0.001
        wait = 0.05 if server and n == 7 else 0.0
        rows.append(f"0,client,{n},{opened + at},0.4,0.01,{wait},{end},,")
        times.append(f"0,{n},{at},0.4,{0.01 + wait},{end}")
        begin = at + 0.41 + wait + (0.0 if inline else 0.01)
        rows.append(f"{0 if inline else 1},server,{n},{opened + begin - 0.009},,,,,idle,0.009")
        for name, seconds in TASKS.items():
            rows.append(f"{0 if inline else 1},server,{n},{opened + begin},,,,,{name},{seconds}")
            begin += seconds
        at += 0.41 + wait + end
    (directory / "times.csv").write_text("rank,step,start,compute,publish,end\n" + "\n".join(times) + "\n")
    if inline or server:
        header = "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"
        (directory / "timings.csv").write_text(header + "\n".join(rows) + "\n")
    return read_run(directory)


@pytest.fixture
def runs(tmp_path):
    return {
        "no analysis": write_run(tmp_path / "off"),
        "inline": write_run(tmp_path / "inline", inline=True),
        "one dedicated core": write_run(tmp_path / "core", server=True),
    }


def test_session_and_simulation_agree(runs):
    core = runs["one dedicated core"]
    assert len(core.steps) == STEPS
    assert core.steps[7].wait == pytest.approx(0.05)
    assert core.steps[7].publish == pytest.approx(0.01)
    assert core.busy == pytest.approx(STEPS * 0.28)
    # The session's clock began 2 s earlier. A step's first task starts when the step has been published.
    first = min(task.start for task in core.tasks if task.iteration == 3)
    step = core.steps[3]
    assert first == pytest.approx(step.start + step.compute + step.publish + 0.01)
    assert runs["inline"].loop == pytest.approx(STEPS * 0.69)
    assert runs["no analysis"].tasks == []


def test_several_ranks_count_as_the_slowest(tmp_path):
    file = tmp_path / "times.csv"
    file.write_text("rank,step,start,compute,publish,end\n0,0,0,1,2,3\n1,0,0.1,3,1,4\n")
    assert read_simulation(file).steps[0].total == 3 + 2 + 4
    file.write_text(
        "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n"
        "0,client,0,1,1,2,0,3,,\n1,client,0,1,2,1,1,1,,\n2,server,0,2,,,,,render,0.5\n"
    )
    session = read_session(file)
    assert (session.steps[0].compute, session.steps[0].publish, session.steps[0].wait) == (2, 2, 1)
    assert [(task.name, task.rank, task.seconds) for task in session.tasks] == [("render", 2, 0.5)]


def test_table_of_losses(runs):
    lines = report.loss_table(runs)
    assert len(lines) == 5
    # The first columns are the time that a step loses and its share: 10 + 280 of 690 ms, 10 + 1 of 411.
    assert lines[3].split()[:4] == ["inline", "290", "42.0", "%"]
    assert lines[4].split()[3:6] == ["11.0", "2.7", "%"]
    assert "+3.35 s (+67.9 %)" in lines[3]
    assert "+0.05 s (+1.0 %)" in lines[4]
    assert len(set(map(len, lines))) == 1


def test_the_headline_is_the_time_in_sidestream_and_not_the_noise_of_the_machine(runs):
    quiet = report.headline(runs)
    assert len(quiet) == 2
    assert "290 ms" in quiet[0] and "42.0 %" in quiet[0]
    assert "11.0 ms" in quiet[1] and "2.7 %" in quiet[1]
    # Three steps that something else delayed do not change the result.
    for step in runs["one dedicated core"].steps[3:6]:
        step.compute *= 4
    assert report.headline(runs) == quiet


def test_a_busy_machine_is_noticed(runs):
    assert report.disturbance(runs) == ""
    runs["inline"].steps[4].compute = 1.5
    assert "between 0.40 and 1.50 s a step" in report.disturbance(runs)


def colours_of(file):
    with Image.open(file) as picture:
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    return {tuple(int(value) for value in colour) for colour in np.unique(pixels, axis=0)}


def rgb(text):
    return tuple(int(text[n : n + 2], 16) for n in (1, 3, 5))


@pytest.mark.test_all
def test_timeline_shows_every_part(runs, tmp_path):
    file = tmp_path / "timeline.png"
    plots.timeline(runs, file)
    shown = colours_of(file)
    for colour in [*plots.PARTS.values(), *plots.TASK_COLOURS[: len(TASKS)]]:
        assert rgb(colour) in shown, colour


@pytest.mark.test_all
def test_histogram_and_statistics_are_drawn(tmp_path):
    bins, steps = 20, 15
    edges = np.linspace(-1, 1, bins + 1)
    lines = ["iteration,cycle,time,bin,lower,upper,count,below,above,nan"]
    for n in range(steps):
        counts, _ = np.histogram(np.sin(np.arange(1000) * (n + 1)), edges)
        lines += [f"{n},{n},{n / 10},{b},{edges[b]},{edges[b + 1]},{counts[b]},0,0,0" for b in range(bins)]
    (tmp_path / "histogram.csv").write_text("\n".join(lines) + "\n")
    plots.histogram(plots.read_table(tmp_path / "histogram.csv"), tmp_path / "histogram.png")
    assert len(colours_of(tmp_path / "histogram.png")) > 50

    lines = ["iteration,cycle,time,minimum,maximum,mean,standard_deviation"]
    lines += [f"{n},{n},{n / 10},{-1 - n / 20},{1 + n / 30},{n / 50},0.3" for n in range(steps)]
    (tmp_path / "statistics.csv").write_text("\n".join(lines) + "\n")
    plots.statistics(plots.read_table(tmp_path / "statistics.csv"), tmp_path / "statistics.png")
    assert rgb("#0072b2") in colours_of(tmp_path / "statistics.png")


def test_film_has_every_frame_in_order(tmp_path):
    frames = []
    for n in range(10):
        frames.append(tmp_path / f"frame {n:02}.png")
        Image.new("RGB", (65, 48), (20 * n, 100, 200 - 20 * n)).save(frames[-1])
    file = tmp_path / "film.mp4"
    film.make_film(frames, file, per_second=5)
    reader = imageio_ffmpeg.read_frames(str(file))
    about = next(reader)
    assert about["codec"].startswith("h264")
    assert about["pix_fmt"].startswith("yuv420p")
    assert about["size"] == (66, 48)
    reds = [np.frombuffer(frame, np.uint8)[0] for frame in reader]
    assert len(reds) >= 10
    assert all(later >= earlier for earlier, later in itertools.pairwise(reds))
    assert reds[-1] > 150
    with pytest.raises(RuntimeError, match="no frames"):
        film.make_film([], file)


def test_modes_differ_in_one_line():
    texts = [configuration(mode).splitlines() for mode in MODES]
    for text in texts[1:]:
        assert len(text) == len(texts[0])
        assert sum(a != b for a, b in zip(text, texts[0], strict=True)) == 1


def test_difference_names_what_differs(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / "frames").mkdir(parents=True)
        (tmp_path / name / "statistics.csv").write_text("1\n")
        (tmp_path / name / "timings.csv").write_text(name)
        Image.new("RGB", (4, 4)).save(tmp_path / name / "frames" / "frame-0.png")
    assert report.difference(tmp_path / "a", tmp_path / "b") == []
    Image.new("RGB", (4, 4), (0, 0, 1)).save(tmp_path / "b" / "frames" / "frame-0.png")
    (tmp_path / "b" / "statistics.csv").unlink()
    assert report.difference(tmp_path / "a", tmp_path / "b") == ["statistics.csv", "frames/frame-0.png"]
