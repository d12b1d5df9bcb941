"""Paths of files that may be served: those in the output directory, and nothing else."""

from pathlib import Path, PurePosixPath

from ..errors import Code, Error


def relative_of(name: str) -> str | None:
    """The name in its plain form; None if it leaves the directory, or a part of it is hidden."""
    if "\0" in name or "\\" in name:
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or not parts or any(part.startswith(".") for part in parts):
        return None
    return str(PurePosixPath(*parts))


def file_in(root: Path, name: str) -> Path:
    """The path of a file in the directory. Raises Error(FILE) if it is hidden, is none, or lies elsewhere."""
    plain = relative_of(name)
    if plain is None:
        raise Error(f"'{name}' is no name of a file that is shown; expected one below the output directory", Code.FILE)
    base = root.resolve()
    try:
        path = (base / plain).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as problem:
        raise Error(f"'{name}' is not there", Code.FILE) from problem
    if not path.is_relative_to(base) or any(part.startswith(".") for part in path.relative_to(base).parts):
        raise Error(f"'{name}' is a link to a place that is not shown", Code.FILE)
    if not path.is_file():
        raise Error(f"'{name}' is no file", Code.FILE)
    return path
