"""Octrees in databases: every layout gives back every bit, pruned trees are those of a simple search, and reading of
coarse levels reads no byte of finer ones."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sidestream
import tree_database
from pairs import few
from programs import needs_module
from sidestream.reader.stored import Context
from sidestream.trees.values import needs
from stored_calls import Reader, check_cells, counted, every
from tree_database import NAMES, published, same_bits

PROGRAM = Path(tree_database.__file__)
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
TOOL = os.environ["SIDESTREAM_TOOL"]
RUNS = [
    ("cores-3", "{mode: cores, buffer: 32 MiB}", 3, 5, 3),
    ("nodes-4", "{mode: nodes, buffer: 32 MiB, servers: 2}", 4, 6, 2),
    ("inline-1", "{mode: inline}", 1, 1, 3),
    ("inline-5", "{mode: inline}", 5, 3, 1),  # some ranks have no blocks
]
WHOLE = ("plain", "zstd", "packed")
LAST = tree_database.STEPS - 1


@pytest.fixture(scope="module", params=few(map(list, RUNS), keep=2), ids=[run[0] for run in RUNS])
def run(request, tmp_path_factory):
    _, placement, ranks, blocks, dimensions = request.param
    place = tmp_path_factory.mktemp("trees") / "results"
    arguments = [str(place), placement, str(blocks), str(dimensions)]
    command = [MPIRUN, "-n", str(ranks), sys.executable, str(PROGRAM), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place, blocks, dimensions


def twin(arrays, dimensions):
    """Prunes cell by cell: returns the cells that stay, and changed flags."""
    children, count = 1 << dimensions, len(arrays["split"])
    parents = np.flatnonzero(arrays["split"])
    parent = np.full(count, -1)
    for n, cell in enumerate(parents):
        first = tree_database.ROOTS[0] + n * children
        parent[first : first + children] = cell
    has = (arrays["split"] == 0) & (arrays["mine"] != 0)
    for cell in reversed(range(count)):
        if has[cell] and parent[cell] >= 0:
            has[parent[cell]] = True
    stays = np.ones(count, bool)
    for cell in range(count):
        if parent[cell] >= 0:
            stays[cell] = stays[parent[cell]] and has[parent[cell]]
    left = {name: values[stays] for name, values in arrays.items()}
    became = ((arrays["split"] != 0) & ~has)[stays]
    left["split"] = np.where(became, 0, left["split"]).astype(np.uint8)
    left["mine"] = np.where(became, 0, left["mine"]).astype(np.uint8)
    return left


@pytest.mark.keep(1)
@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("readers", [1, 3])
def test_restart_gives_back_every_bit(run, name, readers):
    """Reads in other processes, because with MPI this one could start no more runs."""
    place, blocks, _ = run
    command = [MPIRUN, "-n", str(readers), sys.executable, str(PROGRAM), "read", str(place), name, str(blocks)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for step in range(tree_database.STEPS):
        with sidestream.restart(place / name, cycle=10 * step) as restart:
            tree_database.compare(restart, place, step, range(blocks))


def context_of(place, name, step):
    from sidestream.reader.database import chosen

    return Context(place / name, chosen(place / name, step, None)[-1])


def stored_blocks(context, variable):
    of = context.variables[variable]
    return {int(p.block["id"]): (of, p) for p in context.pieces(of)}


@pytest.mark.keep(6)
@pytest.mark.parametrize("name", tree_database.DATABASES)
def test_numpy_reads_every_bit(run, name):
    place, blocks, dimensions = run
    for step in range(tree_database.STEPS):
        context = context_of(place, name, step)
        for block in range(blocks):
            arrays = published(place, step, block)
            if name.startswith("pruned"):
                arrays = twin(arrays, dimensions)
            for variable, values in arrays.items():
                of, piece = stored_blocks(context, variable)[block]
                assert same_bits(context.read(of, piece).reshape(values.shape), values), (variable, block, step)
                if variable in ("density", "velocity"):  # also any part of the values
                    flat, count = values.reshape(-1), values.size
                    for first, past in ((0, 1), (count // 3, min(count // 3 + 7, count)), (count - 1, count)):
                        assert same_bits(context.read(of, piece, first, past), flat[first:past])


def test_pruned_domains_are_the_same_mesh(run):
    place, _, _ = run
    for step in range(tree_database.STEPS):
        whole = sidestream.open(place / "plain", into="levels", iteration=step)
        less = sidestream.open(place / "pruned-plain", into="levels", iteration=step)
        for a, b in zip(whole, less, strict=True):
            counted = [~x["refined"] & (x["owner"] >= 0) for x in (a, b)]
            for what in ("morton", "owner", "number", "velocity"):
                assert same_bits(a[what][counted[0]], b[what][counted[1]])


def chunk_ends(context, variable):
    """Returns the beginning of the variable's values in each block's segment, and the end of each level."""
    ends = {}
    for block, (_, piece) in stored_blocks(context, variable).items():
        tree = context.trees.tree(piece)
        rows = piece.tables.chunks[int(piece.row["chunk"]) :][: int(piece.row["chunks"])]
        at = int(piece.row["offset"])
        # There are few cells, so that a level is one chunk.
        assert tree.levels == len(rows)
        ends[block] = (int(piece.row["segment"]), at, (at + np.cumsum(rows["bytes"].astype(np.int64))).tolist())
    return ends


@pytest.mark.keep(6)
@pytest.mark.parametrize("name", tree_database.DATABASES)
def test_coarse_levels_read_no_byte_of_finer_ones(run, name, monkeypatch):
    place, _, dimensions = run
    context = context_of(place, name, LAST)
    variables = ("number", "density", "velocity")
    ends = {variable: chunk_ends(context, variable) for variable in variables}
    read = []
    whole = Context.bytes_at

    def counted(self, file, offset, size, checksum, what):
        read.append((int(file[1]), int(offset), int(offset) + int(size)))
        return whole(self, file, offset, size, checksum, what)

    monkeypatch.setattr(Context, "bytes_at", counted)
    levels = sidestream.open(place / name, into="levels", iteration=LAST, deepest=1)
    assert len(levels) == 2
    for level in levels:
        for variable in variables:
            level[variable]
    allowed, touched = 0, 0
    for variable in variables:
        for segment, begin, of_levels in ends[variable].values():
            inside = [(a, b) for number, a, b in read if number == segment and begin <= a < of_levels[-1]]
            assert all(b <= of_levels[min(1, len(of_levels) - 1)] for _, b in inside), variable
            touched += len(inside)
            allowed += len(of_levels) > 2
    assert touched > 0
    assert allowed > 0 or dimensions == 1, "there are finer levels"


def test_coarse_cells_count_as_leaves(run):
    place, _, dimensions = run
    levels = sidestream.open(place / "pruned", into="levels", iteration=LAST, deepest=1)
    volume = sum(
        float(np.count_nonzero(~level["refined"] & (level["owner"] >= 0))) / (1 << dimensions * level.number)
        for level in levels
    )
    assert volume == tree_database.ROOTS[0]
    grid = levels.covering_array("number", 1)
    everything = sidestream.open(place / "pruned", into="levels", iteration=LAST)
    assert grid.size == tree_database.ROOTS[0] << dimensions
    own = dict(zip(everything[1]["morton"].tolist(), everything[1]["number"].tolist(), strict=True))
    for key, value in zip(levels[1]["morton"].tolist(), levels[1]["number"].tolist(), strict=True):
        assert own[key] == value


def test_deepest_of_what_has_no_levels(run):
    place, _, _ = run
    with pytest.raises(sidestream.Error, match="deepest=3 says how fine levels may be"):
        sidestream.open(place / "plain", deepest=3)
    with pytest.raises(sidestream.Error, match="deepest=-1, expected 0 or more"):
        sidestream.open(place / "plain", into="levels", deepest=-1)


@pytest.mark.keep(3)
@pytest.mark.parametrize("name", ["plain", "packed", "pruned"])
def test_damage_is_noticed(run, name, tmp_path):
    place, _, _ = run
    assert subprocess.run([TOOL, "verify", place / name], capture_output=True, check=False).returncode == 0
    context = context_of(place, name, LAST)
    for variable in ("split", "mine", "velocity", "energy"):
        of, piece = stored_blocks(context, variable)[0]
        copy = tmp_path / f"{name}-{variable}"
        shutil.copytree(place / name, copy)
        path = copy / f"segment-{context.slot.run:04}-{piece.tables.group:06}-{int(piece.row['segment']):04}.h5"
        data = bytearray(path.read_bytes())
        data[int(piece.row["offset"]) + int(piece.row["bytes"]) - 1] ^= 64
        path.write_bytes(data)
        done = subprocess.run([TOOL, "verify", copy], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert f"values of '{variable}' on block 0" in done.stdout + done.stderr
        with pytest.raises(sidestream.Error, match=f"'{variable}' on block 0"):
            context_of(copy.parent, copy.name, LAST).read(of, piece)


def test_the_reader_of_c_gives_the_same_cells(run):
    place, _, _ = run
    for name in tree_database.DATABASES:
        if name not in ("plain", "zstd", "pruned-plain"):
            needs_module("amr_codec")
        with Reader(place / name) as reader, reader.open(LAST) as context:
            whole, cut = (sidestream.open(place / name, into="levels", deepest=deepest) for deepest in (None, 2))
            for variable in NAMES:
                check_cells(context.cells("tree", [variable]), whole, variable, counted)
                check_cells(context.cells("tree", [variable], everything=True), whole, variable, every)
                context.limit(2)
                check_cells(context.cells("tree", [variable]), cut, variable, counted)
                context.limit(-1)


def test_declared_relations_are_used(run):
    """Energies are predicted to the last bit from other variables in their cells, if these are available."""
    needs_module("amr_codec")
    place, _, dimensions = run
    used = 0
    for step in range(tree_database.STEPS):
        context = context_of(place, "packed", step)
        assert context.variables["carried"].relations == {"parent": "mean of clean * carried"}
        for block, (of, piece) in stored_blocks(context, "energy").items():
            rows = piece.tables.chunks[int(piece.row["chunk"]) :][: int(piece.row["chunks"])]
            heads = [context.trees.stored(of, piece, n)[1] for n in range(len(rows)) if rows[n]["encoded"]]
            found = [data for data in heads if needs(data).companions]
            used += len(found)
            if step == 1 and block == 1:
                assert not found, "pressure was not delivered"
    assert used > 0 or dimensions < 3


def test_packed_is_smaller(run):
    needs_module("amr_codec")
    place, blocks, dimensions = run
    sizes = {name: context_of(place, name, LAST).slot.stored for name in tree_database.DATABASES}
    assert sizes["packed"] <= sizes["zstd"] <= sizes["plain"]
    if dimensions == 3 and blocks > 1:
        assert sizes["pruned"] < sizes["packed"] < sizes["zstd"] < sizes["plain"]
