"""YAML files of Sidestream: metadata, and the record of a run."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Code, Error

_EDGES = [f"{what}{where}" for where in ("", "_x", "_y", "_xy", "_z", "_xz", "_yz", "_xyz") for what in ("min", "max")]
_LO_HI = [f"{end}_{axis}" for end in ("lo", "hi") for axis in "ijk"]
_BOUNDS = [f"{end}_{axis}" for end in ("low", "high") for axis in "xyz"]
# The tables of metadata: the columns of whole numbers, then those of real numbers.
TABLES = {
    "blocks": (["mesh", "id", "level", "client", *_LO_HI], []),
    "lists": (["mesh", "id", "client", "points", "cells", "connectivity", "faces"], []),
    "bounds": (["mesh", "id"], _BOUNDS),
    "ranges": (["block", "variable", "component"], _EDGES),
}


def _table(path: Path, name: str, text: str) -> Any:
    whole, real = TABLES[name]
    rows = [tuple(line.split()) for line in text.splitlines()]
    kind = [(column, np.int64) for column in whole] + [(column, np.float64) for column in real]
    if any(len(row) != len(kind) for row in rows):
        raise Error(f"{path}: a line of `{name}` has not {len(kind)} entries; the file is damaged", Code.FILE)
    return np.array(rows, kind)


def read_yaml(path: Path) -> Any:
    """The content of the file as a dict; tables of metadata as structured arrays."""
    if find_spec("yaml") is None:
        raise Error(f"{path}: YAML is read by PyYAML, which is not installed; install it", Code.FILE)
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        with path.open(encoding="utf-8") as file:
            found = yaml.load(file, loader)
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise Error(f"{path}: this is no YAML that can be read ({problem})", Code.FILE) from problem
    if isinstance(found, dict) and "sidestream_metadata" in found:
        found |= {name: _table(path, name, found[name]) for name in TABLES if name in found}
    return found
