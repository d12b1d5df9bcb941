"""`sidestream selftest`: by itself and under mpirun, and what it says about the usual troubles."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from programs import built

TOOL = built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")


def selftest(*options, command=(), environment=None, folder=None, preexec=None):
    return subprocess.run(
        [*command, TOOL, "selftest", *map(str, options)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        preexec_fn=preexec,
    )


def lines(done):
    """State of each check by name."""
    return {line[10:20].strip(): line[:9].strip() for line in done.stdout.splitlines()[1:-1]}


PASSED = dict.fromkeys(("inline", "table", "hdf5", "database", "picture", "cores", "same"), "passed")


def test_by_itself_in_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(0o555)
    (tmp_path / "files").mkdir()
    done = selftest(environment={"TMPDIR": str(tmp_path / "files")}, folder=tmp_path / "closed")
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines(done) == PASSED and "3 processes on 1 node" in done.stdout, done.stdout
    assert done.stdout.splitlines()[-1].startswith("7 passed, 0 failed, 0 left out")
    assert not list((tmp_path / "files").iterdir()) and not list((tmp_path / "closed").iterdir())


@pytest.mark.test_all
@pytest.mark.parametrize("ranks", [1, 2, 5, 9])  # with 9 some have no block
def test_under_mpirun(tmp_path, ranks):
    done = selftest("--directory", tmp_path, command=[MPIRUN, "-n", str(ranks)])
    assert done.returncode == 0, done.stdout + done.stderr
    expected = PASSED if ranks > 1 else {**PASSED, "cores": "left out"}
    assert lines(done) == {name: state for name, state in expected.items() if ranks > 1 or name != "same"}
    assert not list(tmp_path.iterdir())


def test_without_mpirun_one_process_checks_what_it_can(tmp_path):
    done = selftest("--directory", tmp_path, environment={"PATH": str(tmp_path)})
    assert "There is no mpirun of" in done.stdout and "srun" in done.stdout
    if done.returncode == 0:  # not every MPI can begin without its launcher
        assert lines(done)["inline"] == "passed" and lines(done)["cores"] == "left out", done.stdout
    else:
        assert "selftest" in done.stderr and done.returncode == 1


def fake(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


TROUBLES = {
    "root": ("echo mpiexec has detected an attempt to run as root. >&2; exit 1", "refuses to run as root"),
    "slots": ("echo There are not enough slots available in the system >&2; exit 1", "allows fewer than 3 processes"),
    "ssh": ("echo MCA parameter plm_rsh_agent was set to a path >&2; exit 1", "finds neither ssh nor rsh"),
    "full": ("echo write: No space left on device >&2; exit 1", "look at /dev/shm"),
    "signal": ("kill -9 $$", "was ended by SIGKILL"),
    "nothing": ("exit 0", "exited with status 0"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_troubles_get_a_sentence(tmp_path, trouble):
    text, sentence = TROUBLES[trouble]
    done = selftest("--directory", tmp_path, "--mpirun", fake(tmp_path / "mpirun", text))
    assert done.returncode == 1 and sentence in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mpirun"]


def test_a_folder_that_is_not_there(tmp_path):
    done = selftest("--directory", tmp_path / "missing")
    assert done.returncode == 1 and "name another one with --directory" in done.stderr


def test_results_that_are_wrong_are_found(tmp_path):
    """A library that changes what is read of one file: that check fails, the others do not."""
    source = tmp_path / "wrong.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <hdf5.h>\n"
        "herr_t H5Dread(hid_t d, hid_t t, hid_t m, hid_t f, hid_t p, void* out) {\n"
        '  herr_t (*real)(hid_t, hid_t, hid_t, hid_t, hid_t, void*) = dlsym(RTLD_NEXT, "H5Dread");\n'
        "  herr_t done = real(d, t, m, f, p, out);\n  ((double*)out)[7] += 1;\n  return done;\n}\n"
    )
    library = tmp_path / "wrong.so"
    include = [f"-I{path}" for path in ("/usr/include/hdf5/serial", "/usr/include") if Path(path).is_dir()]
    made = subprocess.run(["cc", "-shared", "-fPIC", *include, str(source), "-o", str(library)], check=False)
    if made.returncode != 0:
        pytest.skip("a wrong result is NOT TESTED: no headers of HDF5 were found")
    done = selftest("--directory", tmp_path, environment={"LD_PRELOAD": str(library)})
    assert done.returncode == 1, done.stdout
    assert lines(done) == {**PASSED, "hdf5": "FAILED"}, done.stdout + done.stderr
    assert "value 7 is not the one that was published" in done.stdout and "1 failed" in done.stdout


@pytest.mark.test_all
def test_mpirun_of_another_library(tmp_path):
    others = {"mpirun.mpich", "mpirun.openmpi"}
    other = next((found for name in sorted(others) if (found := shutil.which(name))), None)
    if other is None or len([name for name in others if shutil.which(name)]) < 2:
        pytest.skip("another mpirun is NOT TESTED: there is one MPI library only")
    said = [selftest("--directory", tmp_path, "--mpirun", shutil.which(name)) for name in sorted(others)]
    assert sorted(done.returncode for done in said) == [0, 1]
    wrong = next(done for done in said if done.returncode == 1)
    assert "processes were started, and each is alone" in wrong.stderr, wrong.stderr


@pytest.mark.test_all
@pytest.mark.skipif(os.geteuid() != 0, reason="another user is NOT TESTED: this one is not root")
def test_as_another_user(tmp_path):
    tmp_path.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*nobody, TOOL, "--version"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"another user is NOT TESTED: it cannot reach {TOOL} or a library of it")
    done = selftest(
        command=nobody,
        environment={"TMPDIR": str(home), "HOME": str(home), "OMPI_MCA_orte_tmpdir_base": str(home)},
        folder="/",
    )
    assert done.returncode == 0 and lines(done) == PASSED, done.stdout + done.stderr
