"""Tests the commands of the Makefile with `make --dry-run`, which builds nothing. Needs only Python and make."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def recipe(target: str) -> str:
    """The commands that `make TARGET` would run."""
    done = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout


class Commands(unittest.TestCase):
    def test_demo_and_command_build_what_the_quick_start_goes_on_with(self) -> None:
        page = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
        line = re.search(r"^export PATH=(.*)$", page, re.M)
        assert line is not None
        folders = re.findall(r"\$PWD/build/release/([^:]+)", line[1])
        self.assertEqual(len(folders), 2, line[0])
        # The program of each folder, which is the target for the folder's name.
        targets = {"simulations/oscillators": "oscillators", "tools": "sidestream_tool"}
        self.assertIn("\nmake command\n", page)
        built = [re.search(r"cmake --build .* --target (.*)", recipe(target)) for target in ("demo", "command")]
        for folder, found in zip(folders, built, strict=True):
            assert found is not None
            self.assertIn(targets[folder], found[1].split())
        assert built[0] is not None
        self.assertNotIn("sidestream_tool", built[0][1])  # the pictures come first

    def test_only_the_tests_build_adios2(self) -> None:
        for target in ("build", "demo", "check"):
            self.assertNotIn("build-adios2", recipe(target), target)
        self.assertIn("build-adios2", recipe("test"))

    def test_only_test_all_runs_everything(self) -> None:
        self.assertIn("--label-exclude '^all$'", recipe("test"))
        self.assertIn("--label-exclude '^(long|all)$'", recipe("check"))
        self.assertNotIn("--label-exclude", recipe("test-all"))
        self.assertIn("-DSIDESTREAM_TEST_MPICH=ON", recipe("test-all"))


NAMES = ["system.group_deaths", "system.groups", "faults.job.6", "docs.README.md", "slice", "python.reader"]


class Parts(unittest.TestCase):
    """Asks scripts/test-part for the parts of a build that has the tests of NAMES."""

    def part(self, name: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as build:
            tests = "".join(f'add_test("{name}" "true")\n' for name in NAMES)
            (Path(build) / "CTestTestfile.cmake").write_text(tests, encoding="utf-8")
            command = [str(ROOT / "scripts" / "test-part"), build, name]
            return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)

    def test_every_test_has_one_part(self) -> None:
        told = subprocess.run([ROOT / "scripts" / "test-part", "--list"], capture_output=True, text=True, check=True)
        found = []
        for line in told.stdout.splitlines():
            done = self.part(line.split()[0])
            found += [name for name in NAMES if done.returncode == 0 and re.fullmatch(done.stdout.strip(), name)]
        self.assertEqual(sorted(found), sorted(NAMES))
        self.assertEqual(self.part("kills").stdout, "^(system\\.group_deaths)$\n")

    def test_what_is_no_part_or_has_no_test_is_said(self) -> None:
        self.assertIn("no part 'kill'; the parts are kills, ", self.part("kill").stderr)
        self.assertIn("has no test of the part 'mpich'", self.part("mpich").stderr)


if __name__ == "__main__":
    unittest.main()
