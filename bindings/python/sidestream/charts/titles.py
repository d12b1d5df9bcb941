"""Names and units for the axes of a chart, from the record `run.yaml` of the run that wrote the table."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .scales import superscript

# Default names of the files of analyses and their parts.
_DEFAULTS = {
    "histogram": "histogram.csv",
    "histogram2d": "histogram2d-{index:06}.h5",
    "power_spectrum": "power_spectrum.csv",
    "particle_spectrum": "particle_spectrum.csv",
    "statistics": "statistics.csv",
    "mass_function": "mass-function-{index:05}.csv",
    "history": "halo-history.csv",
}
_FOLDERS_UP = 4  # how deep below the record a table may lie
_POWER = re.compile(r"\^(?:\((-?\d+)\)|(-?\d+)(?![\d./]))")  # whole numbers only


def pretty(unit: str) -> str:
    """Writes a unit with raised exponents: g/cm^3 as g/cm³."""
    return _POWER.sub(lambda found: superscript(int(found[1] or found[2])), unit)


@dataclass
class Titles:
    """The entry of the configuration that wrote a table, and the variables that it may name."""

    options: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)

    def title(self, option: str = "variable", default: str = "value") -> str:
        """Returns the label of the variable that an option names, or else its name."""
        name = self.options.get(option)
        about = self.variables.get(name) if isinstance(name, str) else None
        label = about.get("label") if isinstance(about, dict) else None
        return str(label or name or default)

    def unit(self, option: str = "variable") -> str:
        """Returns the unit of the variable that an option names; empty if it has none."""
        name = self.options.get(option)
        about = self.variables.get(name) if isinstance(name, str) else None
        return pretty(str(about.get("unit") or "")) if isinstance(about, dict) else ""


def told(said: dict[str, dict[str, str]]) -> Titles:
    """Makes titles of what the run passes itself: titles and units by the option that names a variable, and other
    options."""
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
    """Gives a file name, the part that writes it, and all options that apply, for an analysis and each of its parts."""
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
    """Reads the configuration from the nearest `run.yaml`. Returns that file's folder, too."""
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
    return path.resolve().parent, {}


def titles_of(path: Path | None) -> Titles:
    """Finds the titles of a table in the record; they are empty if there is no record, or no PyYAML."""
    if path is None or find_spec("yaml") is None:
        return Titles()
    folder, configuration = _record_of(path)
    name = path.resolve().relative_to(folder).as_posix()
    name = name.removesuffix(".series")
    variables: dict[str, Any] = {}
    for several in (configuration.get("variables"), configuration.get("derived")):
        variables |= several if isinstance(several, dict) else {}
    entries = configuration.get("analyses")
    for entry in entries if isinstance(entries, list) else []:
        for kind, options in entry.items() if isinstance(entry, dict) else ():
            for pattern, _, found in _entries(kind, options or {}):
                if _matches(pattern, name):
                    return Titles(found, variables)
    return Titles({}, variables)
