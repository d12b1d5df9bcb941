"""`make demo` and then `make test` in one tree, with more packages installed in between, compile the library only once.

Configures one build folder twice. First it hides all optional libraries, the Fortran compiler and Python, then it does
not. Needs Python, CMake, and all that Sidestream requires; nothing is compiled.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("ZSTD", "ZFP", "FFTW", "TINYXML2", "ADIOS2", "AMR_CODEC", "BOUNDED_CODEC", "COSMOLOGY", "NETCDF")
# Parts besides the library and the command, which would only cost time here.
LEFT_OUT = [f"-DSIDESTREAM_BUILD_{name}=OFF" for name in ("TESTS", "BENCHMARKS", "EXAMPLES")]


def may_differ(file: str) -> bool:
    """Files that record available parts, or use them."""
    name = Path(file).stem
    return name in PART_FILES or name == "built_parts" or "translate" in name


PART_FILES = {
    prefix + name
    for prefix in ("", "no_")
    for name in ("zstd", "zstd_packer", "flag_frames", "zfp", "fftw", "formula", "sst_engine", "bp_writer")
}


class OneTree(unittest.TestCase):
    def configure(self, build: Path, *settings: str, **environment: str) -> str:
        command = [os.environ.get("CMAKE", "cmake"), "-S", str(ROOT), "-B", str(build), *LEFT_OUT, *settings]
        done = subprocess.run(
            [*command, "-DCMAKE_BUILD_TYPE=Release"],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def compiled(self, build: Path) -> dict[str, tuple[str, int]]:
        """The command that compiles each file of library, modules and tool, and when CMake wrote it, if it did."""
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        found = {}
        for command in commands:
            file, target = command["file"], command["output"] if "output" in command else command["command"]
            if re.search(r"\bsidestream_\w+\.dir", target):
                made = Path(file).stat().st_mtime_ns if file.startswith(str(build)) else 0
                found[file] = (command["command"], made)
        return found

    def test_what_appears_compiles_nothing_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            build = Path(folder)
            # If FC names nothing, CMake behaves as if there were no compiler.
            hidden = [f"-DSIDESTREAM_WITH_{name}=OFF" for name in PARTS]
            said = self.configure(build, *hidden, FC="/nowhere/gfortran")
            self.assertIn("without  Fortran", said)
            self.assertIn("without  zstd", said)
            before = self.compiled(build)
            self.assertGreater(len(before), 60)
            python = [f"-DSIDESTREAM_PYTHON={path}"] if (path := os.environ.get("SIDESTREAM_PYTHON")) else []
            said = self.configure(build, *[f"-DSIDESTREAM_WITH_{name}=AUTO" for name in PARTS], *python)
            after = self.compiled(build)
            again = [f for f in before if before[f] != after.get(f) and not may_differ(f)]
            self.assertEqual(again, [], "would be compiled again")
            # A compiler that appears is found. CMake decides if there is MPI for it, too.
            if shutil.which("gfortran"):
                self.assertNotIn("no compiler was found", said)
            else:
                self.assertIn("without  Fortran", said)


if __name__ == "__main__":
    unittest.main()
