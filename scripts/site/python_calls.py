"""The public names of the Python package as Markdown, from its sources: nothing is imported, nothing is built."""

import ast
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / "bindings" / "python" / "sidestream"
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Parsed(NamedTuple):
    """A module of the package: its name below the package, `client.session` say, and its tree."""

    name: str
    tree: ast.Module

    def imported(self, node: ast.ImportFrom) -> str:
        """The name of the module that a relative import means."""
        return ".".join([*self.name.split(".")[: -node.level], node.module])


def parsed(module: str) -> Parsed:
    path = PACKAGE / (module.replace(".", "/") + ".py")
    text = (path if path.is_file() else path.with_suffix(".pyi")).read_text(encoding="utf-8")
    return Parsed(module, ast.parse(text))


def public_names() -> dict[str, str]:
    """Each public name with its module, from the imports of the package's __init__."""
    tree = parsed("__init__").tree
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module]
    found = {name.asname or name.name: node.module for node in imports for name in node.names}
    listed = next(n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__")
    return {name: found[name] for name in ast.literal_eval(listed)}


def signature(node: Function, name: str) -> str:
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return f"```python\n{name}({arguments}){returns}\n```"


def told(node: ast.AST) -> list[str]:
    return [text] if (text := ast.get_docstring(node)) else []


def is_property(node: Function) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("property", "cached_property") for d in node.decorator_list)


def methods(node: ast.ClassDef, module: Parsed) -> list[Function]:
    """Public methods of a class and of its bases in this package."""
    found = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and (known := definition(base.id, module)) is not None:
            found |= {method.name: method for method in methods(*known)}
    found |= {child.name: child for child in node.body if isinstance(child, Function)}
    return [method for name, method in found.items() if not name.startswith("_")]


def definition(name: str, module: Parsed) -> tuple[ast.ClassDef, Parsed] | None:
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node, module
        if isinstance(node, ast.ImportFrom) and node.level > 0 and name in [n.name for n in node.names]:
            return definition(name, parsed(module.imported(node)))
    return None


def class_page(node: ast.ClassDef, module: Parsed) -> list[str]:
    pages = told(node)
    fields = [ast.unparse(child) for child in node.body if isinstance(child, ast.AnnAssign | ast.Assign)]
    made = next((child for child in node.body if isinstance(child, Function) and child.name == "__init__"), None)
    if made is not None and ast.get_docstring(made):
        pages += [signature(made, node.name), *told(made)]
    if fields:
        pages.append("```python\n" + "\n".join(field for field in fields if not field.startswith("_")) + "\n```")
    for method in methods(node, module):
        shown = f"```python\n{method.name}{': ' + ast.unparse(method.returns) if method.returns else ''}\n```"
        pages.append(f"### {node.name}.{method.name}")
        pages += [shown if is_property(method) else signature(method, method.name), *told(method)]
    return pages


def calls() -> str:
    pages = []
    for name, where in public_names().items():
        module = parsed(where)
        node = next(n for n in module.tree.body if isinstance(n, ast.ClassDef | Function) and n.name == name)
        pages.append(f"## {name}")
        pages += class_page(node, module) if isinstance(node, ast.ClassDef) else [signature(node, name), *told(node)]
    return "\n\n".join(pages)
