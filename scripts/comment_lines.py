"""Finds comments and docstrings in sources of all languages of this repository, for check-prose."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from cpp_source import comments

CPP = {".c", ".h", ".cpp", ".hpp"}
PYTHON = {".py", ".pyi"}
MARKS = dict.fromkeys((".f90", ".f", ".inc"), "!") | dict.fromkeys(
    (".cmake", ".sh", ".yaml", ".yml", ".txt", ".toml", ".pc", "Makefile"), "#"
)

Line = tuple[int, str, bool]  # number, text, and True if a comment begins there whatever stands above


def found_lines(found: Iterator[tuple[int, str]], code: list[str]) -> Iterator[Line]:
    """Lines of comments. Those that stand after code begin by themselves."""
    for first, comment in found:
        for n, line in enumerate(comment.split("\n")):
            yield first + n, line.strip(" \t/*!<>#"), n == 0 and not code[first - 1].lstrip().startswith(line)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all statements in it, without the expressions, which are most of a program."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, name, [])
        for statement in inner if isinstance(inner, list) else []:  # the body of a lambda is an expression
            yield from statements(statement)


def docstring_lines(text: str) -> Iterator[Line]:
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for n, line in enumerate((ast.get_docstring(node, clean=False) or "").split("\n")):
                yield node.body[0].lineno + n, line.strip(), n == 0


def marked(code: list[str], mark: str) -> Iterator[tuple[int, str]]:
    """Comments from a mark to the end of the line: at its beginning, or two spaces after code."""
    for number, line in enumerate(code, 1):
        if match := re.match(rf"(?:\s*|.*?\s\s)({mark}.*)", line):
            yield number, match.group(1)


def comment_lines(path: Path, text: str) -> list[Line]:
    code = text.split("\n")
    kind = Path(path.name.removesuffix(".in")).suffix or path.name  # a template has the language of what it makes
    if kind in CPP:
        return list(found_lines(comments(text), code))
    if kind in PYTHON or re.match("#!.*python", text):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found = ((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)
        return [*found_lines(found, code), *docstring_lines(text)]
    mark = MARKS.get(kind) or ("#" if text.startswith("#!") else None)
    return list(found_lines(marked(code, mark), code)) if mark else []


def blocks(lines: list[Line]) -> Iterator[list[Line]]:
    """Lines that follow each other, each list one comment or one paragraph of it."""
    block: list[Line] = []
    for number, text, begins in lines:
        if block and (begins or not text or number != block[-1][0] + 1):
            yield block
            block = []
        if text:
            block.append((number, text, begins))
    if block:
        yield block
