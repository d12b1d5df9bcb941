"""Tests run_blocks.py on pages that are right and pages that are wrong. Needs only Python."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "run_blocks.py"
# Replaces the command: accepts configurations with the word "good", and notes its arguments.
CHECKER = """#!/bin/sh
echo "$@" >>calls
grep -q good "$2" || { echo "$2:1:1: no good"; exit 2; }
"""


def page(*pieces: tuple[str, str, str]) -> str:
    """A page of (comment, language, text) blocks."""
    return "".join(f"Words.\n\n{comment}\n```{language}\n{text}```\n" for comment, language, text in pieces)


def run(text: str) -> tuple[int, str]:
    """Status and output of the script on a page with this text."""
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder) / "tools"
        tools.mkdir()
        (tools / "sidestream").write_text(CHECKER, encoding="utf-8")
        (tools / "sidestream").chmod(0o755)
        path = Path(folder) / "page.md"
        path.write_text(text, encoding="utf-8")
        command = [
            sys.executable,
            str(SCRIPT),
            str(path),
            "--library",
            folder,
            "--include",
            folder,
            "--path",
            str(tools),
        ]
        # Compilers that need no MPI: the blocks below use none.
        command += ["--mpirun", "env", "--cc", "cc", "--cxx", "c++"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


class RunBlocks(unittest.TestCase):
    def accepted(self, text: str, said: str) -> None:
        status, output = run(text)
        self.assertEqual(status, 0, output)
        self.assertIn(said, output)

    def refused(self, text: str, said: str) -> None:
        status, output = run(text)
        self.assertEqual(status, 1, output)
        self.assertIn(said, output)

    def test_blocks_run_in_order_in_one_folder(self) -> None:
        yaml = ("<!-- run: file=a.yaml ranks=3 cube=4 set=h=2 -->", "yaml", "good: 1\n")
        sh = ("<!-- run: lines=out:2 -->", "sh", "cat a.yaml calls >out\n")
        grep = ("<!-- run: -->", "sh", "grep -q 'check a.yaml --ranks 3 --set nx=4 .* --set hz=0.25 --set h=2' calls\n")
        self.accepted(page(yaml, sh, grep), "3 blocks run, 0 not")

    def test_other_languages_need_no_comment(self) -> None:
        self.accepted(
            "```text\nhello\n```\n\n<!-- not run: takes a cluster -->\n```sh\nfalse\n```\n", "0 blocks run, 1 not"
        )

    def test_a_block_without_comment_is_refused(self) -> None:
        self.refused("```sh\ntrue\n```\n", "no comment says how")
        # A comment of another block does not count.
        self.refused(page(("<!-- run: -->", "sh", "true\n")) + "\n```sh\ntrue\n```\n", "page.md:8")

    def test_reasons_and_keys_are_checked(self) -> None:
        self.refused(page(("<!-- not run: -->", "sh", "true\n")), "gives no reason")
        self.refused(page(("<!-- run: rank=3 -->", "sh", "true\n")), "'rank=3' in the run comment")

    def test_failures_are_seen(self) -> None:
        self.refused(page(("<!-- run: -->", "sh", "false\ntrue\n")), "ended with 1")
        self.refused(page(("<!-- run: -->", "yaml", "bad: 1\n")), "run.yaml:1:1: no good")
        self.refused(page(("<!-- run: -->", "python", "raise SystemExit(3)\n")), "ended with 3")
        self.refused(page(("<!-- run: lines=out:2 -->", "sh", "echo one >out\n")), "has 1 lines afterwards, expected 2")
        self.refused(page(("<!-- run: seconds=0.2 -->", "sh", "sleep 20\n")), "timed out")

    def test_expected_failures(self) -> None:
        self.accepted(page(("<!-- run: fails=no_good -->", "yaml", "bad: 1\n")), "1 blocks run")
        self.refused(page(("<!-- run: fails=no_good -->", "yaml", "good: 1\n")), "expected a failure")
        self.refused(page(("<!-- run: fails=another -->", "yaml", "bad: 1\n")), "expected a failure")

    def test_compilers_read_the_block(self) -> None:
        faulty = ("<!-- run: ranks=0 -->", "c", "int f(void) { return undeclared; }\n")
        self.refused(page(faulty), "undeclared")
        self.accepted(page(("<!-- run: ranks=0 -->", "cpp", "auto f() { return 1; }\n")), "1 blocks run")

    def test_excerpts_stand_in_their_file(self) -> None:
        comment = "<!-- from: examples/hello/hello.c -->"
        self.accepted(page((comment, "c", "MPI_Init(&argc, &argv);\n...\n  MPI_Finalize();\n")), "0 blocks run, 1 not")
        self.refused(
            page((comment, "c", "MPI_Finalize();\n...\nMPI_Init(&argc, &argv);\n")), "does not have these lines"
        )
        self.refused(page(("<!-- from: examples/hello/gone.c -->", "c", "return 0;\n")), "which is no file")


if __name__ == "__main__":
    unittest.main()
