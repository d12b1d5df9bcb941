"""What the commands of the Makefile do, as `make --dry-run` tells it: nothing is built. Needs Python and make alone."""

import re
import subprocess
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
    def test_the_demo_builds_what_the_quick_start_goes_on_with(self) -> None:
        page = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
        line = re.search(r"^export PATH=(.*)$", page, re.M)
        assert line is not None
        folders = re.findall(r"\$PWD/build/release/([^:]+)", line[1])
        self.assertEqual(len(folders), 2, line[0])
        # The program of each folder: the target that the folder's name stands for.
        targets = {"simulations/oscillators": "oscillators", "tools": "sidestream_tool"}
        built = re.search(r"cmake --build .* --target (.*)", recipe("demo"))
        assert built is not None
        for folder in folders:
            self.assertIn(targets[folder], built[1].split())

    def test_only_the_tests_build_adios2(self) -> None:
        for target in ("build", "demo", "check"):
            self.assertNotIn("build-adios2", recipe(target), target)
        self.assertIn("build-adios2", recipe("test"))


if __name__ == "__main__":
    unittest.main()
