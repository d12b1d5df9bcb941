"""A small `make demo-universe`: twice in one folder, on several numbers of ranks, and without anything to see."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from test_universe import COUPLED

DEMO = Path(__file__).resolve().parents[2] / "examples" / "universe" / "run"
PICTURES = ("merger-tree.png", "mass-function.png", "spectrum.png", "flux.png")


def command(folder, *arguments):
    words = [sys.executable, DEMO, "--program", COUPLED, "--results", folder, *arguments]
    return [str(word) for word in words]


def demo(folder, *arguments):
    environment = {**os.environ, "MPIRUN": os.environ["MPIEXEC"]}
    return subprocess.run(
        command(folder, *arguments), env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.test_all
def test_twice_in_one_folder_and_on_any_number_of_ranks(tmp_path):
    found = []
    for ranks in (1, 4):
        done = demo(tmp_path, "--particles", 48, "--steps", 32, "--every", 8, "--box", 20, "--ranks", ranks)
        assert done.returncode == 0, done.stdout + done.stderr
        for name in PICTURES:
            with Image.open(tmp_path / name) as picture:
                assert len(np.unique(np.asarray(picture.convert("L")))) > 20, name
        assert len(list((tmp_path / "frames").glob("*.png"))) == 5 and (tmp_path / "film.mp4").stat().st_size > 10_000
        found.append([(tmp_path / name).read_bytes() for name in ("halos.csv", "history.csv", "flux.csv")])
    assert found[0] == found[1] and len(found[0][0].splitlines()) > 1


@pytest.mark.test_all
def test_a_universe_without_halos(tmp_path):
    done = demo(tmp_path, "--particles", 8, "--box", 400, "--steps", 4, "--every", 4)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((tmp_path / name).exists() for name in PICTURES)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("arguments", "words"), [(["--ranks", 0], "expected at least 1"), (["--program", "/no/such"], "does not exist")]
)
def test_mistakes(tmp_path, arguments, words):
    done = demo(tmp_path, *arguments)
    assert done.returncode != 0 and words in done.stderr and "Traceback" not in done.stderr


def test_what_others_made_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    done = demo(tmp_path, "--particles", 8)
    assert done.returncode == 1 and "is not empty" in done.stderr
    assert (tmp_path / "thesis.txt").read_text() == "mine"
