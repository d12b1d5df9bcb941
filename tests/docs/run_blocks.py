"""Runs the code blocks of the documentation, so that what readers copy works.

Usage: run_blocks.py PAGE.md --library DIR --include DIR... [--path DIR ...] [--installed PREFIX]

An invisible comment precedes each block in one of the languages below:

    <!-- run: file=run.yaml ranks=4 set=nx=64 -->     how it is run; the keys are listed below
    <!-- not run: needs a cluster -->                 why it is not
    <!-- from: examples/hello/hello.c -->             it stands in that file, which other tests run

Blocks of one page run in their order in one empty folder, so that a program finds the configuration above it.

    yaml     is saved as `file` and given to `sidestream check` with `ranks` and `set` (name=value, repeatable);
             `cube=32` sets what `oscillators --grid 32` sets;
             `part-of=FRAME` puts it into the file of that name in tests/docs/frames at the line `@BLOCK@`
    sh       runs under `bash -e` with the folders of --path first in PATH; $HOME/sidestream is the installed tree
    c, cpp   is compiled and linked, as it is or within `part-of=FRAME`, and run on `ranks` ranks with the
             argument `with` (a file saved before); `ranks=0` compiles only
    fortran  is compiled, as it is or within `part-of=FRAME`; an `sh` block may build and run it
    python   runs as it is, or within `part-of=FRAME`; with `file` it is saved and compiled, for an `sh` block

A block `from` a file of the repository must consist of lines of that file, except for common indentation. A line `...`
stands for omitted lines.

`fails=TEXT` means that the block must fail and print TEXT (with spaces written as _). `lines=FILE:N` means that FILE
has N lines afterwards. `seconds=N` is the time limit.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

LANGUAGES = {"yaml", "sh", "c", "cpp", "fortran", "python"}
KEYS = {"file", "ranks", "set", "cube", "part-of", "with", "fails", "lines", "seconds"}
ROOT = Path(__file__).resolve().parents[2]
FRAMES = ROOT / "tests" / "docs" / "frames"
FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)(?P=ticks)", re.M | re.S
)
COMMENT = re.compile(r"<!--\s*(?P<what>run|not run|from):?(?P<rest>(?:(?!-->).)*)-->\s*\Z", re.S)
SECONDS = 120


class Failed(Exception):
    """An error that a reader of the page would have met."""


@dataclass
class Block:
    """A fenced block, and the instructions of the comment before it."""

    page: Path
    line: int
    language: str
    text: str
    run: bool
    keys: dict[str, list[str]] = field(default_factory=dict)

    def key(self, name: str, default: str = "") -> str:
        return self.keys.get(name, [default])[-1]

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


@dataclass
class Setting:
    """The folder in which blocks run, and the library for which they are compiled."""

    folder: Path
    home: Path
    library: Path
    include: list[Path]
    path: list[Path]
    mpirun: list[str]
    cc: str
    cxx: str
    fc: str

    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([*map(str, self.path), os.environ["PATH"]])
        return os.environ | {"PATH": path, "HOME": str(self.home)}


def parse_keys(place: str, text: str) -> dict[str, list[str]]:
    keys: dict[str, list[str]] = {}
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if not equals or name not in KEYS:
            raise Failed(f"{place}: '{word}' in the run comment; expected key=value with one of {sorted(KEYS)}")
        keys.setdefault(name, []).append(value)
    return keys


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page in languages that can be run. A block without a comment is an error."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        language = match["language"]
        if language not in LANGUAGES:
            continue
        line = text.count("\n", 0, match.start()) + 1
        comment = COMMENT.search(text, 0, match.start())
        if comment is None:
            raise Failed(
                f"{page}:{line}: no comment says how to run this block; write <!-- run: ... --> or "
                "<!-- not run: why --> before it (see tests/docs/run_blocks.py)"
            )
        place = f"{page.name}:{line}"
        runs = comment["what"] == "run"
        if comment["what"] == "from":
            check_excerpt(place, comment["rest"].strip(), match["text"])
        if not runs and not comment["rest"].strip():
            raise Failed(f"{place}: <!-- not run --> gives no reason")
        indent = len(match["indent"])
        body = "".join(row[indent:] if row.strip() else row for row in match["text"].splitlines(keepends=True))
        found.append(Block(page, line, language, body, runs, parse_keys(place, comment["rest"]) if runs else {}))
    return found


def outdented(lines: list[str]) -> list[str]:
    """The lines without common indentation and trailing blanks."""
    return [line.rstrip() for line in textwrap.dedent("\n".join(lines)).split("\n")]


def check_excerpt(place: str, name: str, text: str) -> None:
    """Fails unless the pieces of `text` between lines `...` stand in the file `name`, in this order."""
    path = ROOT / name
    if not path.is_file():
        raise Failed(f"{place}: the block is from {name}, which is no file")
    there = path.read_text(encoding="utf-8").splitlines()
    position = 0
    for piece in re.split(r"^\s*\.\.\.\s*$", text, flags=re.M):
        lines = outdented(piece.strip("\n").splitlines())
        places = range(position, len(there) - len(lines) + 1)
        found = next((n for n in places if outdented(there[n : n + len(lines)]) == lines), None)
        if found is None:
            raise Failed(f"{place}: {name} does not have these lines, in this order:\n{piece.strip()}")
        position = found + len(lines)


def framed(block: Block) -> str:
    """The block's text, within its frame if it names one."""
    name = block.key("part-of")
    if not name:
        return block.text
    frame = (FRAMES / name).read_text(encoding="utf-8")
    if frame.count("@BLOCK@") != 1:
        raise Failed(f"{block.place}: frame {name} must have one line @BLOCK@")
    return re.sub(r"^.*@BLOCK@.*\n", lambda _: block.text, frame, flags=re.M)


def execute(block: Block, setting: Setting, command: list[str]) -> None:
    """Runs a command in the page's folder. Fails unless it ends as the block demands."""
    done = subprocess.run(
        command,
        cwd=setting.folder,
        env=setting.environment(),
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=float(block.key("seconds", str(SECONDS))),
    )
    expected = block.key("fails").replace("_", " ")
    said = f"{block.place}: {shlex.join(command)}\n{done.stdout}"
    if expected and (done.returncode == 0 or expected not in done.stdout):
        raise Failed(f"{said}\nended with {done.returncode}; expected a failure that says '{expected}'")
    if not expected and done.returncode != 0:
        raise Failed(f"{said}\nended with {done.returncode}")


def run_yaml(block: Block, setting: Setting) -> None:
    name = block.key("file", "run.yaml")
    (setting.folder / name).write_text(framed(block), encoding="utf-8")
    command = ["sidestream", "check", name, "--ranks", block.key("ranks", "4")]
    values = block.keys.get("set", [])
    if cells := block.key("cube", ""):
        values = [*(f"n{axis}={cells}" for axis in "xyz"), *(f"h{axis}={1 / int(cells)}" for axis in "xyz"), *values]
    for value in values:
        command += ["--set", value]
    execute(block, setting, command)


def run_compiled(block: Block, setting: Setting) -> None:
    name = block.key("file", f"block.{block.language}")
    (setting.folder / name).write_text(framed(block), encoding="utf-8")
    compiler = [setting.cc, "-std=c11"] if block.language == "c" else [setting.cxx, "-std=c++20"]
    flags = ["-Wall", "-Wextra", "-Werror", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    flags += [f"-I{folder}" for folder in setting.include]
    if block.key("ranks", "1") == "0":
        execute(block, setting, [*compiler, *flags, "-fsyntax-only", name])
        return
    program = f"./{Path(name).stem}"
    library = [f"-L{setting.library}", f"-Wl,-rpath,{setting.library}", "-lsidestream", "-lm"]
    execute(block, setting, [*compiler, *flags, name, "-o", program, *library])
    command = [*setting.mpirun, "-n", block.key("ranks", "1"), program, *block.keys.get("with", [])]
    execute(block, setting, command)


def run_fortran(block: Block, setting: Setting) -> None:
    """The common part of compiler commands; `flags` belong to one compiler."""
    name = block.key("file", "block.f90")
    (setting.folder / name).write_text(framed(block), encoding="utf-8")
    flags = ["-std=f2008", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    execute(block, setting, [setting.fc, *flags, *(f"-I{folder}" for folder in setting.include), name])


def run_python(block: Block, setting: Setting) -> None:
    name = block.key("file")
    if not name:
        execute(block, setting, [sys.executable, "-c", framed(block)])
        return
    (setting.folder / name).write_text(framed(block), encoding="utf-8")
    execute(block, setting, [sys.executable, "-m", "py_compile", name])


def run_block(block: Block, setting: Setting) -> None:
    if block.language == "yaml":
        run_yaml(block, setting)
    elif block.language == "sh":
        execute(block, setting, ["bash", "-euo", "pipefail", "-c", block.text])
    elif block.language == "fortran":
        run_fortran(block, setting)
    elif block.language == "python":
        run_python(block, setting)
    else:
        run_compiled(block, setting)
    for check in block.keys.get("lines", []):
        name, _, count = check.rpartition(":")
        found = (setting.folder / name).read_text(encoding="utf-8").count("\n")
        if found != int(count):
            raise Failed(f"{block.place}: {name} has {found} lines afterwards, expected {count}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the code blocks of a page.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--library", type=Path, required=True, help="where libsidestream.so is")
    parser.add_argument("--include", type=Path, nargs="+", required=True, help="the public headers, the modules")
    parser.add_argument("--path", type=Path, action="append", default=[], help="programs for sh blocks")
    parser.add_argument("--mpirun", default="mpirun", help="mpirun and its flags")
    parser.add_argument("--cc", default="mpicc")
    parser.add_argument("--cxx", default="mpicxx")
    parser.add_argument("--fc", default="mpifort")
    parser.add_argument("--installed", type=Path, help="the installed tree, to be found as $HOME/sidestream")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        if options.installed:
            (Path(home) / "sidestream").symlink_to(options.installed.resolve())
        setting = Setting(
            folder=Path(folder),
            home=Path(home),
            library=options.library.resolve(),
            include=[folder.resolve() for folder in options.include],
            path=[path.resolve() for path in options.path],
            mpirun=shlex.split(options.mpirun),
            cc=options.cc,
            cxx=options.cxx,
            fc=options.fc,
        )
        try:
            blocks = blocks_of(options.page)
            for block in blocks:
                if block.run:
                    run_block(block, setting)
        except (Failed, OSError, subprocess.TimeoutExpired) as problem:
            print(problem)
            return 1
    ran = sum(block.run for block in blocks)
    print(f"{options.page.name}: {ran} blocks run, {len(blocks) - ran} not")
    return 0


if __name__ == "__main__":
    sys.exit(main())
