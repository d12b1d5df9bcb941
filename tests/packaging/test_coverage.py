"""Tests scripts/coverage on a small project with known lines and branches. Needs only Python, CMake and GCC."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# `f` runs with one of two signs, and `never` does not run. Files outside src do not count.
FILES = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.22)
project(Small CXX)
enable_testing()
add_subdirectory(src)
add_executable(program main.cpp)
target_link_libraries(program small)
add_test(NAME one COMMAND program 1)
add_test(NAME two COMMAND program 1 2)
""",
    "src/CMakeLists.txt": "add_library(small STATIC part/f.cpp)\n",
    "src/part/f.cpp": "int f(int n) {\n  if (n > 1)\n    return 7;\n  return 3;\n}\nint never() {\n  return 1;\n}\n",
    "main.cpp": "int f(int n);\nint main(int n, char**) {\n  return f(n - 1) == 0;\n}\n",
}


def measure(source: Path, *arguments: object) -> str:
    command = [sys.executable, ROOT / "scripts" / "coverage", "--source", source, *arguments]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Coverage(unittest.TestCase):
    def test_lines_and_branches_of_a_selection(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder)
            for name, text in FILES.items():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_text(text, encoding="utf-8")
            saved = source / "one.json"
            measure(source, "--save", saved, "-R", "^one$")
            table = json.loads(saved.read_text())
            self.assertEqual(table["src/part"], table["all"])
            lines, reached, branches, taken = table["all"]
            self.assertTrue(0 < reached < lines <= 7, table)  # the optimiser joins some lines
            self.assertEqual((branches, taken), (2, 1))
            told = measure(source, "--compare", saved)
            (row,) = (line.split()[1:] for line in told.splitlines() if line.startswith("all"))
            self.assertEqual((row[0], row[2:4], row[5]), (str(lines), ["2", "100.00%"], "+50.00"))
            self.assertTrue(reached / lines < float(row[1][:-1]) / 100 < 1 and float(row[4]) > 0, told)


if __name__ == "__main__":
    unittest.main()
