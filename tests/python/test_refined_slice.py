"""The example that draws a slice of an octree has each position of the plane once, for any number of domains."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import sidestream
from optional_packages import all_need

FOLDER = Path(__file__).parents[2] / "examples/refined_slice"
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
pytestmark = all_need("matplotlib", "PIL")


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_slice(tmp_path):
    found = {}
    spec = importlib.util.spec_from_file_location("draw", FOLDER / "draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    for ranks in (1, 3):
        run(MPIRUN, "-n", ranks, sys.executable, FOLDER / "blast.py", tmp_path / str(ranks))
        levels = sidestream.open(tmp_path / str(ranks) / "data", into="levels")
        corners, values = draw.cells_in(levels, "density", 2, 0.5)
        area = np.prod(corners[:, 2] - corners[:, 0], axis=1)
        assert area.sum() == 1, "powers of two: exact"
        radius = np.linalg.norm(np.append(corners.mean(1) - 0.5, (area**0.5 / 2)[:, None], axis=1), axis=1)
        exact = 0.2 + 4 * np.exp(-(((radius - 0.3) / 0.04) ** 2)) + 0.5 * (radius > 0.3)
        np.testing.assert_allclose(values, exact, rtol=1e-6)
        found[ranks] = {(*corner.tolist(), value) for corner, value in zip(corners[:, 0], values, strict=True)}
    assert found[1] == found[3]
    run(sys.executable, FOLDER / "draw.py", tmp_path / "3/data", "density", tmp_path / "slice.png")
    picture = np.asarray(sidestream.open(tmp_path / "slice.png")["image"])
    assert picture.shape[:2] == (572, 704) and len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 100
