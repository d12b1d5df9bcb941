"""Names and units of what a table counts, from the record `run.yaml` of the run that wrote it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .scales import superscript

# The names of files that a configuration leaves out: of analyses, and of their parts.
_DEFAULTS = {
    "histogram": "histogram.csv",
    "histogram2d": "histogram2d-{index:06}.h5",
    "power_spectrum": "power_spectrum.csv",
    "particle_spectrum": "particle_spectrum.csv",
    "statistics": "statistics.csv",
    "mass_function": "mass-function-{index:05}.csv",
    "history": "halo-history.csv",
}
_FOLDERS_UP = 4  # that a table may lie below the record
_POWER = re.compile(r"\^\(?(-?\d+)\)?")


def pretty(unit: str) -> str:
    """A unit with its exponents raised: g/cm^3 is g/cm³."""
    return _POWER.sub(lambda found: superscript(int(found[1])), unit)


@dataclass
class Titles:
    """The entry of the configuration that wrote a table, and the variables that it may name."""

    options: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)

    def title(self, option: str = "variable", default: str = "value") -> str:
        """The label, or the name, of the variable that an option names."""
        name = self.options.get(option)
        about = self.variables.get(name) if isinstance(name, str) else None
        label = about.get("label") if isinstance(about, dict) else None
        return str(label or name or default)

    def unit(self, option: str = "variable") -> str:
        """That variable's unit; empty if it has none."""
        name = self.options.get(option)
        about = self.variables.get(name) if isinstance(name, str) else None
        return pretty(str(about.get("unit") or "")) if isinstance(about, dict) else ""


def told(said: dict[str, dict[str, str]]) -> Titles:
    """What the run itself says: titles and units by the options that name variables, and other options."""
    names = {**said.get("title", {}), **said.get("unit", {})}
    variables = {
        name: {"label": said.get("title", {}).get(name, ""), "unit": said.get("unit", {}).get(name, "")}
        for name in names
    }
    return Titles({**{name: name for name in names}, **said.get("option", {})}, variables)


def _matches(pattern: str, name: str) -> bool:
    # A resumed run adds -v1 and so on; pieces and other formats have another ending.
    whole = ".*".join(re.escape(part) for part in re.split(r"\{[^{}]*\}", re.sub(r"\.\w+$", "", pattern)))
    return re.fullmatch(whole + r"(-v\d+)?\.\w+", name) is not None


def _entries(kind: str, options: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """For an analysis and each of its parts: names of files, the part, and all options that apply to it."""
    if not isinstance(options, dict):
        return
    named = {key: value for key, value in options.items() if isinstance(value, str) and key.endswith("file")}
    if "file" not in named and kind in _DEFAULTS:
        named["file"] = _DEFAULTS[kind]
    yield from ((pattern, kind, options) for pattern in named.values())
    inherited = {key: value for key, value in options.items() if key != "file" and not isinstance(value, dict)}
    for key, value in options.items():
        if isinstance(value, dict) and key != "image":
            yield from _entries(key, {**inherited, **value})


def _record_of(path: Path) -> tuple[Path, dict[str, Any]]:
    """The configuration in the nearest `run.yaml`, and its folder."""
    import yaml

    for folder in list(path.resolve().parents)[:_FOLDERS_UP]:
        record = folder / "run.yaml"
        if not record.is_file():
            continue
        try:
            text = yaml.safe_load(record.read_text(encoding="utf-8")).get("configuration")
            found = yaml.safe_load(text)
        except (yaml.YAMLError, AttributeError, TypeError, ValueError, OSError):
            return folder, {}
        return folder, found if isinstance(found, dict) else {}
    return path.parent, {}


def titles_of(path: Path | None) -> Titles:
    """What the record says of a table; nothing where there is none, or without PyYAML."""
    if path is None or find_spec("yaml") is None:
        return Titles()
    folder, configuration = _record_of(path)
    name = path.resolve().relative_to(folder.resolve()).as_posix()
    name = name.removesuffix(".series")
    variables = {**(configuration.get("variables") or {}), **(configuration.get("derived") or {})}
    for entry in configuration.get("analyses") or []:
        for kind, options in entry.items() if isinstance(entry, dict) else ():
            for pattern, _, found in _entries(kind, options or {}):
                if _matches(pattern, name):
                    return Titles(found, variables)
    return Titles({}, variables)
