"""The graph of folders under src and modules: cycles, includes between analyses, and the closure of each analysis.

Used by check-layers. A folder is named by its path below src, `mesh/cells` say, or from the root: `modules/cosmology`.
A header of the kit (include/sidestream/kit) belongs to the folder of src that has its source.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

# Layers whose folders have an order: no folder includes, directly or through others, one that includes it.
ORDERED = ("mesh", "reduce", "storage", "analysis", "modules", "server", "transport")
# The folder that all analyses may include, and those of modules.
SHARED = "common"
SHARED_IN_MODULES = {
    "modules/cosmology": ("common",),
    "modules/visualisation": ("mesh", "contour", "graphics", "sampling", "extract", "lines"),
}
# Places whose files count in the closure of an analysis.
COUNTED = ("src/analysis/", "src/mesh/", "src/reduce/", "modules/")
MOST_UNITS = 25

Includes = dict[str, list[str]]


KIT = "include/sidestream/kit/"
ROOTS = ("src/", "modules/")


def home(path: str) -> str:
    """Returns the path that a header of the kit would have in src, and other paths unchanged."""
    if not path.startswith(KIT):
        return path
    return "src/" + path.removeprefix(KIT).replace("analysis/", f"analysis/{SHARED}/")


def folder_of(path: str) -> str:
    """The folder of a file: `mesh/cells` for `src/mesh/cells/cell_list.hpp`."""
    return str(PurePosixPath(path).parent).removeprefix("src/")


def place_of(folder: str) -> str:
    """The path of a folder from the root."""
    return folder if folder.startswith("modules/") else f"src/{folder}"


def edges(includes: Includes) -> dict[str, dict[str, str]]:
    """For each folder the folders that it includes, with one including file each."""
    graph: dict[str, dict[str, str]] = {}
    for path, targets in includes.items():
        for target in targets:
            if path.startswith(ROOTS) and target.startswith(ROOTS):
                here, there = folder_of(path), folder_of(target)
                if here != there:
                    graph.setdefault(here, {}).setdefault(there, f'{path}: #include "{target.removeprefix("src/")}"')
    return graph


def reached(graph: dict[str, dict[str, str]], start: str) -> set[str]:
    """All folders that `start` includes, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for there in graph.get(waiting.pop(), {}):
            if there not in found:
                found.add(there)
                waiting.append(there)
    return found


def rings(graph: dict[str, dict[str, str]]) -> Iterator[str]:
    """One line for each include between folders of one layer that is part of a cycle."""
    for here, arrows in sorted(graph.items()):
        layer = here.split("/")[0]
        if layer not in ORDERED:
            continue
        for there, example in sorted(arrows.items()):
            said = there < here and here in graph.get(there, {})
            if not said and there.split("/")[0] == layer and here in reached(graph, there):
                yield f"{example}: {there} includes {here}, too; the folders of {layer} have an order"


def analysis_of(folder: str) -> str:
    """The analysis that a folder belongs to, `analysis/slice` say, or `modules/cosmology/halos`; empty: none."""
    parts = folder.split("/")
    if parts[0] == "analysis" and len(parts) > 1 and parts[1] != SHARED:
        return "/".join(parts[:2])
    if parts[0] != "modules" or len(parts) < 3 or parts[2] in SHARED_IN_MODULES.get("/".join(parts[:2]), ()):
        return ""
    return "/".join(parts[:3])


def between_analyses(graph: dict[str, dict[str, str]]) -> Iterator[str]:
    """One line for each analysis that includes another one's folder, and for each module that includes another one."""
    for here, arrows in sorted(graph.items()):
        for there, example in sorted(arrows.items()):
            mine, other = analysis_of(here), analysis_of(there)
            if mine and other and mine != other:
                yield f"{example}: no analysis includes another one's folder; what both need belongs in a shared folder"


def too_many_units(paths: Iterable[str]) -> Iterator[str]:
    """One line for each folder with more than the allowed number of translation units."""
    units: dict[str, int] = {}
    for path in paths:
        if path.startswith(ROOTS) and path.endswith(".cpp"):
            units[folder_of(path)] = units.get(folder_of(path), 0) + 1
    for folder, count in sorted(units.items()):
        if count > MOST_UNITS:
            yield f"{place_of(folder)}: {count} translation units; a folder has at most {MOST_UNITS}"


def readmes(root: Path, paths: Iterable[str]) -> Iterator[str]:
    """One line for each folder without a README.md, and for each missing file that one names."""
    folders = {folder_of(path) for path in paths if path.startswith(ROOTS)}
    for folder in sorted(folders):
        here = place_of(folder)
        readme = root / here / "README.md"
        if not readme.is_file():
            yield f"{here}: no README.md; say what the folder is, where to begin, and who uses it"
            continue
        kit = root / KIT / folder.replace(f"analysis/{SHARED}", "analysis")
        places = (readme.parent, kit, root / "src", root / "include/sidestream", root)
        for name in re.findall(r"[\w/.-]+\.(?:[ch]pp|md)", readme.read_text(encoding="utf-8")):
            if not any((place / name).is_file() for place in places):
                yield f"{here}/README.md: names {name}, which is not there"


def closure(includes: Includes, analysis: str) -> set[str]:
    """The files of COUNTED places that an analysis includes, with the sources next to the headers."""
    found: set[str] = set()
    waiting = [path for path in includes if analysis_of(folder_of(path)) == analysis]
    while waiting:
        path = waiting.pop()
        if path in found or not path.startswith(COUNTED):
            continue
        found.add(path)
        waiting += includes.get(path, [])
        waiting += [source for source in [path.removesuffix(".hpp") + ".cpp"] if source in includes]
    return found


def closures(includes: Includes, lines: dict[str, int]) -> Iterator[str]:
    """One line for each analysis: the numbers of files and lines that it includes."""
    for name in sorted({analysis_of(folder_of(path)) for path in includes if path.startswith(ROOTS)} - {""}):
        files = closure(includes, name)
        yield f"{name:34} {len(files):4} files {sum(lines[path] for path in files):6} lines"
