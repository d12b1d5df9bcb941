"""Checks of a context's tables, before anything is read with them: docs/database-format.md, "Tables"."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .schema import LISTS, Schema

MOST_INDEX, MOST_LISTS, MOST_PACKED = 1 << 62, 16, 1 << 26

Rows = NDArray[Any]


def _need(sound: Any, what: str) -> None:
    if not np.all(sound):
        raise ValueError(f"{what} in a table")


def _kinds(blocks: Rows, meshes: list[Any], is_list: Rows) -> Rows:
    """1 for lists; for boxes of owned points 2, 4 and 8 for the axes whose upper nodes are the next block's."""
    ends = np.array([mesh["cells"][1] for mesh in meshes], np.int64).reshape(-1, 3)[blocks["mesh"]]
    periodic = np.array([mesh["periodic"] for mesh in meshes], np.bool_).reshape(-1, 3)[blocks["mesh"]]
    used = [[a < mesh["dimensions"] and "points" in mesh for a in range(3)] for mesh in meshes]
    owned = np.array(used, np.bool_).reshape(-1, 3)[blocks["mesh"]]
    return is_list + (owned & (periodic | (blocks["hi"] < ends))) @ np.array([2, 4, 8])


def check_blocks(blocks: Rows, schema: Schema) -> None:
    """Raises ValueError if a block is invalid."""
    meshes = list(schema.meshes.values())
    _need(blocks["mesh"] < len(meshes), "a block on no mesh")
    is_list = np.array([mesh["type"] in LISTS for mesh in meshes], np.bool_)[blocks["mesh"]]
    finest = np.array([len(mesh["refinement"]) for mesh in meshes], np.int64)[blocks["mesh"]]
    _need((blocks["kind"] == _kinds(blocks, meshes, is_list)) & (blocks["level"] >= 0), "a block of a wrong kind")
    _need(is_list | (blocks["level"] <= finest), "a block on a level that its mesh has not")
    for name in ("lo", "hi"):
        _need((blocks[name] >= -MOST_INDEX) & (blocks[name] <= MOST_INDEX), "a block that is nowhere")
    _need((blocks["lengths"] >= 0) & (blocks["lengths"] <= MOST_INDEX), "a block of wrong lengths")


def _extents(pieces: Rows, blocks: Rows, schema: Schema) -> Rows:
    """The extents of the points of pieces: an entry along each axis."""
    variables = list(schema.variables.values())
    on, of = blocks[pieces["block"]], pieces["variable"]
    nodes = np.array([v.nodes for v in variables], np.int64).reshape(-1, 3)[of]
    lacks = on["kind"][:, None] >> np.array([1, 2, 3]) & 1
    extents = on["hi"] - on["lo"] + nodes * (1 - lacks)
    lists = on["kind"] == 1
    points = np.array([v.centering != 0 for v in variables], np.bool_)[of]
    count = np.where(points, on["lengths"][:, 0], on["hi"][:, 0])
    for role, entry in (("connectivity", 1), ("faces", 2)):
        has = np.array([v.role == role for v in variables], np.bool_)[of]
        count = np.where(has, on["lengths"][:, entry], count)
    one = np.ones_like(count)
    return np.where(lists[:, None], np.stack([count, one, one], axis=1), extents)


def _bytes(pieces: Rows, blocks: Rows, schema: Schema) -> Rows:
    variables = list(schema.variables.values())
    width = np.array([v.dtype.itemsize * v.components for v in variables], np.int64)[pieces["variable"]]
    extents = _extents(pieces, blocks, schema)
    _need(extents >= 0, "a piece of fewer points than none")
    _need(np.prod(extents.astype(np.float64), axis=1) * width < 2.0**62, "sizes beyond 64 bits")
    return np.prod(extents, axis=1) * width


def _may_be_cut(pieces: Rows, sizes: Rows, schema: Schema) -> Rows:
    """True for pieces that may give their own number of chunks. More chunks than bytes would be read for nothing."""

    def may(v: Any) -> tuple[bool, bool]:
        mesh = schema.meshes[v.mesh]
        tree = mesh["type"] == "octree" and "refined" in mesh["arrays"]
        return tree and v.role == "none" and v.centering == 0, tree and v.role != "none"

    kinds = np.array([may(v) for v in schema.variables.values()], np.bool_).reshape(-1, 2)[pieces["variable"]]
    values, flags = kinds[:, 0], kinds[:, 1]
    counts = pieces["chunks"].astype(np.int64)
    return (values & (counts <= sizes)) | (flags & (counts == 1) & (sizes <= MOST_PACKED) & (sizes >= 1))


def check_pieces(pieces: Rows, chunks: Rows, blocks: Rows, group: Any, schema: Schema) -> None:
    """Raises ValueError if a piece refers to nothing, or does not have the chunks that fill it."""
    _need(pieces["variable"] < len(schema.variables), "a piece of nothing")
    _need(pieces["block"] < len(blocks), "a piece of nothing")
    if not len(pieces):
        return
    key = pieces["variable"].astype(np.uint64) << np.uint64(32) | pieces["block"]
    _need(key[1:] > key[:-1], "pieces in the wrong order")
    numbers = {name: n for n, name in enumerate(schema.meshes)}
    mesh_of = np.array([numbers[v.mesh] for v in schema.variables.values()], np.int64)
    _need(mesh_of[pieces["variable"]] == blocks["mesh"][pieces["block"]], "a piece on the wrong mesh")
    inside = (pieces["segment"] >= group["first"]) & (pieces["segment"] <= group["last"])
    _need(inside, "a piece in no segment of the context")
    sizes, own = _bytes(pieces, blocks, schema), pieces["chunks"] != 0
    _need(~own | _may_be_cut(pieces, sizes, schema), "a piece that cannot be cut by level")
    counts = np.where(own, pieces["chunks"].astype(np.int64), -(-sizes // schema.chunk))
    first = pieces["chunk"]
    _need(first <= len(chunks), "a piece of no chunks")
    first = first.astype(np.int64)
    _need(counts <= len(chunks) - first, "a piece of no chunks")
    _need(counts.sum() <= len(chunks), "a chunk of two pieces")
    _check_chunks(pieces, chunks, first, counts, sizes, schema.chunk)


def _check_chunks(pieces: Rows, chunks: Rows, first: Rows, counts: Rows, sizes: Rows, chunk: int) -> None:
    ends = np.concatenate([[0], np.cumsum(chunks["bytes"].astype(np.int64))])
    _need(ends[first + counts] - ends[first] == pieces["bytes"].astype(np.int64), "a piece of the wrong length")
    piece = np.repeat(np.arange(len(pieces)), counts)
    within = np.arange(len(piece)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = chunks[first[piece] + within]
    _need(rows["encoded"] <= MOST_LISTS, "a chunk of an unknown kind")
    plain = (rows["encoded"] == 0) & (pieces["chunks"][piece] == 0)
    length = np.minimum(chunk, sizes[piece] - within * chunk)
    _need(~plain | (rows["bytes"] == length), "a chunk of the wrong length")
