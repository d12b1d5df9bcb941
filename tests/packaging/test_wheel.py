"""The wheel that has only the reader, built without CMake, compiler and MPI for any machine, reads what a run wrote."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
READ = """
import json, sys, sidestream
found = sidestream.open(sys.argv[1], into="numpy")["fields/all.h5"]
try:
    sidestream.open_session(None, "run.yaml")
except sidestream.Error as error:
    print(json.dumps([sidestream.__file__, str(error), [float(n) for n in found["density"][1, :, 0, 0]]]))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that contains the package."""
    folder = tmp_path_factory.mktemp("wheel")
    nothing_else = {**os.environ, "SIDESTREAM_READER_ONLY": "1", "CC": "false", "CXX": "false", "MPICC": "false"}
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    make = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(make, env=nothing_else, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    install = [*pip, "install", "--no-deps", "--no-index", "--target", str(folder / "packages"), str(wheel)]
    subprocess.run(install, capture_output=True, timeout=120, check=True)
    return folder / "packages"


def python(installed, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(installed), "PATH": "/nowhere"}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_reads(installed, tmp_path):
    program = ROOT / "tests" / "python" / "holes.py"
    command = [MPIRUN, "-n", "3", sys.executable, str(program), str(tmp_path / "results")]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    done = python(installed, "-c", READ, tmp_path / "results")
    assert done.returncode == 0, done.stderr
    package, error, density = json.loads(done.stdout)
    assert Path(package).is_relative_to(installed)
    assert "this installation holds only the reader" in error
    np.testing.assert_array_equal(density, [10, 10, np.nan, np.nan, 12, 12])


def test_the_command_says_that_it_is_not_there(installed):
    done = python(installed, "-c", "import sys; from sidestream.command import main; sys.exit(main())")
    assert done.returncode == 1 and "holds no command" in done.stderr


def test_its_metadata(installed):
    (metadata,) = installed.glob("sidestream-*.dist-info/METADATA")
    text = metadata.read_text()
    assert "License-Expression: BSD-3-Clause" in text and "License-File: LICENSE" in text
    assert "Classifier: License" not in text and "Typing :: Typed" in text
    assert (installed / "sidestream" / "py.typed").is_file()
    assert (metadata.parent / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("abi", ["openmpi", "mpich"])
def test_a_package_for_several_mpis_follows_mpi4py(installed, tmp_path, abi):
    """Stand-ins for the compiled client lie where packaging/wheels/client-wheel puts them."""
    which = {**os.environ, "MPI4PY_MPIABI": abi, "LD_LIBRARY_PATH": str(tmp_path)}
    for library in Path("/usr/lib").glob("*/libmpich.so.12"):  # mpi4py looks for it by the name that others give it
        (tmp_path / "libmpi.so.12").symlink_to(library)
    there = subprocess.run(
        [sys.executable, "-c", "from mpi4py import MPI"], env=which, capture_output=True, check=False
    )
    if there.returncode != 0:
        pytest.skip(f"{abi} is NOT TESTED: mpi4py cannot load it")
    shutil.copytree(installed / "sidestream", tmp_path / "sidestream")
    for family in ("_openmpi", "_mpich"):
        (tmp_path / "sidestream" / family).mkdir()
        (tmp_path / "sidestream" / family / "_client.py").write_text(f"Handle = '{family}'\n")
    ask = [sys.executable, "-c", "import sidestream; print(sidestream.Handle)"]
    which["PYTHONPATH"] = str(tmp_path)
    done = subprocess.run(ask, env=which, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == f"_{abi}\n", done.stderr
    shutil.rmtree(tmp_path / "sidestream" / f"_{abi}")
    done = subprocess.run(ask, env=which, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "this package holds the client for" in done.stderr, done.stderr
