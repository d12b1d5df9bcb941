"""`pip install .` beside an installed Sidestream builds the client against it, and installs no library.

Environment: SIDESTREAM_PREFIX, the prefix of the installation.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ["SIDESTREAM_PREFIX"])
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
EXAMPLE = ROOT / "examples" / "minimal_python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    make = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel", "--no-deps"]
    make += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    environment = {**os.environ, "CMAKE_PREFIX_PATH": str(PREFIX)}
    done = subprocess.run(make, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = folder.glob("*.whl")
    return found


def test_it_holds_the_client_and_not_the_library(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("sidestream/_client.") for name in names)
    assert not [name for name in names if "libsidestream" in name or "/bin/" in name]


def test_it_runs_with_the_installed_library(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "packages")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "packages")}
    for name in ("heat.py", "run.yaml"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    command = [MPIRUN, "-n", "2", sys.executable, "heat.py", "run.yaml"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "results" / "statistics.csv").is_file()
    # The command is the one in the prefix.
    environment["PATH"] = f"{PREFIX / 'bin'}{os.pathsep}{environment['PATH']}"
    call = "import sys; sys.argv[0] = '/nowhere/sidestream'; from sidestream.command import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", call, "--version"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith("sidestream 0."), done.stdout + done.stderr
    # Scripts of other installations of the package are skipped. Two that call each other would never end.
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "sidestream").write_text("#!/bin/sh\nexit 7\n")
    (scripts / "sidestream").chmod(0o755)
    environment["PATH"] = f"{scripts}{os.pathsep}{environment['PATH']}"
    done = subprocess.run([sys.executable, "-c", call, "--version"], env=environment, timeout=60, check=False)
    assert done.returncode == 0
