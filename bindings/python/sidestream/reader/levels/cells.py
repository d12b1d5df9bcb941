"""Lists the cells of each level. A cell that several blocks have occurs once."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import Code, Error
from .morton import morton_keys
from .sources import BlockOf, RefinedMesh, Source

NOBODY = -1


@dataclass(frozen=True)
class Cells:
    """The cells of a level. Their values are at `place` in block number `block` of all."""

    index: NDArray[np.int64]  # (i, j, k) on the level
    refined: NDArray[np.bool_]  # finer cells lie in it
    owner: NDArray[np.int64]  # the id of the block that it counts in, or NOBODY
    block: NDArray[np.int64]
    place: NDArray[np.int64]
    holder: NDArray[np.int64]  # the id of the block with its values
    owned: NDArray[np.bool_]  # a block owns it; ids of parts of blocks are negative, and may be NOBODY

    @property
    def as_leaves(self) -> "Cells":
        """Makes the level a deepest one: refined cells count, in the block whose values are taken."""
        owner = np.where(self.refined, self.holder, self.owner)
        return replace(self, refined=np.zeros_like(self.refined), owner=owner, owned=self.owned | self.refined)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """True for leaves that a block owns: together they cover the mesh, each place once."""
        return ~self.refined & self.owned


def boxes_without(box: NDArray[np.int64], hole: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Subtracts a box from a box [lo, hi]; the result is a list of boxes that do not overlap."""
    lo, hi = np.maximum(box[0], hole[0]), np.minimum(box[1], hole[1])
    if np.any(lo >= hi):
        return [box]
    parts, rest = [], box.copy()
    for axis in range(3):
        for side, at in ((0, lo[axis]), (1, hi[axis])):
            if rest[side, axis] != at:
                part = rest.copy()
                part[1 - side, axis] = at
                parts.append(part)
                rest[side, axis] = at
    return parts


def own_parts(boxes: list[NDArray[np.int64]]) -> list[list[NDArray[np.int64]]]:
    """Returns for each box the part that no earlier box covers."""
    all_boxes = np.array(boxes).reshape(-1, 2, 3)
    found = []
    for n, box in enumerate(boxes):
        parts = [box]
        before = all_boxes[:n]
        meets = np.all((before[:, 0] < box[1]) & (before[:, 1] > box[0]), axis=1)
        for hole in before[meets]:
            parts = [left for part in parts for left in boxes_without(part, hole)]
        found.append(parts)
    return found


def _indices(lo: NDArray[np.int64], hi: NDArray[np.int64]) -> NDArray[np.int64]:
    """All indices of a box, i fastest."""
    k, j, i = np.indices([max(int(n), 0) for n in (hi - lo)[::-1]], np.int64).reshape(3, -1)
    return np.stack([i, j, k], axis=1) + lo


def _covered(index: NDArray[np.int64], finer: list[NDArray[np.int64]], ratio: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True for cells that boxes of a finer level cover completely. The boxes do not overlap."""
    covered = np.zeros(len(index), np.int64)
    if not len(index):
        return covered.astype(np.bool_)
    low, high = index.min(0) * ratio, (index.max(0) + 1) * ratio
    for lo, hi in finer:
        if np.any((lo >= high) | (hi <= low)):
            continue
        inside = np.minimum((index + 1) * ratio, hi) - np.maximum(index * ratio, lo)
        covered += np.prod(np.maximum(inside, 0), axis=1)
    return covered == np.prod(ratio)


def patch_cells(mesh: RefinedMesh, blocks: list[BlockOf]) -> list[Cells]:
    """Lists the cells of patches by level. A cell in several blocks of one level belongs to the block of the lowest
    id."""
    levels = range(max((block.level for block in blocks), default=-1) + 1)
    numbers = [[n for n, block in enumerate(blocks) if block.level == level] for level in levels]
    own = [own_parts([np.array([blocks[n].lo, blocks[n].hi]) for n in of]) for of in numbers]
    flat = [[part for parts in of for part in parts] for of in own]
    found = []
    for level in levels:
        tables = []
        for n, parts in zip(numbers[level], own[level], strict=True):
            lo, extents = blocks[n].lo, blocks[n].hi - blocks[n].lo
            for part in parts:
                index = _indices(*part)
                place = (index - lo) @ np.array([1, extents[0], extents[0] * extents[1]])
                refined = np.zeros(len(index), np.bool_)
                for f in range(level + 1, len(levels)):
                    refined |= _covered(index, flat[f], mesh.ratio(level, f))
                tables.append((index, refined, np.full(len(index), n), place))
        found.append(_joined(tables, blocks))
    return found


def _joined(tables: list[tuple], blocks: list[BlockOf]) -> Cells:
    empty = (np.empty((0, 3), np.int64), np.empty(0, np.bool_), np.empty(0, np.int64), np.empty(0, np.int64))
    index, refined, block, place = (np.concatenate(parts) for parts in zip(empty, *tables, strict=True))
    ids = np.array([b.id for b in blocks], np.int64)
    return Cells(index, refined, ids[block], block, place, ids[block], np.ones(len(index), np.bool_))


def tree_levels(
    mesh: RefinedMesh, refined: NDArray[np.bool_], where: str
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The indices of each level's cells, and where they are stored, for a tree that is stored level by level. Throws
    Error if the flags do not describe a tree."""
    steps = _indices(np.zeros(3, np.int64), np.where(np.arange(3) < mesh.dimensions, 2, 1))
    index, first, found = _indices(np.zeros(3, np.int64), mesh.hi), 0, []
    while len(index) and len(refined):
        past = first + len(index)
        if past > len(refined):
            break
        found.append((index, np.arange(first, past)))
        parents = index[refined[first:past]]
        twice = parents * np.where(np.arange(3) < mesh.dimensions, 2, 1)
        index, first = (twice[:, None] + steps).reshape(-1, 3), past
    if first != len(refined) or (len(refined) and len(index)):
        raise Error(f"{where}: the flags in '{mesh.roles['refined']}' are not those of a tree of {len(refined)} cells")
    return found


def tree_cells(source: Source) -> list[Cells]:
    """Lists the cells of trees by level, in the order of Morton keys. If several blocks list a cell, it belongs to the
    block that owns it, or else to one that has refined it, or else to the one of the lowest id."""
    mesh, tables = source.mesh, list[list[tuple]]()
    for n, block in enumerate(source.blocks()):
        if block.hi[0] == 0:
            continue
        flags = source.read(mesh.roles["refined"], block)
        if flags is None:
            raise Error(f"{source.path}: '{mesh.roles['refined']}' of block {block.id} was not published", Code.FILE)
        refined = flags.reshape(-1) != 0
        mine = source.read(mesh.roles["owned"], block) if "owned" in mesh.roles else None
        owned = np.ones(len(refined), np.bool_) if mine is None else mine.reshape(-1) != 0
        for level, (index, place) in enumerate(tree_levels(mesh, refined, f"{source.path}: block {block.id}")):
            if level == len(tables):
                tables.append([])
            columns = (index, refined[place], owned[place], np.full(len(place), n), place)
            tables[level].append(columns)
    ids = np.array([b.id for b in source.blocks()], np.int64)
    return [_merged(mesh, level, ids) for level in tables]


def _merged(mesh: RefinedMesh, tables: list[tuple], ids: NDArray[np.int64]) -> Cells:
    index, refined, owned, block, place = (np.concatenate(parts) for parts in zip(*tables, strict=True))
    keys = morton_keys(index, mesh.dimensions)
    # Best first: parents before leaves (which are pruned copies of them), then owners, then the lowest block.
    order = np.lexsort((block, ~owned, ~refined, keys))
    first = order[np.concatenate([[True], np.diff(keys[order]) != 0])]
    owner = np.where(owned[first], ids[block[first]], NOBODY)
    return Cells(index[first], refined[first], owner, block[first], place[first], ids[block[first]], owned[first])
