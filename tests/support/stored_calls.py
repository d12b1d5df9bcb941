"""The calls of reader.h by ctypes, in a process without MPI_Init."""

import ctypes
import os
from pathlib import Path

import mpi4py
import numpy as np
from programs import built

mpi4py.rc.initialize = False
from mpi4py import MPI  # noqa: E402 - after the setting

LIBRARY = ctypes.CDLL(str(Path(built("SIDESTREAM_TOOL")).parents[1] / "src" / "libsidestream.so"))
for _name in ("reader_message", "context_message", "reader_remarks", "context_provenance"):
    getattr(LIBRARY, f"sidestream_{_name}").restype = ctypes.c_char_p
for _name in ("context_mesh_name", "context_variable_name"):
    getattr(LIBRARY, f"sidestream_{_name}").restype = ctypes.c_char_p
USAGE, FILE = 1, 5
TYPES = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)] + [np.dtype("f4"), np.dtype("f8")]
Three, Places = ctypes.c_int64 * 3, ctypes.c_double * 3
_SIZE = ("struct_size", ctypes.c_size_t)


def _numbers(names, kind=ctypes.c_int32):
    return [(name, kind) for name in names.split()]


def _texts(names):
    return _numbers(names, ctypes.c_char_p)


class Listed(ctypes.Structure):
    _fields_ = [_SIZE, *_numbers("slot index cycle", ctypes.c_int64), ("time", ctypes.c_double)]
    _fields_ += _numbers("run is_checkpoint") + _numbers("blocks", ctypes.c_int64)
    _fields_ += _numbers("bytes stored_bytes", ctypes.c_uint64)


class Mesh(ctypes.Structure):
    _fields_ = [_SIZE, *_texts("name"), *_numbers("kind dimensions is_list"), ("lo", Three), ("hi", Three)]
    _fields_ += [("origin", Places), ("spacing", Places), ("nodes", ctypes.POINTER(ctypes.c_double) * 3)]
    _fields_ += [
        ("periodic", ctypes.c_int32 * 3),
        ("steps", ctypes.c_int32),
        ("ratios", ctypes.POINTER(ctypes.c_int64)),
    ]
    _fields_ += [("levels", ctypes.c_int32), ("arrays", ctypes.c_char_p * 13), ("level_times", ctypes.c_int32)]
    _fields_ += [("times", ctypes.POINTER(ctypes.c_double))]


class Variable(ctypes.Structure):
    _fields_ = [_SIZE, *_texts("mesh"), *_numbers("type components centering row_order is_list")]
    _fields_ += [("lo", Three), ("hi", Three), ("length", ctypes.c_int64), ("role", ctypes.c_int32)]
    _fields_ += _texts("unit label group codec")


class Block(ctypes.Structure):
    _fields_ = [_SIZE, ("id", ctypes.c_int64), *_numbers("level client"), ("lo", Three), ("hi", Three)]
    _fields_ += [*_numbers("points corners faces", ctypes.c_int64), *_numbers("has_bounds")]
    _fields_ += [("low", Places), ("high", Places), ("ratio", Three)]


class Tree(ctypes.Structure):
    _fields_ = [_SIZE, *_numbers("levels"), ("starts", ctypes.POINTER(ctypes.c_int64))]
    _fields_ += [(name, ctypes.POINTER(ctypes.c_uint8)) for name in ("refined", "owned")]


class Choice(ctypes.Structure):
    _fields_ = [_SIZE, *_numbers("level has_box"), ("lo", Three), ("hi", Three), *_numbers("coarsest deepest all")]


class Cells(ctypes.Structure):
    _fields_ = [_SIZE, ("count", ctypes.c_int64), ("level", ctypes.POINTER(ctypes.c_int32))]
    _fields_ += [("index", ctypes.POINTER(ctypes.c_int64)), ("refined", ctypes.POINTER(ctypes.c_uint8))]
    _fields_ += [("owner", ctypes.POINTER(ctypes.c_int64))]


LIBRARY.sidestream_all_leaves.restype = Choice


class Failed(RuntimeError):
    """A call that failed, with its code and sentence."""

    def __init__(self, code, message):
        super().__init__(message.decode())
        self.code = code


def _copy(pointer, count, dtype):
    return np.ctypeslib.as_array(pointer, (count,)).astype(dtype) if count else np.empty(0, dtype)


def _null_communicator():
    kind = ctypes.c_int if MPI._sizeof(MPI.Comm) == 4 else ctypes.c_void_p
    return kind.from_address(MPI._addressof(MPI.COMM_NULL))


class Reader:
    def __init__(self, directory):
        self.handle = ctypes.c_void_p()
        code = LIBRARY.sidestream_reader_open(_null_communicator(), os.fsencode(directory), ctypes.byref(self.handle))
        if code:
            assert not self.handle
            raise Failed(code, LIBRARY.sidestream_reader_message(None))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        LIBRARY.sidestream_reader_close(ctypes.byref(self.handle))
        assert not self.handle

    def call(self, name, *arguments):
        code = getattr(LIBRARY, f"sidestream_{name}")(self.handle, *arguments)
        if code:
            raise Failed(code, LIBRARY.sidestream_reader_message(self.handle))

    def contexts(self):
        count = ctypes.c_int64()
        self.call("reader_context_count", ctypes.byref(count))
        found = [Listed(struct_size=ctypes.sizeof(Listed)) for _ in range(count.value)]
        for number, listed in enumerate(found):
            self.call("reader_context", ctypes.c_int64(number), ctypes.byref(listed))
        return found

    def find_cycle(self, cycle):
        number = ctypes.c_int64(-7)
        self.call("reader_find_cycle", ctypes.c_int64(cycle), ctypes.byref(number))
        return number.value

    def open(self, number):
        return Context(self, number)


class Context:
    def __init__(self, reader, number):
        self.handle = ctypes.c_void_p()
        reader.call("context_open", ctypes.c_int64(number), ctypes.byref(self.handle))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        LIBRARY.sidestream_context_close(ctypes.byref(self.handle))
        assert not self.handle

    def call(self, name, *arguments):
        code = getattr(LIBRARY, f"sidestream_{name}")(self.handle, *arguments)
        if code:
            raise Failed(code, LIBRARY.sidestream_context_message(self.handle))

    def names(self, what):
        found = []
        while (name := getattr(LIBRARY, f"sidestream_context_{what}_name")(self.handle, len(found))) is not None:
            found.append(name.decode())
        return found

    def described(self, what, name, kind):
        found = kind(struct_size=ctypes.sizeof(kind))
        self.call(f"context_{what}", name.encode(), ctypes.byref(found))
        return found

    def mesh(self, name):
        return self.described("mesh", name, Mesh)

    def variable(self, name):
        return self.described("variable", name, Variable)

    def number(self, name, *arguments):
        found = ctypes.c_int64(-7)
        self.call(f"context_{name}", *arguments, ctypes.byref(found))
        return found.value

    def blocks(self, mesh):
        found = [Block(struct_size=ctypes.sizeof(Block)) for _ in range(self.number("block_count", mesh.encode()))]
        for number, block in enumerate(found):
            self.call("context_block", mesh.encode(), ctypes.c_int64(number), ctypes.byref(block))
        return found

    def bytes_read(self):
        return self.number("bytes_read")

    def limit(self, deepest):
        self.call("context_limit_levels", ctypes.c_int32(deepest))

    def read_block(self, name, number):
        """The elements of a block in the order of storage; None if there are none."""
        length = self.number("block_length", name.encode(), ctypes.c_int64(number))
        if length < 0:
            return None
        values = np.empty(length, TYPES[self.variable(name).type])
        where = ctypes.c_int64(number), ctypes.c_void_p(values.ctypes.data), ctypes.c_uint64(values.nbytes)
        self.call("context_read_block", name.encode(), *where)
        return values

    def read_box(self, name, level, lo, hi):
        about = self.variable(name)
        values = np.empty(int(np.prod(np.array(hi) - lo)) * about.components, TYPES[about.type])
        data = ctypes.c_void_p(values.ctypes.data)
        self.call(
            "context_read_box", name.encode(), level, Three(*map(int, lo)), Three(*map(int, hi)), None, None, data
        )
        return values

    def read_list(self, name, first, count):
        about = self.variable(name)
        values = np.empty((count, about.components), TYPES[about.type])
        data = ctypes.c_void_p(values.ctypes.data)
        self.call("context_read_list", name.encode(), ctypes.c_int64(first), ctypes.c_int64(count), data)
        return values

    def tree(self, mesh, number):
        """First cells of levels, and the flags `refined` and `owned`."""
        found = Tree(struct_size=ctypes.sizeof(Tree))
        self.call("context_tree", mesh.encode(), ctypes.c_int64(number), ctypes.byref(found))
        starts = _copy(found.starts, found.levels + 1, np.int64)
        return starts, *(_copy(flags, int(starts[-1]), np.uint8) for flags in (found.refined, found.owned))

    def cells(self, mesh, names, *, level=0, box=None, coarsest=0, deepest=-1, everything=False):
        """Cells as level, index, refined, owner, and the values of variables by name."""
        choice = LIBRARY.sidestream_all_leaves()
        assert choice.struct_size == ctypes.sizeof(Choice)
        choice.level, choice.coarsest, choice.deepest, choice.all = level, coarsest, deepest, everything
        if box is not None:
            choice.has_box, choice.lo, choice.hi = 1, *(Three(*map(int, side)) for side in box)
        handle = ctypes.c_void_p()
        self.call("context_list_cells", mesh.encode(), ctypes.byref(choice), ctypes.byref(handle))
        found = Cells(struct_size=ctypes.sizeof(Cells))
        assert LIBRARY.sidestream_cells_list(handle, ctypes.byref(found)) == 0
        count, values = found.count, {}
        for name in names:
            about = self.variable(name)
            room = np.empty((count, about.components), TYPES[about.type])
            data = name.encode(), ctypes.c_void_p(room.ctypes.data), ctypes.c_uint64(room.nbytes)
            self.call("cells_read", handle, *data, None)
            values[name] = room
        lists = _copy(found.level, count, int), _copy(found.index, 3 * count, int).reshape(-1, 3)
        lists += _copy(found.refined, count, int), _copy(found.owner, count, int)
        LIBRARY.sidestream_cells_free(ctypes.byref(handle))
        assert not handle
        return *lists, values


def counted(cells):
    """Chooses the leaves that count."""
    return cells.counted


def every(cells):
    """Chooses all cells."""
    return np.ones(len(cells.index), bool)


def _in_order(index, *others):
    order = np.lexsort(index.T)
    return [index[order], *(other[order] for other in others)]


def check_cells(found, levels, name, chosen, box=None):
    """Compares listed cells with those of the Python reader, of each level those that `chosen` picks. `box` is a level
    and a box of its cells, of a mesh that is refined by 2 along all axes."""
    level, index, refined, owner, values = found
    assert np.all(np.diff(level) >= 0)
    for n, of in enumerate(levels):
        cells = of.cells
        wanted = chosen(cells)
        if box is not None:
            shift, lo, hi = 2 ** max(n - box[0], 0), *map(np.array, box[1:])
            down, used = 2 ** max(box[0] - n, 0), levels.mesh.dimensions
            low, high = (lo // down * shift)[:used], (-(-hi // down) * shift)[:used]
            wanted = wanted & np.all((cells.index[:, :used] >= low) & (cells.index[:, :used] < high), axis=1)
        mine = level == n
        more = levels.values(name, n, wanted)
        expected = _in_order(cells.index[wanted], cells.refined[wanted], cells.owner[wanted], more)
        got = _in_order(index[mine], refined[mine] != 0, owner[mine], values[name][mine])
        for a, b in zip(got[:3], expected[:3], strict=True):
            np.testing.assert_array_equal(a, b)
        assert got[3].tobytes() == expected[3].tobytes()
    assert len(level) == 0 or level.max() < len(levels)
