"""Programs, plug-ins and settings of the build that tests use, by environment variables.

CMake writes them into the file `tests/environment` of the build, as lines NAME=VALUE (`sidestream_tests_find` in
cmake/SidestreamTest.cmake). `tests/conftest.py` reads it before tests are collected. Variables that the environment
already has, as under CTest, take precedence.
"""

import os
import sys
from pathlib import Path

import pytest

BUILD = "SIDESTREAM_BUILD"


def read_environment(chosen, otherwise):
    """Sets the variables of a build that the environment lacks. Sets only the build's name if there is no such build.

    The build is the chosen one, that of the environment, or the default."""
    if chosen:
        os.environ[BUILD] = str(Path(chosen).resolve())
    os.environ.setdefault(BUILD, str(otherwise))
    file = Path(os.environ[BUILD]) / "tests" / "environment"
    for line in file.read_text().splitlines() if file.exists() else []:
        name, _, value = line.partition("=")
        os.environ.setdefault(name, value)


def find_package():
    """Lets this interpreter, and programs that it starts, import the package `sidestream` of the build."""
    package = os.environ.get("SIDESTREAM_PYTHON_PACKAGE")
    if package and package not in sys.path:
        sys.path.insert(0, package)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))


def built(variable):
    """Path of a program or a plug-in. If it is missing, fails with a sentence that tells what to do."""
    path = os.environ.get(variable)
    build = Path(os.environ[BUILD])
    if path is None and not (build / "tests" / "environment").exists():
        pytest.fail(
            f"There is no build of the tests in {build}: build Sidestream first (make build), "
            "or name another folder with --build DIR.",
            pytrace=False,
        )
    if path is None:
        pytest.fail(
            f"The build in {build} has nothing for {variable}: it is configured without it "
            "(see what CMake said about missing packages).",
            pytrace=False,
        )
    if not Path(path).exists():
        target = Path(path).relative_to(build) if Path(path).is_relative_to(build) else path
        pytest.fail(f"{path} has not been built: cmake --build {build} --target {target}", pytrace=False)
    return path


def needs_module(name):
    """Path of a module of Sidestream. Skips the calling test if this build is without it."""
    variable = f"SIDESTREAM_{name.upper()}_MODULE"
    if variable not in os.environ:
        pytest.skip(f"NOT TESTED: this build is without the module {name}")
    return built(variable)
