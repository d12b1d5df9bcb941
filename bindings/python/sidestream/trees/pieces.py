"""Values in cells of trees, which are cut by level: reads only the chunks that contain requested cells."""

import struct
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.decoding import decoded, values_of
from ..errors import Code, Error
from .asked import Context, Piece, Variable
from .compiled import compiled_decoder
from .flags import cut_levels, flags_as, tree_starts
from .links import Links, links_of
from .prediction import Around
from .relations import Relations, relations_of
from .values import BESIDE, PARENTS, decode_values, needs

OF_TREES = ["tree"]  # the list of codecs that stands for the tree codec


@dataclass
class Tree:
    """The cells of a block's tree."""

    refined: NDArray[np.uint8]
    starts: NDArray[np.int64]  # the first cell of each level, and the number of cells
    dimensions: int
    roots: list[int]

    @property
    def levels(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def links(self) -> list[Links]:
        """Links of the levels below the roots."""
        return links_of(self.refined, self.starts, self.dimensions, self.roots)


class TreePieces:
    """Reads values of one context."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._trees: dict[tuple[int, int], Tree] = {}
        self._block: tuple[int, int] | None = None  # the block whose values `_values` has
        self._values: dict[tuple[int, int], NDArray[Any]] = {}  # by variable and chunk

    def tree(self, piece: Piece) -> Tree:
        """Returns the tree of a piece's block. Throws Error(FILE) if its flags were not stored."""
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
            dimensions, roots = int(mesh["dimensions"]), [int(n) for n in mesh["roots"]]
            starts = tree_starts(refined, dimensions, int(np.prod(roots)))
            self._trees[key] = Tree(refined, starts, dimensions, roots)
        return self._trees[key]

    def _mesh(self, piece: Piece) -> dict[str, Any]:
        return list(self.context.meshes.values())[int(piece.block["mesh"])]

    def stored(self, variable: Variable, piece: Piece, number: int) -> tuple[int, bytes]:
        """Returns the number of a chunk's list of codecs (0: none), and its bytes."""
        first = int(piece.row["chunk"])
        rows = piece.tables.chunks[first : first + int(piece.row["chunks"])]
        at = int(piece.row["offset"]) + int(rows["bytes"][:number].astype(np.int64).sum())
        file, row = (piece.tables.group, int(piece.row["segment"])), rows[number]
        what = f"values of '{variable.name}' on block {piece.block['id']}"
        if int(row["encoded"]) > len(variable.codecs):
            raise Error(f"{what}: list {row['encoded']} of codecs, of {len(variable.codecs)}", Code.FILE)
        return int(row["encoded"]), self.context.bytes_at(file, at, int(row["bytes"]), int(row["sum"]), what)

    def read(self, variable: Variable, piece: Piece, first: int, past: int) -> NDArray[Any]:
        """Reads elements like Context.read."""
        if variable.role != "none":
            return self._flags(variable, piece)[first:past]
        cuts, each = self._cuts(variable, piece), variable.components
        begin = int(np.searchsorted(cuts * each, first, "right")) - 1
        end = int(np.searchsorted(cuts * each, past, "left"))
        parts = [self._chunk(variable, piece, cuts, n) for n in range(begin, end)]
        skipped = first - int(cuts[begin]) * each
        return np.concatenate(parts)[skipped : skipped + past - first]

    def _cuts(self, variable: Variable, piece: Piece) -> NDArray[np.int64]:
        tree = self.tree(piece)
        cell = variable.components * variable.dtype.itemsize
        cuts = cut_levels(tree.starts, tree.dimensions, cell, self.context.chunk)
        if len(cuts) - 1 != piece.row["chunks"]:
            raise Error(
                f"{self.context.place}: '{variable.name}' on block {piece.block['id']} is cut into "
                f"{piece.row['chunks']} chunks, its tree into {len(cuts) - 1}; the file is damaged",
                Code.FILE,
            )
        return cuts

    def _flags(self, variable: Variable, piece: Piece) -> NDArray[np.uint8]:
        encoded, data = self.stored(variable, piece, 0)
        if not encoded:
            if len(data) != int(piece.hi[0]):
                raise Error(
                    f"'{variable.name}': {len(data)} flags of a tree, expected {int(piece.hi[0])}; the file is damaged",
                    Code.FILE,
                )
            return np.frombuffer(data, np.uint8)
        if variable.codecs[encoded - 1] != OF_TREES:
            raise Error(f"'{variable.name}': flags of a tree that went through codecs of values", Code.FILE)
        refined = self.tree(piece).refined if variable.role == "owned" else None
        return flags_as(data, variable.role, self._mesh(piece), int(piece.hi[0]), refined)

    def _chunk(self, variable: Variable, piece: Piece, cuts: NDArray[np.int64], number: int) -> NDArray[Any]:
        block = (piece.tables.group, int(piece.row["block"]))
        if self._block != block:
            self._block, self._values = block, {}
        key = (variable.number, number)
        if key in self._values:
            return self._values[key]
        encoded, data = self.stored(variable, piece, number)
        cells = int(cuts[number + 1] - cuts[number])
        size = cells * variable.components * variable.dtype.itemsize
        if encoded and variable.codecs[encoded - 1] == OF_TREES:
            found = _OfTree(self, variable, piece, cuts, number).decoded(data)
            self._values[key] = found  # other variables may need it for their predictions
            return found
        if encoded:
            data = decoded(data, variable.codecs[encoded - 1], variable.dtype, size)
        elif len(data) != size:
            raise Error(f"'{variable.name}': a chunk of {len(data)} bytes, expected {size}", Code.FILE)
        return values_of(data, variable.dtype)

    def companion(self, name: str, piece: Piece) -> tuple[Variable, Piece] | None:
        """Finds a variable that relations name, and its piece on the same block; None if its values are not
        available."""
        variable = self.context.variables.get(name)
        if variable is None or variable.role != "none" or variable.codecs[0] not in ([], OF_TREES):
            return None
        other = self.context.piece_of(variable, piece)
        return (variable, other) if other is not None and other.row["chunks"] else None

    def component(self, variable: Variable, piece: Piece, component: int, first: int, past: int) -> NDArray[Any]:
        """Reads one component in the cells from `first` to `past`."""
        each = variable.components
        values = self.read(variable, piece, first * each, past * each).reshape(-1, each)
        return np.ascontiguousarray(values[:, component])


class _OfTree:
    """A chunk that went through the codec of trees."""

    def __init__(
        self, pieces: TreePieces, variable: Variable, piece: Piece, cuts: NDArray[np.int64], number: int
    ) -> None:
        self.pieces, self.variable, self.piece, self.tree = pieces, variable, piece, pieces.tree(piece)
        self.first, self.past = int(cuts[number]), int(cuts[number + 1])
        starts, children = self.tree.starts, 1 << self.tree.dimensions
        self.level = int(np.searchsorted(starts, self.first, "right")) - 1
        if self.level == 0:
            return
        groups = slice(
            (self.first - int(starts[self.level])) // children, (self.past - int(starts[self.level])) // children
        )
        links, above = self.tree.links[self.level - 1], int(starts[self.level - 1])
        parent = above + links.parent[groups]
        begin = int(np.searchsorted(cuts, parent[0], "right")) - 1
        end = int(np.searchsorted(cuts, parent[-1], "right"))
        self.above = int(cuts[begin]), int(cuts[end])
        self.parent = parent - self.above[0]
        beside = above + links.beside[groups] - self.above[0]
        known = (links.beside[groups] >= 0) & (beside >= 0) & (beside < self.above[1] - self.above[0])
        self.beside = np.where(known, beside, -1)

    def decoded(self, data: bytes) -> NDArray[Any]:
        components, cells = self.variable.components, self.past - self.first
        streams = [data]
        if components > 1:
            heads = 4 * components
            lengths = struct.unpack_from(f"<{components}I", data) if len(data) >= heads else ()
            if sum(lengths) + heads != len(data):
                raise Error(f"'{self.variable.name}': a chunk whose lengths make no sense; it is damaged", Code.FILE)
            ends = np.cumsum([heads, *lengths])
            streams = [data[a:b] for a, b in pairwise(ends)]
        out = np.empty((cells, components), self.variable.dtype.newbyteorder("="))
        for component, stream in enumerate(streams):
            out[:, component] = self._component(stream, component)
        return out.reshape(-1)

    def _relations(self, component: int) -> Relations:
        def components_of(name: str) -> int | None:
            found = self.pieces.companion(name, self.piece)
            return found[0].components if found is not None else None

        of = self.variable
        return relations_of(of.relations, of.name, component, self.tree.dimensions, components_of)

    def _component(self, stream: bytes, component: int) -> NDArray[Any]:
        head, relations = needs(stream), self._relations(component)
        if head.companions >> len(relations.companions) or (head.flags & PARENTS and self.level == 0):
            raise Error(
                f"'{self.variable.name}': a chunk that needs values that there are not; it is damaged", Code.FILE
            )
        around = self._around(relations, component, head.flags) if self.level > 0 else None
        decode = compiled_decoder() or decode_values
        return decode(stream, self.variable.dtype, self.past - self.first, around, relations)

    def _around(self, relations: Relations, component: int, flags: int) -> Around:
        @cache
        def of(number: int, first: int, past: int) -> NDArray[Any]:
            name, own = relations.companions[number]
            found = self.pieces.companion(name, self.piece)
            if found is None or own >= found[0].components:
                raise Error(f"'{self.variable.name}': relations to what is not there; the file is damaged", Code.FILE)
            return self.pieces.component(*found, own, first, past)

        parents = np.empty(0, self.variable.dtype)
        if flags & PARENTS:
            parents = self.pieces.component(self.variable, self.piece, component, *self.above)
        return Around(
            self.tree.dimensions,
            self.parent,
            self.beside if flags & BESIDE else np.full_like(self.beside, -1),
            parents,
            lambda number: of(number, self.first, self.past),
            lambda number: of(number, *self.above),
        )
