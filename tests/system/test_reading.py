"""The reader of C gives what the Python reader gives, bit by bit, of every kind of mesh, without MPI_Init; the examples
in C, C++ and Fortran make the same map on any number of ranks."""

import os
import subprocess

import numpy as np
import pytest
import sidestream
from pairs import few, without
from programs import built
from sidestream.reader.database import chosen
from sidestream.reader.region import read_region
from sidestream.reader.stored import Context
from stored_calls import FILE, USAGE, Failed, Reader, check_cells, counted, every
from support import run, run_beside
from test_kinds import DECLARATIONS, NX, NY, NZ

MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
POST = "{directory: data, kind: post,"
PATCHES = """\
meshes: {m: {type: uniform, size: [8, 8, 4], spacing: [0.5, 0.5, 1.5], refinement: ['2', 2x2x1]}}
variables:
  t: {mesh: m, unit: K, label: Temperature}
  n: {mesh: m, centering: node, type: float32, components: 2}
  sometimes: {mesh: m, order: row}
"""
CASES = {  # its declarations, variables, options, ranks, and the kind of mesh in C
    "curvilinear": (DECLARATIONS["curvilinear"], "t, n", "codec: [byte-shuffle, zstd]", 3, 2),
    "unstructured": (DECLARATIONS["unstructured"], "t, n", "codecs: {t: zstd}", 5, 3),
    "points": (DECLARATIONS["points"], "n", "codecs: {n: half gzip}", 2, 4),
    "octree": (DECLARATIONS["octree"], "t", "codec: auto", 3, 5),
    "octree-plain": (DECLARATIONS["octree"], "t", "kind: checkpoint", 5, 5),
    "levels": (DECLARATIONS["levels"], "t, n", "codecs: {t: quantise-4}", 3, 0),
    "patches": (PATCHES, "t, n, sometimes", "codec: auto", 5, 0),
}


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    found = {}
    for case, (declared, names, options, ranks, _) in CASES.items():
        folder = tmp_path_factory.mktemp(case)
        declared = declared.replace("VARYING", "true").replace("DIMENSIONS", "3").replace("SIZE", str([NX, NY, NZ]))
        text = f"placement: inline\noutput: {{directory: {folder / 'results'}}}\n{declared}"
        text += f"outputs: [database: {{directory: data, fsync: false, variables: [{names}], {options}}}]\n"
        (folder / "run.yaml").write_text(text if "kind:" in options else text.replace("{directory: data,", POST))
        program = built(f"SIDESTREAM_{'PATCHES' if case == 'patches' else 'KINDS'}_PROGRAM")
        steps, more = (8, []) if case == "patches" else (3, [f"kind={case.partition('-')[0]}", "changing=1"])
        command = [MPIRUN, "-n", str(ranks), program, str(folder / "run.yaml"), f"steps={steps}", *more]
        run_beside(folder, command, steps)
        found[case] = folder / "results" / "data"
    return found


def contexts_of(place):
    return [Context(place, slot) for slot in chosen(place)]


def same_bits(a, b):
    assert a.dtype == b.dtype
    assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("case", CASES)
def test_descriptions(databases, case):
    place = databases[case]
    with Reader(place) as reader:
        listed = reader.contexts()
        for number, (about, expected) in enumerate(zip(listed, contexts_of(place), strict=True)):
            slot = expected.slot
            assert (about.slot, about.index, about.cycle, about.time) == (
                slot.number,
                slot.iteration,
                slot.cycle,
                slot.time,
            )
            assert (about.run, about.is_checkpoint, about.blocks) == (1, slot.kind == "checkpoint", slot.blocks)
            assert (about.bytes, about.stored_bytes) == (slot.bytes, slot.stored)
            assert reader.find_cycle(slot.cycle) == max(
                n for n, other in enumerate(listed) if other.cycle == slot.cycle
            )
            with reader.open(number) as context:
                assert context.names("mesh") == list(expected.meshes)
                assert context.names("variable") == list(expected.variables)
                check_mesh(context.mesh("m"), expected.meshes["m"], CASES[case][-1])
                for name, variable in expected.variables.items():
                    found = context.variable(name)
                    assert (found.mesh, found.components, found.centering) == (
                        b"m",
                        variable.components,
                        variable.centering,
                    )
                    assert found.row_order == (variable.order == "row")
                    assert (found.unit, found.label) == (variable.unit.encode(), variable.label.encode())
                    lists = [" ".join(names) for names in variable.codecs if names]
                    assert found.codec.decode() == " or ".join(lists)
                for block, row in zip(context.blocks("m"), expected.blocks("m"), strict=True):
                    assert (block.id, block.level, block.client) == (row["id"], row["level"], row["client"])
                    assert [block.lo[:], block.hi[:]] == [row["lo"].tolist(), row["hi"].tolist()]
                    assert [block.points, block.corners, block.faces] == row["lengths"].tolist()


def check_mesh(found, about, kind):
    assert (found.name, found.kind, found.dimensions) == (b"m", kind, about["dimensions"])
    assert [bool(n) for n in found.periodic] == about["periodic"]
    assert [found.ratios[3 * n : 3 * n + 3] for n in range(found.steps)] == about["refinement"]
    names = {name.decode() for name in found.arrays if name}
    assert names == set(about["arrays"].values())
    if about["type"] in ("uniform", "octree"):
        assert (found.origin[:], found.spacing[:]) == (about["origin"], about["spacing"])
    assert found.hi[:] == (about["roots"] if about["type"] == "octree" else about["cells"][1])


@pytest.mark.parametrize("case", CASES)
def test_values_of_blocks(databases, case):
    place = databases[case]
    with Reader(place) as reader:
        for number, expected in enumerate(contexts_of(place)):
            with reader.open(number) as context:
                for name, variable in expected.variables.items():
                    pieces = {(int(p.block["level"]), int(p.block["id"])): p for p in expected.pieces(variable)}
                    found = 0
                    for n, block in enumerate(context.blocks("m")):
                        values = context.read_block(name, n)
                        piece = pieces.get((block.level, block.id))
                        assert (values is None) == (piece is None)
                        if piece is not None:
                            same_bits(values, np.ascontiguousarray(expected.read(variable, piece)).reshape(-1))
                            found += 1
                    assert found == len(pieces)


def test_lists(databases):
    for case in ("points", "unstructured", "octree"):
        fields = sidestream.open(databases[case], cycle=chosen(databases[case])[-1].cycle, into="numpy")
        with Reader(databases[case]) as reader, reader.open(len(reader.contexts()) - 1) as context:
            for name in context.names("variable"):
                length = context.number("list_length", name.encode())
                whole = np.asarray(fields[name][...]).reshape(length, -1)
                for first, count in ((0, length), (length // 3, length // 2), (length, 0)):
                    same_bits(context.read_list(name, first, count), np.ascontiguousarray(whole[first : first + count]))
                with pytest.raises(Failed, match="on were asked for") as problem:
                    context.read_list(name, length, 1)
                assert problem.value.code == FILE


def test_boxes(databases):
    for case, level in (("curvilinear", 0), ("levels", 0), ("levels", 1), ("patches", 2)):
        expected = contexts_of(databases[case])[0]
        with Reader(databases[case]) as reader, reader.open(0) as context:
            for name, variable in expected.variables.items():
                for piece in expected.pieces(variable, level):
                    lo, hi = piece.lo, np.minimum(piece.lo + np.array([3, 2, 2]), piece.hi)
                    values, covered = read_region(expected, variable, level, lo, hi, expected.pieces(variable))
                    assert covered.all()
                    same_bits(context.read_box(name, level, lo, hi), values.reshape(-1))


@pytest.mark.parametrize("case", ["octree", "octree-plain", "levels", "patches"])
def test_cells(databases, case):
    place = databases[case]
    with Reader(place) as reader:
        for number, listed in enumerate(reader.contexts()):
            with reader.open(number) as context:
                levels = sidestream.open(place, cycle=listed.cycle, into="levels")
                for name in ("t", "sometimes"):  # in odd steps of patches no block has the second one
                    if name in context.names("variable"):
                        check_cells(context.cells("m", [name]), levels, name, counted)
                everything = context.cells("m", ["t"], everything=True)
                check_cells(everything, levels, "t", every)
                for deepest in (0, 1):
                    cut = sidestream.open(place, cycle=listed.cycle, into="levels", deepest=deepest)
                    check_cells(context.cells("m", ["t"], deepest=deepest), cut, "t", counted)
                    context.limit(deepest)
                    check_cells(context.cells("m", ["t"]), cut, "t", counted)
                    context.limit(-1)
                coarse = context.cells("m", [], coarsest=1)[0]
                assert len(coarse) == np.sum(context.cells("m", [])[0] >= 1)


def test_cells_of_a_box(databases):
    for case in ("octree", "octree-plain"):
        place = databases[case]
        levels = sidestream.open(place, into="levels")
        with Reader(place) as reader, reader.open(len(reader.contexts()) - 1) as context:
            for level, lo, hi in ((0, (1, 0, 0), (2, 1, 1)), (1, (0, 0, 0), (1, 1, 2)), (3, (5, 1, 2), (6, 2, 7))):
                found = context.cells("m", ["t"], level=level, box=(lo, hi))
                check_cells(found, levels, "t", counted, (level, lo, hi))
            assert len(context.cells("m", ["t"], level=2, box=((9, 9, 9), (12, 12, 12)))[0]) == 0


def test_parts_of_blocks(tmp_path):
    """Parts into which servers have cut blocks are blocks, and no cell of them is left out."""
    outputs = "outputs: [database: {directory: data, kind: post, fsync: false, variables: [t, p]}]\n"
    placement = "{mode: nodes, servers: 2, buffer: 16 MiB, partitioner: {regrid: {shape: slabs, axis: x}}}"
    done = run(tmp_path, 5, placement, outputs, ["steps=2"])
    assert done.status == 0, done.text
    place = done.results / "data"
    levels = sidestream.open(place, into="levels")
    with Reader(place) as reader, reader.open(1) as context:
        lo, hi = (context.mesh("grid").lo[:], context.mesh("grid").hi[:])
        whole = context.read_box("t", 0, lo, hi).reshape(hi[::-1])
        blocks = context.blocks("grid")
        assert min(block.id for block in blocks) < 0
        for n, block in enumerate(blocks):
            part = whole[tuple(slice(block.lo[axis], block.hi[axis]) for axis in (2, 1, 0))]
            same_bits(context.read_block("t", n), np.ascontiguousarray(part).reshape(-1))
        found = context.cells("grid", ["t"])
        assert len(found[0]) == whole.size
        check_cells(found, levels, "t", counted)
    same_bits(levels.covering_array("t", 0), whole)


def test_trees(databases):
    """The flags of a block, and what hiding levels leaves of them."""
    for case in ("octree", "octree-plain"):
        expected = contexts_of(databases[case])[-1]
        of = {role: expected.variables[expected.meshes["m"]["arrays"][role]] for role in ("refined", "owned")}
        with Reader(databases[case]) as reader, reader.open(len(reader.contexts()) - 1) as context:
            pieces = {role: {int(p.block["id"]): p for p in expected.pieces(v)} for role, v in of.items()}
            for n, block in enumerate(context.blocks("m")):
                if block.id not in pieces["refined"] or not block.hi[0]:
                    continue
                starts, refined, owned = context.tree("m", n)
                assert starts[-1] == block.hi[0]
                for flags, role in ((refined, "refined"), (owned, "owned")):
                    same_bits(flags, expected.read(of[role], pieces[role][block.id]).reshape(-1))
                context.limit(1)
                some, cut, _ = context.tree("m", n)
                context.limit(-1)
                np.testing.assert_array_equal(some, starts[:3])
                np.testing.assert_array_equal(cut[: some[1]], refined[: some[1]])
                assert not cut[some[1] :].any()


def test_only_what_is_needed_is_read(databases):
    place = databases["octree"]
    expected = contexts_of(place)[-1]
    variable = expected.variables["t"]
    with Reader(place) as reader, reader.open(len(reader.contexts()) - 1) as context:
        tables = context.bytes_read()
        context.blocks("m")
        assert context.bytes_read() == tables
        context.cells("m", [], everything=True)  # pieces and flags
        before = context.bytes_read()
        assert before > tables
        context.cells("m", ["t"], deepest=0)
        coarse = context.bytes_read() - before
        context.cells("m", ["t"], everything=True)
        all_of_it = context.bytes_read() - before - coarse
        assert 0 < coarse < all_of_it <= sum(int(p.row["bytes"]) for p in expected.pieces(variable))
    # One block of patches, without the others.
    place = databases["levels"]
    piece = contexts_of(place)[0].pieces(contexts_of(place)[0].variables["n"])[0]
    with Reader(place) as reader, reader.open(0) as context:
        context.number("block_length", b"n", 0)  # the tables
        before = context.bytes_read()
        context.read_block("n", 0)
        assert context.bytes_read() - before == int(piece.row["bytes"])


def test_mistakes(databases, tmp_path):
    with pytest.raises(Failed, match="is no database") as problem:
        Reader(tmp_path)
    assert problem.value.code == FILE
    with Reader(databases["octree"]) as reader:
        with pytest.raises(Failed, match="number 9 of 3 contexts") as problem:
            reader.open(9)
        assert problem.value.code == USAGE
        with pytest.raises(Failed, match="no context of cycle 77"):
            reader.find_cycle(77)
        with reader.open(0) as context:
            for call, said in (
                (lambda: context.variable("tt"), "the context has no variable 'tt'"),
                (lambda: context.mesh("n"), "the context has no mesh 'n', but m"),
                (lambda: context.number("block_length", b"t", 99), "number 99 of"),
                (lambda: context.cells("m", ["t"], coarsest=2, deepest=1), "give a range of levels"),
                (lambda: context.cells("m", ["t"], level=-1), "found level -1"),
                (lambda: context.read_box("t", 0, (0, 0, 0), (1, 1, 1)), "is a list"),
            ):
                with pytest.raises(Failed, match=said) as problem:
                    call()
                assert problem.value.code == USAGE


def map_by_python(place, name, level):
    """The column density of the leaves, in the order in which the reader lists them."""
    levels = sidestream.open(place, into="levels")
    mesh = levels.mesh
    level = min(level, len(mesh.ratios)) if mesh.kind == "uniform" else level
    extents = (mesh.hi - mesh.lo) * mesh.ratio(0, level)
    column = np.zeros((extents[1], extents[0]))
    with Reader(place) as reader, reader.open(len(reader.contexts()) - 1) as context:
        order = context.cells("m", [])[:2]
    for n, of in enumerate(levels):
        chosen_cells = of.cells.counted
        index = of.cells.index[chosen_cells]
        values = levels.values(name, n, chosen_cells).reshape(len(index), -1)[:, 0]
        listed = order[1][order[0] == n]
        place_of = {tuple(at): m for m, at in enumerate(listed)}
        for m in sorted(range(len(index)), key=lambda m: place_of[tuple(index[m])]):
            weight = mesh.spacing[2] / float(mesh.ratio(0, n)[2])
            first, past = index[m][:2], index[m][:2] + 1
            if n > level:
                finer = mesh.ratio(level, n)
                weight = weight / float(finer[0]) / float(finer[1])
                first, past = first // finer[:2], first // finer[:2] + 1
            else:
                first, past = first * mesh.ratio(n, level)[:2], past * mesh.ratio(n, level)[:2]
            column[first[1] : past[1], first[0] : past[0]] += values[m] * weight
    return column


LATER = {"C": [2, 5], "CPP": [1, 2, 3], "FORTRAN": [1, 2, 5]}


KEPT = [("C", "octree"), ("CPP", "patches"), ("FORTRAN", "octree")]


@pytest.mark.parametrize(("language", "case"), few(LATER, ["octree", "patches"], kept=KEPT))
def test_column_densities(databases, tmp_path, case, language):
    if language == "FORTRAN" and "SIDESTREAM_COLUMN_FORTRAN" not in os.environ:
        pytest.skip("NOT TESTED: this build is without the Fortran module")
    program = built(f"SIDESTREAM_COLUMN_{language}")
    expected = map_by_python(databases[case], "t", 2)
    for ranks in without(LATER[language], [1, 2, 3, 5]):
        file = tmp_path / f"map-{ranks}"
        command = [MPIRUN, "-n", str(ranks), program, databases[case], "t", "2", file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert np.fromfile(file).tobytes() == expected.tobytes(), f"{language} on {ranks} ranks"
    nowhere = [MPIRUN, "-n", "2", program, tmp_path, "t", "2", tmp_path / "none"]
    done = subprocess.run(nowhere, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "is no database" in done.stderr
