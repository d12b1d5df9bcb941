"""Parses C and C++ sources for the checks in this folder: comments, code without them, and functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_TOKEN = re.compile(
    r"""//[^\n]*            # line comment
      | /\*.*?\*/           # block comment
      | R"(?P<d>[^()\s\\]{0,16})\(.*?\)(?P=d)"   # raw string
      | "(?:\\.|[^"\\\n])*" # string
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'      # character, but not the separator of 0xff'ff
    """,
    re.DOTALL | re.VERBOSE,
)
_OUTLINE = re.compile(r"[\n;{}]")
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


@dataclass(frozen=True)
class Function:
    """A function with a body: the line where its body opens, and the number of lines to its end."""

    line: int
    lines: int
    header: str


@cache
def blank(text: str, keep_strings: bool = False) -> str:
    """Returns `text` with comments (and literals, unless kept) replaced by spaces; line numbers stay."""

    def replace(match: re.Match[str]) -> str:
        token = match.group(0)
        if keep_strings and not token.startswith("/"):
            return token
        return "\n".join(" " * len(line) for line in token.split("\n"))

    return _TOKEN.sub(replace, text)


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each comment, block comments included."""
    for match in _TOKEN.finditer(text):
        if match.group(0).startswith("/"):
            yield text.count("\n", 0, match.start()) + 1, match.group(0)


def functions(text: str) -> Iterator[Function]:
    """Finds function bodies by their braces. Lambdas and nested blocks belong to the function around them."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), blank(text), flags=re.M)
    stack: list[tuple[str, int, str]] = []  # scope, body or value; line; header
    start, line = 0, 1
    for match in _OUTLINE.finditer(code):
        position, character = match.start(), match.group(0)
        if character == "\n":
            line += 1
        elif character == ";":
            start = position + 1
        elif character == "{":
            header = " ".join(code[start:position].split())
            outside = all(kind == "scope" for kind, _, _ in stack)
            if outside and code[position - 1].isidentifier():
                stack.append(("value", line, header))  # a{1} in a constructor's list: the header continues
                continue
            scope = outside and "(" not in header and _SCOPE.search(header)
            stack.append(("scope" if scope else "body", line, header))
            start = position + 1
        elif character == "}" and stack:
            kind, opened, header = stack.pop()
            if kind == "value":
                continue
            if kind == "body" and "(" in header and all(other == "scope" for other, _, _ in stack):
                yield Function(opened, line - opened + 1, header)
            start = position + 1
