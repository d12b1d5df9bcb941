"""Questions to a running session: analyses that are not in its configuration, once or from now on. `sidestream.ask`."""

import json
import os
import secrets
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..errors import Code, Error
from .mailbox import LONGEST, ask_in, read_small

FOLDER = ".sidestream-requests"
# Files of what is asked for are in this folder of the output directory.
BELOW = "asked/"
ANALYSIS, END = "analysis", "end"
# The ending of an analysis' file; a question without a file gets a name of its own.
ENDINGS = {
    **dict.fromkeys(("render",), ".png"),
    **dict.fromkeys(("slice", "isosurface", "streamlines"), ".vtp"),
    **dict.fromkeys(("threshold", "clip"), ".vtu"),
    **dict.fromkeys(("projection", "resample"), ".h5"),
    **dict.fromkeys(("histogram", "histogram2d", "statistics", "power_spectrum", "probe"), ".csv"),
}
TABLES = ("statistics", "histogram", "histogram2d", "power_spectrum", "probe")


def record_in(root: Path) -> dict[str, Any] | None:
    """The record of what a session can be asked; None if it takes no questions."""
    text = read_small(root / FOLDER / "record")
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def folder_of(root: Path) -> Path:
    """The folder for questions. Raises Error(FILE) if nobody would take them."""
    if not (root / FOLDER / "record").is_file():
        raise Error(
            f"no session that takes questions runs in '{root}': there is no '{root / FOLDER / 'record'}'. Write "
            "'live: {requests: yes}' into its configuration",
            Code.FILE,
        )
    return root / FOLDER


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        import yaml
    except ImportError as problem:
        raise Error("the question is no JSON; YAML is read by PyYAML, which is not installed") from problem
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as problem:
        raise Error(f"the question is neither JSON nor YAML ({' '.join(str(problem).split())[:200]})") from problem
    # An entry may be copied from a configuration with its dash.
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def _checked(kind: str, options: Any, known: list[str]) -> dict[str, Any]:
    if known and kind not in known:
        near = get_close_matches(kind, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise Error(f"the analysis '{kind}' is unknown, expected one of {', '.join(known)}{hint}")
    if not isinstance(options, dict):
        raise Error(f"'{kind}' has no options, expected a map, such as {{{kind}: {{variable: temperature}}}}")
    return options


def _check_file(name: Any) -> None:
    if not isinstance(name, str) or not name.startswith(BELOW) or ".." in name.split("/"):
        raise Error(f"the file '{name}' lies elsewhere, expected one below {BELOW}: write {BELOW}NAME")


def _named(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """Gives a file to an analysis that has none, and refuses files elsewhere."""
    if "file" not in options and kind in ENDINGS:
        several = "every" in options and kind not in TABLES
        part = "-{index:05}" if several else ""
        options = {**options, "file": f"{BELOW}{kind}-{secrets.token_hex(3)}{part}{ENDINGS[kind]}"}
    if "file" in options:
        _check_file(options["file"])
    for inner in (options, options.get("camera"), *(v for k, v in options.items() if k.endswith("image"))):
        for place in inner if isinstance(inner, list) else [inner]:
            if isinstance(place, dict) and "file" in place:
                _check_file(place["file"])
    return options


def entry_of(analysis: Mapping[str, Any] | str, known: list[str] | None = None) -> str:
    """An entry of `analyses:` as one line, with a file if it names none. Raises Error for what is no such entry."""
    entry = _parsed(analysis) if isinstance(analysis, str) else dict(analysis)
    if not isinstance(entry, dict) or len(entry) != 1:
        raise Error(
            "the question is no entry of 'analyses:', expected one analysis with its options, such as "
            "{render: {slice: {variable: temperature, axis: z}}}"
        )
    (kind, options) = next(iter(entry.items()))
    options = _named(str(kind), _checked(str(kind), options, known or []))
    try:
        line = json.dumps({str(kind): options}, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise Error(f"the question holds what is no number, text, list or map ({problem})") from problem
    if len(line.encode()) > LONGEST - len(ANALYSIS) - 2:
        raise Error(f"the question has {len(line.encode())} bytes, expected at most {LONGEST - len(ANALYSIS) - 2}")
    return line


def question(root: Path, analysis: Mapping[str, Any] | str) -> tuple[Path, str, str]:
    """The folder, and both lines of a request for an analysis, or, for a text `end NAME`, for the end of one."""
    folder = folder_of(root)
    words = analysis.split() if isinstance(analysis, str) else []
    if len(words) == 2 and words[0] == END:
        return folder, END, words[1]
    known = (record_in(root) or {}).get("analyses")
    return folder, ANALYSIS, entry_of(analysis, known if isinstance(known, list) else None)


def ask(directory: str | os.PathLike[str], analysis: Mapping[str, Any] | str, wait: float = 60) -> str:
    """Asks the session that runs in an output directory for an analysis that is not in its configuration.

    `analysis` is an entry of `analyses:`, as a dict or a text: {"render": {"slice": {"variable": "t", "axis": "z"}}}.
    Without `every` it runs once, on the last iteration if its variables are held (`live: {hold: ...}`), otherwise in
    the next iteration that has them. With `every` it goes on, and the answer has its name; "end NAME" ends it. Files
    are below `asked/` of the output directory.

    Returns the answer, a sentence that begins with `delivered:`, `accepted:`, `refused:` or `failed:`. Raises Error if
    no session takes questions there, or none answered in `wait` seconds."""
    return ask_in(*question(Path(directory), analysis), wait)
