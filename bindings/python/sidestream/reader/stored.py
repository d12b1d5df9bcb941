"""A context of a database: its description, and its decoded and verified values. See docs/database-format.md."""

import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.checksums import is_right
from ..codecs.decoding import decoded, values_of
from ..errors import Code, Error
from ..trees.pieces import TreePieces
from .damages import of_context, reading
from .journal import Removed, Slot, is_removed
from .schema import LISTS, Variable, read_schema
from .table_checks import check_blocks, check_pieces

__all__ = ["Context", "Piece", "Tables", "Variable"]

_NUMBERS = ("group", "segment", "first", "last", "contributors", "unused")
_SIZES = ("offset", "blocks", "pieces", "chunks", "blocks_sum", "rest_sum", "unused_too")
GROUP = np.dtype([*((n, "<u4") for n in _NUMBERS), *((n, "<u8") for n in _SIZES)])
BLOCK = np.dtype(
    [
        *(("id", "<i8"), ("mesh", "<u4"), ("level", "<i4"), ("client", "<i4"), ("kind", "<i4")),
        *((n, "<i8", 3) for n in ("lo", "hi", "lengths")),
        *((n, "<f8", 3) for n in ("low", "high")),
    ]
)
PIECE = np.dtype(
    [(n, "<u4") for n in ("variable", "block", "segment", "chunks")]
    + [(n, "<u8") for n in ("offset", "bytes", "chunk")]
)
CHUNK = np.dtype([("bytes", "<u4"), ("encoded", "<u4"), ("sum", "<u8")])

Box = tuple[NDArray[np.int64], NDArray[np.int64]]  # first index, last index + 1, of i, j, k


def _part_of(path: Path, offset: int, size: int) -> bytes:
    """Reads a part of a file. Returns fewer bytes, without allocating for the rest, where the file ends. Does not
    block: the file may be a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or offset > facts.st_size or size > facts.st_size - offset:
            return b""
        file.seek(offset)
        return file.read(size)


@dataclass(frozen=True)
class Tables:
    """The tables of one group of contributors."""

    group: int
    blocks: NDArray[Any]
    pieces: NDArray[Any]
    chunks: NDArray[Any]


@dataclass(frozen=True)
class Piece:
    """One variable on one block: where its values are stored."""

    tables: Tables
    row: Any
    block: Any
    lo: NDArray[np.int64]  # its points: first index, last index + 1; for a list 0 and its length along i
    hi: NDArray[np.int64]


class Context:
    """A committed context. Tables are read when they are first needed, values on access."""

    def __init__(self, place: Path, slot: Slot) -> None:
        self.place, self.slot = place, slot
        record = self.bytes_at((slot.group, slot.segment), slot.offset, slot.size, slot.checksum, "the record")
        with reading(f"{place}: the record of {self.name}"):
            self._take(record)

    def _take(self, record: bytes) -> None:
        magic, length, groups = struct.unpack_from("<8sQQ", record)
        table = 24 + -(-length // 8) * 8
        if magic != b"SDSRECRD" or len(record) != table + groups * GROUP.itemsize:
            raise ValueError("no record")
        self.schema = read_schema(record[24 : 24 + length].decode())
        self.groups = np.frombuffer(record, GROUP, groups, table)
        inside = (self.groups["first"] <= self.groups["segment"]) & (self.groups["segment"] <= self.groups["last"])
        if not inside.all():
            raise ValueError("tables in no segment of their group")
        self.provenance, self.chunk = self.schema.provenance, self.schema.chunk
        self.meshes, self.variables = self.schema.meshes, self.schema.variables
        self.mesh_numbers = {name: n for n, name in enumerate(self.meshes)}

    @property
    def name(self) -> str:
        """The context's name, for messages."""
        return f"context {self.slot.number} (iteration {self.slot.iteration}, cycle {self.slot.cycle})"

    def is_list(self, mesh: str) -> bool:
        """True if the blocks of a mesh are lists."""
        return self.meshes[mesh]["type"] in LISTS

    def _segment(self, file: tuple[int, int]) -> Path:
        return self.place / f"segment-{self.slot.run:04}-{file[0]:06}-{file[1]:04}.h5"

    def bytes_at(self, file: tuple[int, int], offset: int, size: int, checksum: int, what: str) -> bytes:
        """Bytes of a segment (group, number), verified; `what` describes them in messages. Throws Error(FILE)."""
        path = self._segment(file)
        try:
            data = _part_of(path, int(offset), int(size))
        except OSError as problem:
            # A run that keeps a limited number of contexts announces a removal before it deletes files.
            if is_removed(self.place, self.slot.number):
                raise Removed(
                    f"{self.place}: {self.name} was removed by a run that writes at the same time; open it again",
                    Code.FILE,
                ) from problem
            raise Error(f"{path}: {what} of {self.name} cannot be read ({problem})", Code.FILE) from problem
        if len(data) != size or not is_right(data, int(checksum)):
            raise Error(
                f"{path}: {what} of {self.name}, {size} bytes at {offset}, are not what was written; "
                "see `sidestream verify`",
                Code.FILE,
            )
        return data

    @cached_property
    def tables(self) -> list[Tables]:
        """The tables of all groups."""
        with reading(f"{self.place}: {self.name}"):
            return [self._tables(group) for group in self.groups]

    def _tables(self, group: Any) -> Tables:
        file = (int(group["group"]), int(group["segment"]))
        size = int(group["blocks"]) * BLOCK.itemsize
        blocks = self.bytes_at(file, group["offset"], size, group["blocks_sum"], "the blocks")
        pieces, chunks = int(group["pieces"]), int(group["chunks"])
        rest_size = pieces * PIECE.itemsize + chunks * CHUNK.itemsize
        rest = self.bytes_at(file, int(group["offset"]) + size, rest_size, group["rest_sum"], "the tables")
        found = Tables(
            file[0],
            np.frombuffer(blocks, BLOCK),
            np.frombuffer(rest, PIECE, pieces),
            np.frombuffer(rest, CHUNK, chunks, pieces * PIECE.itemsize),
        )
        check_blocks(found.blocks, self.schema)
        check_pieces(found.pieces, found.chunks, found.blocks, group, self.schema)
        return found

    @of_context
    def blocks(self, mesh: str) -> NDArray[Any]:
        """The blocks of a mesh, by level and id."""
        number = self.mesh_numbers[mesh]
        found = np.concatenate([t.blocks[t.blocks["mesh"] == number] for t in self.tables] or [np.empty(0, BLOCK)])
        return found[np.lexsort((found["id"], found["level"]))]

    def points(self, variable: Variable, block: Any) -> Box:
        """The indices of a variable's points on a block."""
        if block["kind"] == 1:
            points, corners, faces = block["lengths"]
            lists = {"connectivity": corners, "faces": faces}
            count = lists.get(variable.role, points if variable.centering else block["hi"][0])
            return np.array([0, 0, 0]), np.array([int(count), 1, 1])
        lacks = int(block["kind"]) >> np.array([1, 2, 3]) & 1  # upper nodes that are the next block's
        return block["lo"].astype(np.int64), block["hi"] + variable.nodes * (1 - lacks)

    @of_context
    def pieces(self, variable: Variable, level: int | None = None) -> list[Piece]:
        """All pieces of a variable, by ascending id of their blocks; of one level, or of all."""
        found = []
        for tables in self.tables:
            numbers = tables.pieces["variable"]  # in ascending order
            first, past = np.searchsorted(numbers, [variable.number, variable.number + 1])
            for row in tables.pieces[first:past]:
                block = tables.blocks[row["block"]]
                if level is None or block["level"] == level:
                    found.append(Piece(tables, row, block, *self.points(variable, block)))
        return sorted(found, key=lambda piece: int(piece.block["id"]))

    def shape(self, variable: Variable, lo: NDArray[np.int64], hi: NDArray[np.int64]) -> tuple[int, ...]:
        """The shape of an array over these points, components last: axes i, j, k in row order, k, j, i
        in column order."""
        extents = [int(n) for n in hi - lo]
        return (*(extents if variable.order == "row" else extents[::-1]), variable.components)

    @of_context
    def read(self, variable: Variable, piece: Piece, first: int = 0, past: int | None = None) -> NDArray[Any]:
        """Elements `first` to `past` of a piece in the order of storage. The chunks that contain them are verified and
        decoded as a whole."""
        width = variable.dtype.itemsize
        size = int(np.prod(piece.hi - piece.lo)) * variable.components * width
        past = size // width if past is None else past
        if past <= first:
            return np.empty(0, variable.dtype.newbyteorder("="))
        if piece.row["chunks"]:
            return self.trees.read(variable, piece, first, past)
        begin, end = first * width // self.chunk, -(-past * width // self.chunk)
        parts = [part for _, part in self._chunks(variable, piece, size, begin, end)]
        skipped = first * width - begin * self.chunk
        return values_of(b"".join(parts)[skipped : skipped + (past - first) * width], variable.dtype)

    @cached_property
    def trees(self) -> TreePieces:
        """The reader of values that are cut by level."""
        return TreePieces(self)

    def piece_of(self, variable: Variable, like: Piece) -> Piece | None:
        """The piece of another variable on the same block."""
        rows = like.tables.pieces
        found = np.flatnonzero((rows["variable"] == variable.number) & (rows["block"] == like.row["block"]))
        if not len(found):
            return None
        return Piece(like.tables, rows[found[0]], like.block, *self.points(variable, like.block))

    def _chunks(self, variable: Variable, piece: Piece, size: int, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        rows = piece.tables.chunks[int(piece.row["chunk"]) :]
        at = int(piece.row["offset"]) + int(rows["bytes"][:begin].astype(np.int64).sum())
        file = (piece.tables.group, int(piece.row["segment"]))
        what = f"values of '{variable.name}' on block {piece.block['id']}"
        for n in range(begin, end):
            row = rows[n]
            data = self.bytes_at(file, at, int(row["bytes"]), int(row["sum"]), what)
            at += int(row["bytes"])
            raw = min(self.chunk, size - n * self.chunk)
            number = int(row["encoded"])
            if number > len(variable.codecs):
                raise Error(
                    f"{what}: chunk {n} went through list {number} of codecs, of which there are "
                    f"{len(variable.codecs)}; the file is damaged, or of a newer version",
                    Code.FILE,
                )
            yield n, decoded(data, variable.codecs[number - 1], variable.dtype, raw) if number else data

    def verify(self) -> None:
        """Reads everything. Throws Error(FILE) at the first damage."""
        for group in self.groups:
            for number in range(int(group["first"]), int(group["last"]) + 1):
                path = self._segment((int(group["group"]), number))
                if not path.exists():  # a range without end soon finds its first gap
                    raise Error(f"{path}: this segment of {self.name} is missing", Code.FILE)
        for variable in self.variables.values():
            for piece in self.pieces(variable):
                self.read(variable, piece)
