"""Figures of papers by benchmarks/effective_throughput and benchmarks/visualisation: their models for cases that are
known in closed form, what they read from records, and small runs of both."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "support"))
import throughput_model as model
import throughput_runs
import viewing_runs

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
COSTS = model.Costs(extract_cell=1e-8, render_cell=2e-8, pixel=1e-7, triangles=8, triangle_bytes=50)


def go(name, folder, *words):
    command = [sys.executable, BENCHMARKS / name, "--build", os.environ["SIDESTREAM_BUILD"], *words]
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def script(name):
    """A benchmark as a module."""
    loader = SourceFileLoader(name, str(BENCHMARKS / name))
    module = module_from_spec(spec_from_loader(name, loader))
    sys.modules[name] = module  # its data classes look for it
    loader.exec_module(module)
    return module


def is_drawn(path):
    """True if a picture has more than a few colours."""
    return len(np.unique(np.asarray(Image.open(path).convert("RGB")).reshape(-1, 3), axis=0)) > 20


@pytest.mark.parametrize(
    ("ranks", "messages"), [(1, 0), (2, 1), (5, 4), (8, 7), (128, 15), (1024, 22), (10000, 30), (100000, 38)]
)
def test_messages_of_a_merge(ranks, messages):
    """Those of benchmark_compositing, which counts them up to 8 ranks."""
    assert model.merging(ranks, 1024**2)[1] == messages


def test_bytes_of_a_merge():
    """Two bricks side by side: each rank gives half of its 60 % of half of the picture away."""
    assert model.merging(2, 1000)[2] == pytest.approx(0.6 * 1000 / 2 / 2 * 8)
    assert model.merging(8, 1000)[2] == pytest.approx(0.6 * 1000 / 4 * 7 / 8 * 8)


def test_outputs():
    job, endless = model.Job(1000, 1000, 1000), model.Disk(1e9, float("inf"), writers=10)
    assert model.each(job, endless) == model.shared(job, endless) == 24
    assert model.each(job, replace(endless, creates=100)) == 24 + 10
    assert model.shared(job, replace(endless, one_file=0.25)) == 4 * 24
    assert model.aggregated(job, endless, model.Network(byte=1e-9)) == pytest.approx(24 + 24e9 * 1e-9 / 10)


def test_work_is_shared_by_cores():
    one, eight = model.Job(1, 100, 2), model.Job(8, 200, 2)
    disk = model.Disk(float("inf"), float("inf"))
    assert model.extract(eight, COSTS, disk) == pytest.approx(4 * model.extract(one, COSTS, disk))
    assert model.triangles(eight, COSTS) == 4 * model.triangles(one, COSTS)


def test_creations_that_make_extracts_as_slow_as_outputs():
    job = model.Job(*model.PAPER["Giant"], model.PAPER["Giant"][0])
    found = model.equal_creates(COSTS)
    fastest = min(model.outputs(job, model.LARGE, model.Network()).values())
    assert model.extract(job, COSTS, replace(model.LARGE, creates=found)) == pytest.approx(fastest)


def test_pictures_grow_with_the_ranks_and_outputs_do_not():
    rows = model.predict(COSTS)
    assert rows[-1].render / rows[0].render > 20 and rows[-1].written / rows[0].written < 1.2


def test_wrong_counts_and_times_are_found():
    tried = script("effective_throughput")
    options = tried.argparse.Namespace(ranks=[1, 2], cells=10, cores=2, tolerance=2.0)
    surfaces = [
        throughput_runs.Run(n, cells, 1e-3, 1, n + 1, 40000 * f, 800 * f) for n, cells, f in ((1, 10, 1), (2, 13, 1.69))
    ]
    pictures = [replace(run, files=1) for run in surfaces]
    merged = {2: throughput_runs.Merged(1, 1, model.merging(2, 1024**2)[2], 1e-3)}
    found = {"extract": surfaces, "render": pictures}
    assert tried.check_counts(found, merged, COSTS, options) == []
    surfaces[1].files, pictures[1].files, surfaces[1].triangles, merged[2].most = 2, 2, 800, 2
    wrong = tried.check_counts(found, merged, COSTS, options)
    assert [what.split(", ")[1].split(" of ")[0] for what in wrong] == ["files", "files", "triangles", "most messages"]
    rates = {task: [(1, 24.0), (2, 52.728)] for task in ("extract", "render", "written")}
    methods = {1: {"raw": 24e6}, 2: {"raw": 10e6}}
    assert tried.check_times(found, methods, rates, options) == ["written, 2 ranks: 5.27"]


def test_records(tmp_path):
    """An iteration is as long as it was for the slowest client; a picture, for the slowest server."""
    client, server = dict.fromkeys(("compute", "publish", "wait", "end"), "0"), {"role": "server", "task": "render"}
    rows = [
        {**client, "role": "client", "iteration": "0", "compute": "1", "end": "0.5"},
        {**client, "role": "client", "iteration": "0", "publish": "2"},
        {**client, "role": "client", "iteration": "1", "wait": "3"},
        {**server, "iteration": "1", "seconds": "4"},
        {**server, "iteration": "1", "seconds": "5"},
        {**server, "iteration": "0", "task": "idle", "seconds": "9"},
    ]
    assert viewing_runs.iteration_times(rows) == [2, 3] and viewing_runs.picture_times(rows) == [5]
    assert viewing_runs.sent_by_all(tmp_path) is None
    lines = [("E", 108, 27), ("I", 8, 2), ("S", 5, 1)]
    text = "".join(f"{kind}\t0\t1\t{count} bytes\t{messages} msgs sent\t0,1\n" for kind, count, messages in lines)
    (tmp_path / "sent.0.prof").write_text(text)
    assert viewing_runs.sent_by_all(tmp_path) == (116, 29)


@pytest.mark.test_all
def test_effective_throughput(tmp_path):
    words = ["--cells", 16, "--steps", 2, "--ranks", "1,2", "--only", "posix,mpi-io", "--tolerance", 1e9]
    text = go("effective_throughput", tmp_path, *words)
    assert "NOT WHAT THE MODEL HAS" not in text and "| Giant | 92160 |" in text
    assert text.splitlines()[-1].startswith("ratio render / fastest way to write, 2 ranks: ")
    assert is_drawn(tmp_path / "effective-throughput.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["effective-throughput.png"]


@pytest.mark.test_all
def test_pictures(tmp_path):
    assert go("visualisation", tmp_path, "--only", "pictures", "--grid", 12, "--size", "160x120") == "pictures:\n\n"
    assert is_drawn(tmp_path / "visualisation" / "pictures.png")


@pytest.mark.test_all
def test_scaling_and_traces(tmp_path):
    words = ["--grid", 12, "--ranks", "1,2", "--pictures", 2, "--steps", 40, "--repeat", 1000]
    text = go("visualisation", tmp_path, "--only", "scaling,traces,auto", *words)
    lines = [line for line in text.splitlines() if line.startswith("ratio ")]
    # The model of large data is left out of lines if noise hides the cost of cells.
    assert 2 + 2 + 2 <= len(lines) <= 2 * 2 + 2 + 2 and text.splitlines()[-1] == lines[-1]
    assert all(is_drawn(tmp_path / "visualisation" / f"{name}.png") for name in ("scaling", "traces", "auto"))
    assert "heavy use: " in text and " delivered" in text
