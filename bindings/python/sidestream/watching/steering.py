"""Steered parameters of a running session: what they are, and new values (docs/steering.md)."""

import re
from pathlib import Path
from typing import Any

from ..errors import Code, Error
from .mailbox import read_small

FOLDER = ".sidestream-steering"
_LINE = re.compile(r"(?P<name>\S+) = (?P<value>\S+)(?: \((?P<rest>.*)\))?")


def parameters_in(root: Path) -> list[dict[str, Any]] | None:
    """The parameters with their values and ranges; None if no session that can be steered runs in the directory."""
    text = read_small(root / FOLDER / "parameters")
    if text is None:
        return None
    found = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        words = (match["rest"] or "").split(", ")
        bounds = dict(word.split(" ", 1) for word in words[1:] if " " in word)
        found.append(
            {
                "name": match["name"],
                "value": match["value"],
                "type": words[0],
                "from": bounds.get("from"),
                "to": bounds.get("to"),
            }
        )
    return found


def folder_of(root: Path) -> Path:
    """The folder for requests. Raises Error(FILE) if nobody would take them."""
    if parameters_in(root) is None:
        raise Error(
            f"no session that can be steered runs in '{root}': there is no '{root / FOLDER / 'parameters'}'. Declare "
            "parameters under 'steering:' in its configuration",
            Code.FILE,
        )
    return root / FOLDER
