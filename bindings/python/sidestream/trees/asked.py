"""The interface of contexts that trees need; classes of the reader implement it."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Variable(Protocol):
    """A variable with values in cells of trees."""

    @property
    def number(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def components(self) -> int: ...
    @property
    def role(self) -> str: ...
    @property
    def codecs(self) -> list[list[str]]: ...
    @property
    def relations(self) -> dict[str, Any]: ...


class Piece(Protocol):
    """A variable on one block, by its rows in the tables of a group of contributors."""

    @property
    def tables(self) -> Any: ...
    @property
    def row(self) -> Any: ...
    @property
    def block(self) -> Any: ...
    @property
    def hi(self) -> NDArray[np.int64]: ...


class Context(Protocol):
    """A context, which reads bytes and values that are not cut by level."""

    place: Path
    chunk: int
    meshes: dict[str, dict[str, Any]]
    variables: dict[str, Any]

    def bytes_at(self, file: tuple[int, int], offset: int, size: int, checksum: int, what: str) -> bytes: ...
    def piece_of(self, variable: Any, like: Any) -> Any: ...
    def read(self, variable: Any, piece: Any, first: int = 0, past: int | None = None) -> NDArray[Any]: ...
