"""Common parts of VTK's grids and lists of cells."""

from collections.abc import Mapping
from pathlib import Path

from ...errors import Code, Error
from ..lazy import LazyArray


def components_of(count: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The last dimension of arrays with several components."""
    if count == 1:
        return (), ()
    return ("component" if count == 3 else f"component_{count}",), (count,)


def source_of(path: Path, name: str) -> Path:
    found = path.parent / name
    if not found.is_file():
        raise Error(f"{path}: the file '{name}' with a part is missing beside it; move them together", Code.FILE)
    return found


def named(sections: Mapping[str, Mapping[str, LazyArray]]) -> dict[str, LazyArray]:
    """All arrays by name; a name that an earlier section has too is preceded by that of its section."""
    found: dict[str, LazyArray] = {}
    for section, arrays in sections.items():
        for name, array in arrays.items():
            found[name if name not in found else f"{section}/{name}"] = array
    return found
