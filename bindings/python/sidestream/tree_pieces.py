"""Values in cells of trees, which are cut by level: of each level as many bytes are read as are asked for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .codecs import decoded, values_of
from .errors import Code, Error
from .tree_flags import cut_levels, flags_as, tree_starts

if TYPE_CHECKING:
    from .stored import Context, Piece, Variable

OF_TREES = ["tree"]  # what stands in a list of codecs


@dataclass(frozen=True)
class Tree:
    """Of a block: which cells it has."""

    refined: NDArray[np.uint8]
    starts: NDArray[np.int64]  # the first cell of each level, and the number of cells

    @property
    def levels(self) -> int:
        return len(self.starts) - 1


class TreePieces:
    """Of a context."""

    def __init__(self, context: "Context") -> None:
        self.context = context
        self._trees: dict[tuple[int, int], Tree] = {}

    def tree(self, piece: "Piece") -> Tree:
        """That of the block of a piece. Throws Error(FILE) if its flags were not stored."""
        key = (piece.tables.group, int(piece.row["block"]))
        if key not in self._trees:
            mesh = self._mesh(piece)
            name = mesh["arrays"].get("refined", "")
            flags = self.context.variables.get(name)
            own = self.context.piece_of(flags, piece) if flags is not None else None
            if flags is None or own is None:
                raise Error(
                    f"{self.context.place}: the flags of refinement of block {piece.block['id']} of '{mesh['name']}' "
                    "are missing, with which its values are read",
                    Code.FILE,
                )
            refined = self.context.read(flags, own)
            starts = tree_starts(refined, int(mesh["dimensions"]), int(np.prod(mesh["roots"])))
            self._trees[key] = Tree(refined, starts)
        return self._trees[key]

    def _mesh(self, piece: "Piece") -> dict[str, Any]:
        return list(self.context.meshes.values())[int(piece.block["mesh"])]

    def _stored(self, variable: "Variable", piece: "Piece", number: int) -> tuple[int, bytes]:
        """Of a chunk what is said of its codecs, and its bytes."""
        first = int(piece.row["chunk"])
        rows = piece.tables.chunks[first : first + int(piece.row["chunks"])]
        at = int(piece.row["offset"]) + int(rows["bytes"][:number].astype(np.int64).sum())
        file, row = (piece.tables.group, int(piece.row["segment"])), rows[number]
        what = f"values of '{variable.name}' on block {piece.block['id']}"
        if int(row["encoded"]) > len(variable.codecs):
            raise Error(f"{what}: list {row['encoded']} of codecs, of {len(variable.codecs)}", Code.FILE)
        return int(row["encoded"]), self.context.bytes_at(file, at, int(row["bytes"]), int(row["sum"]), what)

    def read(self, variable: "Variable", piece: "Piece", first: int, past: int) -> NDArray[Any]:
        """As Context.read."""
        if variable.role != "none":
            return self._flags(variable, piece)[first:past]
        mesh = self._mesh(piece)
        cell = variable.components * variable.dtype.itemsize
        cuts = cut_levels(self.tree(piece).starts, int(mesh["dimensions"]), cell, self.context.chunk)
        if len(cuts) - 1 != piece.row["chunks"]:
            raise Error(
                f"{self.context.place}: '{variable.name}' on block {piece.block['id']} is cut into "
                f"{piece.row['chunks']} chunks, its tree into {len(cuts) - 1}; the file is damaged",
                Code.FILE,
            )
        each = variable.components
        begin = int(np.searchsorted(cuts * each, first, "right")) - 1
        end = int(np.searchsorted(cuts * each, past, "left"))
        parts = [self._chunk(variable, piece, cuts, n) for n in range(begin, end)]
        skipped = first - int(cuts[begin]) * each
        return np.concatenate(parts)[skipped : skipped + past - first]

    def _flags(self, variable: "Variable", piece: "Piece") -> NDArray[np.uint8]:
        encoded, data = self._stored(variable, piece, 0)
        if not encoded:
            return np.frombuffer(data, np.uint8)
        if variable.codecs[encoded - 1] != OF_TREES:
            raise Error(f"'{variable.name}': flags of a tree that went through codecs of values", Code.FILE)
        refined = self.tree(piece).refined if variable.role == "owned" else None
        return flags_as(data, variable.role, self._mesh(piece), int(piece.hi[0]), refined)

    def _chunk(self, variable: "Variable", piece: "Piece", cuts: NDArray[np.int64], number: int) -> NDArray[Any]:
        encoded, data = self._stored(variable, piece, number)
        size = int(cuts[number + 1] - cuts[number]) * variable.components * variable.dtype.itemsize
        if encoded:
            data = decoded(data, variable.codecs[encoded - 1], variable.dtype, size)
        elif len(data) != size:
            raise Error(f"'{variable.name}': a chunk of {len(data)} bytes, expected {size}", Code.FILE)
        return values_of(data, variable.dtype)
