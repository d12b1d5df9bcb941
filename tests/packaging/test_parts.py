"""The switches SIDESTREAM_WITH_<NAME> of cmake/OptionalParts.cmake, in a small project that looks for one library.

Needs only Python and CMake: nothing is compiled.
"""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(Sidestream LANGUAGES NONE)
set(CMAKE_FIND_LIBRARY_PREFIXES lib)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
include({root}/cmake/OptionalParts.cmake)
include({root}/cmake/PartsReport.cmake)
option(BUILD_OTHER "" ON)
sidestream_library_part(PIP TITLE pipping HEADER pip.h LIBRARY pip PACKAGE "libpip-dev (Debian)"
  FOR "the codec \\"pip\\"" ALIAS SIDESTREAM_BUILD_PIP)
sidestream_part(OTHER TITLE other PACKAGE "nothing" FOR "nobody" WAS "Other if there is one" ONLY_WITH BUILD_OTHER)
sidestream_part_found(OTHER FALSE "it is too old")
message("-- PIP=${{SIDESTREAM_PIP}} in '${{PIP_LIBRARY}}'")
sidestream_parts_report()
"""


class Parts(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.prefix = self.folder / "prefix"
        (self.folder / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT), encoding="utf-8")

    def configure(self, *settings: str) -> tuple[int, str]:
        """Configures, always in the same build folder. Returns the status and the output with single blanks."""
        command = [os.environ.get("CMAKE", "cmake"), "-S", self.folder, "-B", self.folder / "build"]
        command += [f"-DCMAKE_PREFIX_PATH={self.prefix}", *settings]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def install(self) -> None:
        for name in ("include/pip.h", "lib/libpip.so"):
            (self.prefix / name).parent.mkdir(parents=True, exist_ok=True)
            (self.prefix / name).touch()

    def remove(self) -> None:
        (self.prefix / "include/pip.h").unlink()
        (self.prefix / "lib/libpip.so").unlink()

    def says(self, words: str, *settings: str) -> None:
        status, said = self.configure(*settings)
        self.assertEqual(status, 0, said)
        self.assertIn(words, said)

    def fails(self, words: str, *settings: str) -> None:
        status, said = self.configure(*settings)
        self.assertEqual(status, 1, said)
        self.assertIn(words, said)

    def test_auto_looks_each_time_anew(self) -> None:
        self.says('without pipping the codec "pip" (not found; install libpip-dev (Debian))')
        self.install()
        self.says('with pipping the codec "pip" --')
        self.remove()
        self.says("without pipping")

    def test_on_fails_without_it_and_names_the_package(self) -> None:
        self.fails(
            "SIDESTREAM_WITH_PIP is ON, but there is no pipping (not found). Install libpip-dev (Debian)",
            "-DSIDESTREAM_WITH_PIP=ON",
        )
        self.install()
        self.says("PIP=ON")

    def test_off_never_looks(self) -> None:
        self.install()
        self.says("with pipping")
        self.says("PIP=OFF in ''", "-DSIDESTREAM_WITH_PIP=OFF")
        self.says('without pipping the codec "pip" (SIDESTREAM_WITH_PIP is OFF)')
        self.says("PIP=ON", "-DSIDESTREAM_WITH_PIP=auto")

    def test_the_older_option_goes_on_working(self) -> None:
        self.install()
        self.says("PIP=ON", "-DSIDESTREAM_BUILD_PIP=ON")
        self.says("(SIDESTREAM_BUILD_PIP is OFF)", "-DSIDESTREAM_BUILD_PIP=OFF")
        self.says("PIP=ON", "-DSIDESTREAM_WITH_PIP=ON")  # the option is for this part itself

    def test_a_build_folder_of_when_it_was_an_option(self) -> None:
        """In old caches ON meant AUTO. ON of the command line, of any type, never does."""
        (self.folder / "build").mkdir()
        old = "//{}\nSIDESTREAM_WITH_OTHER:BOOL=ON\n"
        (self.folder / "build" / "CMakeCache.txt").write_text(old.format("Other if there is one"), encoding="utf-8")
        self.says("without other")
        (self.folder / "build" / "CMakeCache.txt").write_text(old.format("Another"), encoding="utf-8")
        self.fails("SIDESTREAM_WITH_OTHER is ON, but there is no other (it is too old)")

    def test_on_of_the_command_line_with_a_type(self) -> None:
        for name in ("PIP", "OTHER"):
            self.fails(f"SIDESTREAM_WITH_{name} is ON, but there is no", f"-DSIDESTREAM_WITH_{name}:BOOL=ON")
            self.says("without pipping", f"-DSIDESTREAM_WITH_{name}:BOOL=OFF")

    def test_on_without_what_would_use_it(self) -> None:
        self.says("without other", "-DBUILD_OTHER=OFF")
        self.fails("SIDESTREAM_WITH_OTHER is ON, but other is only for nobody", "-DSIDESTREAM_WITH_OTHER=ON")

    def test_another_word_is_refused(self) -> None:
        self.fails("SIDESTREAM_WITH_PIP is 'maybe'; it can be AUTO, ON or OFF", "-DSIDESTREAM_WITH_PIP=maybe")

    def test_the_command_is_told_the_same(self) -> None:
        self.says("without other nobody (it is too old; install nothing)")
        code = (self.folder / "build" / "built_parts.cpp").read_text(encoding="utf-8")
        lines = re.findall(r'^    "(.*)\\n"$', code, re.M)
        self.assertEqual(
            lines,
            [
                'without  pipping  the codec \\"pip\\" (not found; install libpip-dev (Debian))',
                "without  other    nobody (it is too old; install nothing)",
            ],
        )


if __name__ == "__main__":
    unittest.main()
