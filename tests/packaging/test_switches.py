"""Every switch SIDESTREAM_WITH_<NAME> of the whole project: all OFF configures, and each ON without its library fails.

Needs Python, CMake, and all that Sidestream requires; with SIDESTREAM_BUILT_WITHOUT=1 also what it takes to compile the
library: then that without optional parts is built, and passes `sidestream selftest`.
"""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMALL = [f"-DSIDESTREAM_BUILD_{name}=OFF" for name in ("TESTS", "BENCHMARKS", "EXAMPLES", "SIMULATIONS")]
# Hides libraries, as if they were not installed. A function that replaces a command calls it by a leading underline.
HIDE = """
function(find_library variable)
  if(NOT variable MATCHES "^(ZSTD|ZFP|FFTW3)_LIBRARY$")
    _find_library(${variable} ${ARGN})
  endif()
endfunction()
set(CMAKE_DISABLE_FIND_PACKAGE_tinyxml2 ON)
set(CMAKE_DISABLE_FIND_PACKAGE_ADIOS2 ON)
"""
# The name of a package in the message of each.
PACKAGES = {
    "ZSTD": "libzstd-dev (Debian) or zstd (Spack, conda)",
    "ZFP": "libzfp-dev (Debian) or zfp (Spack, conda)",
    "FFTW": "libfftw3-dev (Debian) or fftw (Spack, conda)",
    "TINYXML2": "libtinyxml2-dev (Debian) or tinyxml2 (Spack, conda)",
    "ADIOS2": "adios2 with MPI (Spack, conda)",
    "FORTRAN": "gfortran",
    "PYTHON": "nanobind and mpi4py (pip), and python3-dev (Debian)",
}
OWN = ("AMR_CODEC", "BOUNDED_CODEC", "BP", "CLIMATE", "COSMOLOGY", "VISUALISATION")


class Switches(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def configure(self, *settings: str) -> tuple[int, str]:
        """Returns the status and the output with single blanks."""
        command = [os.environ.get("CMAKE", "cmake"), "-S", str(ROOT), "-B", str(self.build), *SMALL, *settings]
        environment = {**os.environ, "FC": "/nowhere/gfortran"}  # as if there were no compiler
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_all_off(self) -> None:
        status, said = self.configure(*[f"-DSIDESTREAM_WITH_{name}=OFF" for name in (*PACKAGES, *OWN, "NETCDF")])
        self.assertEqual(status, 0, said)
        self.assertNotRegex(said, r"-- with ")
        for name in (*PACKAGES, *OWN):  # NetCDF is only for benchmarks
            self.assertIn(f"(SIDESTREAM_WITH_{name} is OFF)", said)
        if os.environ.get("SIDESTREAM_BUILT_WITHOUT") != "1":
            return
        cmake = os.environ.get("CMAKE", "cmake")
        subprocess.run(
            [cmake, "--build", str(self.build), "--target", "sidestream_tool", "--parallel", "2"], check=True
        )
        command = [str(self.build / "tools" / "sidestream"), "selftest"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^left out  picture +the module visualisation is not there")
        self.assertIn("6 passed, 0 failed, 1 left out", done.stdout)

    def test_each_on_without_its_library(self) -> None:
        (self.build / "hide.cmake").write_text(HIDE, encoding="utf-8")
        for name, package in PACKAGES.items():
            others = [f"-DSIDESTREAM_WITH_{other}=OFF" for other in PACKAGES if other != name]
            hidden = [f"-DCMAKE_PROJECT_INCLUDE={self.build / 'hide.cmake'}", "-DSIDESTREAM_PYTHON="]
            status, said = self.configure(*hidden, *others, f"-DSIDESTREAM_WITH_{name}=ON")
            self.assertEqual(status, 1, f"{name}: {said}")
            self.assertIn(f"SIDESTREAM_WITH_{name} is ON, but there is no", said)
            self.assertIn(package, said)

    def test_every_switch_is_tested(self) -> None:
        files = [*ROOT.glob("cmake/*.cmake"), ROOT / "CMakeLists.txt"]
        text = "\n".join(path.read_text(encoding="utf-8") for path in files)
        known = set(re.findall(r"^sidestream(?:_library)?_part\((\w+)", text, re.M))
        self.assertEqual({name.removesuffix("_BUILT") for name in known}, {*PACKAGES, *OWN, "NETCDF"})


if __name__ == "__main__":
    unittest.main()
