"""The package has no import circles, no part imports one above it, and every public name exists."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sidestream

PACKAGE = Path(__file__).resolve().parents[2] / "bindings" / "python" / "sidestream"
PARTS = {  # the parts that each part may import, besides itself and the modules at the top
    "codecs": set(),
    "trees": {"codecs"},
    "reader": {"trees", "codecs"},
    "client": {"reader"},
    "exporters": {"reader"},
    "charts": {"reader"},
    "watching": {"reader"},
    "records": {"watching", "exporters", "reader"},
    "serving": {"client"},
    "paraview": set(),
    "vtk": {"paraview", "reader"},
}
# Modules at the top that parts may import: errors, and compiled modules.
BELOW_ALL = {"sidestream.errors", "sidestream._client", "sidestream._servers"}


def modules_of(folder):
    """The files by dotted name."""
    found = {}
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name, path, known):
    """The modules of the package that a module imports anywhere: at its top, in functions, or only for types."""
    found = set()
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            named = {f"{source}.{alias.name}" for alias in node.names}
            found |= {full if full in known else source for full in named}
    return found & set(known)


def graph_of(folder):
    known = modules_of(folder)
    return {name: imports_of(name, path, known) for name, path in known.items()}


def circle_in(graph):
    """The names of one circle, or nothing."""
    done, path = set(), []

    def from_here(name):
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        path.append(name)
        found = next(filter(None, map(from_here, sorted(graph[name]))), [])
        path.pop()
        done.add(name)
        return found

    return next(filter(None, map(from_here, sorted(graph))), [])


def part_of(name):
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in PARTS else None


def test_no_import_circles():
    graph = graph_of(PACKAGE)
    assert len(graph) > 60 and "sidestream.reader.lazy" in graph["sidestream.reader.database"]
    assert circle_in(graph) == []


@pytest.mark.parametrize(
    "text", ["from . import b\n", "def f():\n    from .b import x\n", "if TYPE_CHECKING:\n    import made.b\n"]
)
def test_a_circle_is_found(tmp_path, text):
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .c import y\n")
    (folder / "a.py").write_text(text)
    (folder / "b.py").write_text("from .c import y\n")
    (folder / "c.py").write_text("y = 1\n")
    assert circle_in(graph_of(folder)) == []
    (folder / "c.py").write_text("from made.a import x\n")
    assert sorted(circle_in(graph_of(folder))) == ["made.a", "made.b", "made.c"]


def test_parts_import_only_what_is_below_them():
    wrong = []
    for name, imported in graph_of(PACKAGE).items():
        own = part_of(name)
        for other in imported if own else ():
            above = part_of(other) not in {own, *PARTS[own]} if part_of(other) else other not in BELOW_ALL
            wrong += [f"{name} imports {other}"] if above else []
    assert wrong == []


def test_every_part_says_what_it_is():
    folders = {path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE}
    assert {folder.name for folder in folders if folder.parent == PACKAGE} == set(PARTS)
    for folder in folders:
        said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert "Entry:" in said and "May use:" in said and "May be used by:" in said, folder


def test_no_part_hides_a_public_name():
    assert not set(PARTS) & set(sidestream.__all__)


def test_every_public_name_is_there():
    """No module hides a public function, even after all modules were imported (in a separate process)."""
    code = (
        "import importlib, sidestream\n"
        "for name in ('analysis', 'codecs', 'command', 'errors', 'exporters.exporting', 'reader.opening'):\n"
        "    importlib.import_module(f'sidestream.{name}')\n"
        "from sidestream.analysis import Block, Data, Servers, Whole\n"
        "for name in sidestream.__all__:\n"
        "    assert callable(getattr(sidestream, name)), name\n"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
