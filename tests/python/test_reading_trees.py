"""The reader of C reads only the flags of blocks of octrees whose declared bounds meet a box."""

from pathlib import Path

import numpy as np
import pytest
import sidestream
from mpi4py import MPI
from stored_calls import Reader, check_cells, counted, every

TEXT = """\
placement: inline
output: {directory: DIRECTORY}
meshes: {tree: {type: octree, size: [2, 2], spacing: [1, 2], origin: [10, 3], refined: split, owned: mine}}
variables:
  split: {mesh: tree, type: uint8}
  mine: {mesh: tree, type: uint8}
  f: {mesh: tree, type: float32}
outputs: [database: {directory: data, kind: post, fsync: false, hdf5: false, CODEC}]
"""
DEEPEST = 4


def arrays(block):
    """The tree of a block, which owns what is below root cell number `block`, and has all root cells."""
    cells = [(0, i, j) for j in (0, 1) for i in (0, 1)]
    split, mine = [], []
    for level, i, j in cells:  # grows as it goes
        root = (i >> level) + 2 * (j >> level)
        split.append(level < DEEPEST and root == block and (i + 3 * j + level) % 3 != 1)
        mine.append(root == block and not split[-1])
        if split[-1]:
            cells += [(level + 1, 2 * i + x, 2 * j + y) for y in (0, 1) for x in (0, 1)]
    values = [1000 * level + 100 * i + j + 0.1 * block for level, i, j in cells]
    return np.array(split, np.uint8), np.array(mine, np.uint8), np.array(values, np.float32)


@pytest.fixture(params=["codec: auto", "max_file_size: 64 KiB"])
def database(request, tmp_path):
    text = TEXT.replace("DIRECTORY", str(tmp_path)).replace("CODEC", request.param)
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        for block in range(4):
            split, mine, values = arrays(block)
            i, j = block % 2, block // 2
            bounds = [10 + i, 3 + 2 * j, 0, 11 + i, 5 + 2 * j, 0]
            session.set_block_list("tree", block, 0, len(split), bounds=bounds)
            assert session.publish("split", block, split)
            assert session.publish("mine", block, mine)
            assert session.publish("f", block, values)
        assert session.end_iteration(0, 0)
    return tmp_path / "data"


def bytes_for(place, **choice):
    """Bytes that are read for a list of cells and their values, after the tables."""
    with Reader(place) as reader, reader.open(0) as context:
        context.number("block_length", b"split", 0)
        before = context.bytes_read()
        found = context.cells("tree", ["f"], **choice)
        return found, context.bytes_read() - before


def test_boxes(database):
    levels = sidestream.open(database, into="levels")
    whole, all_bytes = bytes_for(database)
    check_cells(whole, levels, "f", counted)
    parts = []
    for block in range(4):
        lo, hi = (8 * (block % 2), 8 * (block // 2), 0), (8 * (block % 2) + 8, 8 * (block // 2) + 8, 1)
        found, some_bytes = bytes_for(database, level=3, box=(lo, hi))
        check_cells(found, levels, "f", counted, (3, lo, hi))
        assert set(found[3]) == {block}
        parts.append(some_bytes)
    assert sum(parts) == all_bytes, "flags or values of blocks beside the box are read"
    # A box of one fine cell: cells of all levels that meet it, and with `all` their parents.
    lo, hi = (13, 2, 0), (14, 3, 1)
    check_cells(bytes_for(database, level=4, box=(lo, hi))[0], levels, "f", counted, (4, lo, hi))
    check_cells(bytes_for(database, level=4, box=(lo, hi), everything=True)[0], levels, "f", every, (4, lo, hi))
    # A parent counts as a leaf in the block that has refined it.
    cut = sidestream.open(database, into="levels", deepest=1)
    check_cells(bytes_for(database, level=4, box=(lo, hi), deepest=1)[0], cut, "f", counted, (4, lo, hi))


def test_coarse_levels_cost_less(database):
    amounts = [bytes_for(database, deepest=deepest)[1] for deepest in range(DEEPEST + 1)]
    assert amounts == sorted(amounts)
    assert amounts[0] < amounts[-1]


def read_so_far():
    """Bytes that this process has read from files."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("rchar")).split()[1])


@pytest.mark.parametrize("by_variable", [True, False])
def test_restarting_reads_once(tmp_path, by_variable):
    """Values that others are predicted from are read once, whether variables or blocks are read one after the other."""
    text = f"""\
placement: inline
output: {{directory: {tmp_path}}}
meshes: {{tree: {{type: octree, size: [8, 8, 8], refined: split}}}}
variables:
  split: {{mesh: tree, type: uint8}}
  a: {{mesh: tree}}
  b: {{mesh: tree, equals: 2 * a}}
  c: {{mesh: tree, equals: a + b}}
  d: {{mesh: tree, equals: a - c}}
outputs: [database: {{directory: data, fsync: false, hdf5: false, codec: auto}}]
"""
    blocks, rng = range(12), np.random.default_rng(1)
    cells = 512 + 8 * 512
    values = {block: {"a": rng.standard_normal(cells)} for block in blocks}
    for of in values.values():
        of["b"] = 2 * of["a"]
        of["c"] = of["a"] + of["b"]
        of["d"] = of["a"] - of["c"]
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        for block in blocks:
            session.set_block_list("tree", block, 0, cells)
            session.publish("split", block, np.repeat(np.array([1, 0], np.uint8), [512, cells - 512]))
            for name, array in values[block].items():
                assert session.publish(name, block, array), session.message
        session.end_iteration(0, 0.0)
    stored = sum(path.stat().st_size for path in (tmp_path / "data").glob("segment-*"))
    assert stored < 1.5 * len(blocks) * 8 * cells, "b, c and d follow from a"
    with sidestream.restart(tmp_path / "data", MPI.COMM_SELF) as restart:
        before = read_so_far()
        order = [(n, b) for n in "abcd" for b in blocks] if by_variable else [(n, b) for b in blocks for n in "abcd"]
        for name, block in order:
            assert restart.read_block(name, block).tobytes() == values[block][name].tobytes()
        assert read_so_far() - before < 1.05 * stored + 65536
