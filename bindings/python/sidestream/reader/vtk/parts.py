"""What VTK's grids and lists of cells have in common."""

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
    """All arrays by name; one that a section before it has too gets that of its section before its own."""
    found: dict[str, LazyArray] = {}
    for section, arrays in sections.items():
        for name, array in arrays.items():
            found[name if name not in found else f"{section}/{name}"] = array
    return found
