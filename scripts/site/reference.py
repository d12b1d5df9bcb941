"""Pages of the reference, generated from the program and its sources when the site is built. None is committed."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import python_calls

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "sidestream" / "sidestream.h"


def said(command: str, *arguments: str) -> str:
    """Output of the command `sidestream`."""
    done = subprocess.run([command, *arguments], text=True, capture_output=True, check=True, timeout=60)
    return done.stdout


def configuration(command: str) -> str:
    """Every option of the configuration, without the title."""
    return said(command, "reference").split("\n", 1)[1]


def commands(command: str) -> str:
    """The help of `sidestream` and of each of its commands."""
    overview = said(command, "--help")
    names = re.findall(r"^  ([a-z]+)  +[A-Z]", overview.partition("Subcommands:")[2], re.M)
    pages = [f"```text\n{overview.strip()}\n```"]
    for name in names:
        # The last lines, on the exit status, are those of the overview.
        text = said(command, name, "--help").partition("\n\nExit status:")[0]
        pages.append(f"## sidestream {name}\n\n```text\n{text.strip()}\n```")
    return "\n\n".join(pages)


def prose(comment: str) -> str:
    """The text of a C comment as Markdown: names of calls, constants and options as code."""
    text = re.sub(r"^\s*/\*+ ?|\s*\*+/\s*$", "", comment.strip())
    text = re.sub(r"^ ?\* ?", "", text.replace("\n *", "\n*"), flags=re.M).strip()
    if re.search(r"^ {2,}\S", text, re.M):
        return f"```text\n{text}\n```"
    text = re.sub(r"(?<![`\w])((?:sidestream_|SIDESTREAM_)\w+)(?![`\w])", r"`\1`", text)
    return re.sub(r"(?<![`*])\*(?![`*])", r"\\*", text)


class Calls:
    """The declarations of a C header as Markdown, each under its comment."""

    def __init__(self) -> None:
        self.pages: list[str] = []
        self.comment: list[str] = []
        self.said: list[str] = []
        self.code: list[str] = []

    def finish(self) -> None:
        """Ends a group: a comment and the declarations below it."""
        calls = [m[1] for line in self.code if (m := re.match(r"(?!typedef|#)[\w* ]*?\b(sidestream_\w+)\s*\(", line))]
        if calls:
            self.pages.append(f"### {calls[0]}")
        self.pages += self.said
        if self.code:
            self.pages.append("```c\n" + "\n".join(self.code) + "\n```")
        self.said.clear()
        self.code.clear()

    def take_comment(self, line: str) -> None:
        if not self.comment:
            self.finish()
        self.comment.append(line)
        if "*/" in line:
            self.said.append(prose("\n".join(self.comment)))
            self.comment.clear()

    def take(self, line: str) -> None:
        """Handles the next line. Comments within structures are code."""
        within = sum(part.count("{") - part.count("}") for part in self.code) > 0
        section = re.match(r"/\* -{4} (?P<name>.*?) -+ \*/", line)
        if section:
            self.finish()
            self.pages.append(f"## {section['name']}")
        elif self.comment or (line.startswith("/*") and not within and "clang-format" not in line):
            self.take_comment(line)
        elif within or (self.code and line.startswith(" ")) or re.match(r"#|\w", line):
            self.code.append(line)
        elif self.code:
            self.finish()


def calls(header: Path = HEADER) -> str:
    """The declarations of sidestream.h, and of codes.h, which it includes, by the header's own sections."""
    # Omits lines that only the preprocessor and C++ use. Macros with arguments stay, without bodies of many lines.
    text = header.read_text(encoding="utf-8").replace('extern "C" {', "")
    text = text.replace('#include "sidestream/codes.h"\n', header.with_name("codes.h").read_text(encoding="utf-8"))
    text = re.sub(r"^(#define \w+\([^)\n]*\))[^\n]*\\\n(?:[^\n]*\\\n)*[^\n]*\n", r"\1\n", text, flags=re.M)
    text = re.sub(r"^#(?!define \w+\([^\\\n]*\n)(?:.*\\\n)*.*\n", "\n", text, flags=re.M)
    found = Calls()
    for line in text.splitlines():
        found.take(line)
    found.finish()
    return "\n\n".join(found.pages)


def made(name: str, command: str) -> str:
    """The replacement of the comment `<!-- generated: NAME -->`."""
    makers: dict[str, Callable[[], str]] = {
        "configuration": lambda: configuration(command),
        "commands": lambda: commands(command),
        "calls": calls,
        "python": python_calls.calls,
    }
    if name not in makers:
        raise ValueError(f"found 'generated: {name}', expected one of {', '.join(makers)}")
    return makers[name]()


def filled(markdown: str, command: str) -> str:
    """The page with the generated text between `<!-- generated: NAME -->` and `<!-- end generated -->`."""
    pattern = re.compile(r"<!-- generated: (?P<name>\w+) -->.*?<!-- end generated -->", re.S)
    return pattern.sub(lambda match: made(match["name"], command), markdown)
