"""Restarts by the C calls give the values of lists, refinement levels and arrays of several components, for any
division.

Python makes the calls by ctypes, in a process that is not an MPI job."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import mpi4py
import numpy as np
import pytest
from programs import built, needs_module
from support import run_beside

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader

mpi4py.rc.initialize = False
from mpi4py import MPI  # noqa: E402 - after the environment is set

PROGRAM, MPIRUN = built("SIDESTREAM_KINDS_PROGRAM"), os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
LIBRARY = ctypes.CDLL(str(Path(built("SIDESTREAM_TOOL")).parents[1] / "src" / "libsidestream.so"))
LIBRARY.sidestream_restart_message.restype = ctypes.c_char_p
LIBRARY.sidestream_restart_remarks.restype = ctypes.c_char_p
LIBRARY.sidestream_restart_variable_name.restype = ctypes.c_char_p
LIBRARY.sidestream_restart_mesh_name.restype = ctypes.c_char_p
USAGE, FILE = 1, 5
Three = ctypes.c_int64 * 3


class Variable(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("mesh", ctypes.c_char_p), ("type", ctypes.c_int)] + [
        (name, ctypes.c_int32) for name in ("components", "centering", "row_order", "is_list")
    ]
    _fields_ += [("lo", Three), ("hi", Three), ("length", ctypes.c_int64)]


class Block(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("id", ctypes.c_int64)]
    _fields_ += [("level", ctypes.c_int32), ("client", ctypes.c_int32), ("lo", Three), ("hi", Three)]
    _fields_ += [(name, ctypes.c_int64) for name in ("points", "corners", "faces")]


class Restart:
    def __init__(self, directory, cycle=None):
        self.handle = ctypes.c_void_p()
        handle_type = ctypes.c_int if MPI._sizeof(MPI.Comm) == 4 else ctypes.c_void_p
        comm = handle_type.from_address(MPI._addressof(MPI.COMM_SELF))
        which = ctypes.byref(ctypes.c_int64(cycle)) if cycle is not None else None
        code = LIBRARY.sidestream_restart_open(comm, os.fsencode(directory), which, ctypes.byref(self.handle))
        if code:
            assert not self.handle
            raise RuntimeError(LIBRARY.sidestream_restart_message(None).decode())

    def call(self, name, *arguments, code=0):
        found = getattr(LIBRARY, f"sidestream_restart_{name}")(self.handle, *arguments)
        message = LIBRARY.sidestream_restart_message(self.handle).decode()
        assert found == code, message
        return message

    def variable(self, name):
        described = Variable(struct_size=ctypes.sizeof(Variable))
        self.call("variable", name.encode(), ctypes.byref(described))
        return described

    def blocks(self, mesh):
        count = ctypes.c_int64()
        self.call("block_count", mesh.encode(), ctypes.byref(count))
        found = [Block(struct_size=ctypes.sizeof(Block)) for _ in range(count.value)]
        for number, block in enumerate(found):
            self.call("block", mesh.encode(), ctypes.c_int64(number), ctypes.byref(block))
        return found

    def close(self):
        LIBRARY.sidestream_restart_close(ctypes.byref(self.handle))
        assert not self.handle


def simulate(folder, kind, declarations, names, ranks=3, options=""):
    file = folder / "run.yaml"
    text = f"placement: inline\noutput: {{directory: {folder / 'results'}}}\n{declarations}"
    file.write_text(text + f"outputs: [database: {{directory: data, variables: [{names}]{options}}}]\n")
    run_beside(folder, [MPIRUN, "-n", str(ranks), PROGRAM, str(file), f"kind={kind}", "steps=3", "changing=1"], 3)
    return folder / "results" / "data"


POINTS = """\
meshes: {m: {type: points, dimensions: 3, coordinates: pos, point_ids: ids, point_ghosts: flags}}
variables:
  pos: {mesh: m, type: float32, components: 3}
  ids: {mesh: m, type: int64}
  flags: {mesh: m, type: uint8}
  n: {mesh: m, type: float32, centering: node}
"""
LEVELS = """\
meshes: {m: {type: uniform, size: [8, 8, 4], refinement: ['2', 2x2x1], periodic: x}}
variables: {t: {mesh: m}, n: {mesh: m, centering: node}}
"""


OCTREE = """\
meshes:
  m: {type: octree, size: [2, 1, 1], origin: [-1, 0, 0.5], spacing: [2, 1, 1.5], refined: split, owned: mine}
variables:
  split: {mesh: m, type: uint8}
  mine: {mesh: m, type: uint8}
  t: {mesh: m, components: 2}
"""


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    """Databases of each kind of mesh. They are written first, because no mpirun can be started from here once MPI is
    initialised."""
    found = {}
    for kind, declarations, names in (("points", POINTS, "n"), ("levels", LEVELS, "t, n")):
        found[kind] = simulate(tmp_path_factory.mktemp(kind), kind, declarations, names)
    for name, options in (("plain", ""), ("packed", ", codec: [auto]")):
        found[name] = simulate(tmp_path_factory.mktemp(name), "octree", OCTREE, "t", options=options)
    MPI.Init()
    yield found
    MPI.Finalize()


def test_lists(databases):
    data = databases["points"]
    context = list(database_reader.contexts(data).values())[-1]
    restart = Restart(data)
    names = [LIBRARY.sidestream_restart_variable_name(restart.handle, ctypes.c_int32(n)) for n in range(5)]
    assert sorted(name.decode() for name in names[:4]) == ["flags", "ids", "n", "pos"]
    assert names[4] is None
    for name, dtype in (("pos", "f4"), ("ids", "i8"), ("flags", "u1"), ("n", "f4")):
        described = restart.variable(name)
        pieces = [(int(b["id"]), v[:, 0, 0]) for b, v in reversed(context.pieces(name))]
        whole = np.concatenate([values for _, values in pieces])
        assert (described.is_list, described.length, described.mesh) == (1, len(whole), b"m")
        for first, count in ((0, len(whole)), (len(whole) // 3, len(whole) // 2), (len(whole), 0)):
            values = np.empty((count, described.components), dtype)
            where = values.ctypes.data_as(ctypes.c_void_p)
            restart.call("read_list", name.encode(), ctypes.c_int64(first), ctypes.c_int64(count), where)
            np.testing.assert_array_equal(values, whole[first : first + count])
        for number, expected in pieces:
            values = np.empty_like(expected, order="C")
            where = values.ctypes.data_as(ctypes.c_void_p)
            size = ctypes.c_uint64(values.nbytes)
            restart.call("read_block", name.encode(), ctypes.c_int64(number), where, size)
            np.testing.assert_array_equal(values, expected)
    found = {block.id: block.points for block in restart.blocks("m")}
    assert found == {int(b["id"]): v.shape[0] for b, v in context.pieces("n")}
    none = ctypes.c_void_p(1)
    past = restart.call("read_list", b"n", ctypes.c_int64(1), ctypes.c_int64(10**12), none, code=FILE)
    assert "from 1 on were asked for, but its blocks have" in past
    lo, hi = Three(0, 0, 0), Three(1, 1, 1)
    assert "is a list" in restart.call("read_box", b"n", 0, lo, hi, None, None, none, code=USAGE)
    assert "has no variable 'm'" in restart.call(
        "read_list", b"m", ctypes.c_int64(0), ctypes.c_int64(1), none, code=USAGE
    )
    restart.call("read_block", b"n", ctypes.c_int64(0), none, ctypes.c_uint64(3), code=USAGE)
    restart.close()


def test_levels_and_arrays_that_cover_more(databases, tmp_path):
    data = databases["levels"]
    restart = Restart(data, cycle=int(database_reader.slots(data)[0][2]["cycle"]))
    context = next(c for s, c in database_reader.contexts(data).items() if s == 2)
    seen = set()
    for name in ("t", "n"):
        for level in range(3):
            for block, expected in context.pieces(name, level):
                lo, hi = context.points(context.variable(name), block)
                # Ghosts of one point on all sides are not touched.
                array = np.full(tuple(reversed(hi - lo + 2)), -1.0)
                where = array.ctypes.data_as(ctypes.c_void_p)
                around = Three(*(lo - 1)), Three(*(hi + 1))
                restart.call("read_box", name.encode(), level, Three(*lo), Three(*hi), *around, where)
                inner = array[1:-1, 1:-1, 1:-1]
                np.testing.assert_array_equal(inner, expected[..., 0].transpose(2, 1, 0))
                assert np.count_nonzero(array == -1) == array.size - inner.size
                seen.add((level, *lo))
    assert {level for level, *_ in seen} >= {0, 1}
    box = Three(0, 0, 0), Three(8, 8, 5)
    values = np.empty(320)
    where = values.ctypes.data_as(ctypes.c_void_p)
    assert "are in no block" in restart.call("read_box", b"t", 0, *box, None, None, where, code=FILE)
    small = Three(0, 0, 0), Three(1, 1, 1)
    assert "does not cover" in restart.call("read_box", b"t", 0, *box, *small, where, code=USAGE)
    restart.close()
    with pytest.raises(RuntimeError, match="no context of cycle 77"):
        Restart(data, cycle=77)
    with pytest.raises(RuntimeError, match="is no database"):
        Restart(tmp_path)
    tool = subprocess.run([built("SIDESTREAM_TOOL"), "info", data], capture_output=True, text=True, check=True)
    assert "mesh m: uniform, 3 dimensions" in tool.stdout


def read_trees(restart):
    """The flags and values of each block, and where its levels begin and the last one ends, counted from the flags."""
    found = {}
    for block in restart.blocks("m"):
        cells = block.hi[0]
        if cells == 0:
            continue
        arrays = {
            "split": np.full(cells, 9, np.uint8),
            "mine": np.full(cells, 9, np.uint8),
            "t": np.full((cells, 2), -1.0),
        }
        for name, array in arrays.items():
            where, size = array.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(array.nbytes)
            restart.call("read_block", name.encode(), ctypes.c_int64(block.id), where, size)
        starts, width = [0], 2  # root cells
        while width:
            starts.append(starts[-1] + width)
            width = 8 * int(arrays["split"][starts[-2] : starts[-1]].sum())
        assert starts[-1] == cells
        found[block.id] = arrays, starts
    return found


@pytest.mark.parametrize("kind", ["plain", "packed"])
def test_down_to_a_level(databases, kind):
    restart = Restart(databases[kind])
    whole = read_trees(restart)
    assert max(len(starts) for _, starts in whole.values()) == 5  # levels 0 to 3
    for deepest in (0, 1, 2, 3, 7, -1):
        restart.call("limit_levels", ctypes.c_int32(deepest))
        some, list_of_all = read_trees(restart), []
        assert some.keys() == whole.keys()
        for block, (arrays, starts) in whole.items():
            last = len(starts) - 2 if deepest < 0 else min(deepest, len(starts) - 2)
            cells = starts[last + 1]
            found, levels = some[block]
            assert levels == starts[: last + 2]
            np.testing.assert_array_equal(found["t"], arrays["t"][:cells])
            np.testing.assert_array_equal(found["mine"], arrays["mine"][:cells])
            np.testing.assert_array_equal(found["split"][: starts[last]], arrays["split"][: starts[last]])
            assert not found["split"][starts[last] :].any()
            list_of_all.append(found["t"])
        expected = np.concatenate([list_of_all[n] for n in np.argsort(list(whole))])
        assert restart.variable("t").length == len(expected)
        for first, count in ((0, len(expected)), (1, len(expected) - 2), (3, 0)):
            array = np.full((count, 2), -1.0)
            where = array.ctypes.data_as(ctypes.c_void_p)
            restart.call("read_list", b"t", ctypes.c_int64(first), ctypes.c_int64(count), where)
            np.testing.assert_array_equal(array, expected[first : first + count])
        past = restart.call("read_list", b"t", ctypes.c_int64(1), ctypes.c_int64(len(expected)), where, code=FILE)
        assert "were asked for" in past
    restart.close()


def test_without_the_module_of_the_codec(databases, tmp_path, monkeypatch):
    """Values that went through `tree` are read by a module; others are not."""
    needs_module("amr_codec")
    monkeypatch.setenv("SIDESTREAM_MODULES", str(tmp_path))
    Restart(databases["plain"]).close()
    with pytest.raises(RuntimeError, match="the module sidestream_amr_codec has, and found no such module"):
        Restart(databases["packed"])


def test_patches_down_to_a_level(databases):
    restart = Restart(databases["levels"])
    all_blocks = [(block.level, block.id) for block in restart.blocks("m")]
    for deepest in (0, 1, -1):
        restart.call("limit_levels", ctypes.c_int32(deepest))
        expected = [key for key in all_blocks if deepest < 0 or key[0] <= deepest]
        assert [(block.level, block.id) for block in restart.blocks("m")] == expected
    restart.call("limit_levels", ctypes.c_int32(0))
    room = np.empty(1)
    where, box = room.ctypes.data_as(ctypes.c_void_p), (Three(0, 0, 0), Three(1, 1, 1))
    assert "limited to 0" in restart.call("read_box", b"t", 1, *box, None, None, where, code=USAGE)
    finer = next(block for level, block in all_blocks if level > 0)
    restart.call("read_block", b"t", ctypes.c_int64(finer), where, ctypes.c_uint64(8), code=FILE)
    restart.close()
