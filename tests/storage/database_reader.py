"""Reads a database with NumPy, as docs/database-format.md describes it. Only checksums and zstd are from libraries."""

import ctypes
import ctypes.util
import json
import struct
import zlib
from pathlib import Path

import numpy as np

SLOT, FACE = 256, 8192
_NUMBERS = ("group", "number", "first", "last", "contributors", "unused")
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
    [(n, "<u4") for n in ("variable", "block", "number", "chunks")] + [(n, "<u8") for n in ("offset", "bytes", "chunk")]
)
CHUNK = np.dtype([("bytes", "<u4"), ("encoded", "<u4"), ("sum", "<u8")])
assert (GROUP.itemsize, BLOCK.itemsize, PIECE.itemsize, CHUNK.itemsize) == (80, 144, 40, 16)


class Damaged(Exception):
    pass


_xxhash = ctypes.CDLL("libxxhash.so.0")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def checksum(data):
    return _xxhash.XXH3_64bits(bytes(data), len(data))


def _zstd(data, size):
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(size, 1))
    got = library.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert got == size
    return out.raw[:size]


def _zstd_frame(data, most):
    """Decompresses a frame; only a bound of its length is known."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(most, 1))
    got = library.ZSTD_decompress(out, ctypes.c_size_t(most), data, ctypes.c_size_t(len(data)))
    assert got <= most
    return out.raw[:got]


def slots(directory):
    """Contexts by slot, without removed ones, and the slots that are not whole."""
    data = (Path(directory) / "contexts").read_bytes()
    contexts, broken = {}, []
    for slot in range(-(-len(data) // SLOT)):
        raw = data[slot * SLOT : (slot + 1) * SLOT]
        whole = len(raw) == SLOT and struct.unpack_from("<Q", raw, 248)[0] == checksum(raw[:248])
        version = struct.unpack_from("<I", raw, 8)[0]
        whole = whole and (version == 1 or (version == 2 and raw[:8] == b"SDSCNTXT"))
        if slot == 0:
            if not (whole and raw[:8] == b"SDSDBASE"):
                broken.append(slot)
        elif whole and raw[:8] == b"SDSCNTXT" and struct.unpack_from("<Q", raw, 16)[0] == slot:
            names = "iteration cycle time kind groups contributors blocks bytes stored group number offset size sum"
            values = struct.unpack_from("<qqdIIQQQQIIQQQ", raw, 24)
            contexts[slot] = dict(zip(names.split(), values, strict=True), run=struct.unpack_from("<I", raw, 12)[0])
        elif whole and raw[:8] == b"SDSREMVD" and struct.unpack_from("<Q", raw, 16)[0] == slot:
            contexts.pop(struct.unpack_from("<Q", raw, 24)[0], None)
        else:
            broken.append(slot)
    return contexts, broken


def unshuffle_bytes(data, width):
    return np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()


def unshuffle_bits(data, width):
    count = len(data) // width // 8 * 8
    planes = np.frombuffer(data[: count * width], np.uint8).reshape(8 * width, -1)
    bits = np.unpackbits(planes, axis=1, bitorder="little")  # one row for each bit, one column for each element
    return np.packbits(bits.T, axis=1, bitorder="little").tobytes() + data[count * width :]


def unquantise(data, dtype, width):
    low, step = struct.unpack_from("<dd", data)
    return (low + step * np.frombuffer(data, f"<u{width}", offset=16).astype("f8")).astype(dtype).tobytes()


def _runs(data, total):
    """Decodes runs of flags, 0 first; returns the flags and the bytes that follow."""
    flags, at = [], 0
    turn = 0
    while len(flags) < total:
        length = shift = 0
        while True:
            length |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                break
        flags += [turn] * length
        turn ^= 1
    return np.array(flags, np.uint8), data[at:]


def _behind_first(data, most):
    return _zstd_frame(data[1:], most) if data[0] & 1 else data[1:]


def unpack_refined(data, dimensions, roots, cells):
    bits, flags, count = _behind_first(data, cells), [], roots if cells else 0
    while count:
        level = np.zeros(count, np.uint8)
        if bits:
            size = -(-count // 8)
            level = np.unpackbits(np.frombuffer(bits[:size], np.uint8), bitorder="little")[:count]
            bits = bits[size:]
        flags.append(level)
        count = int(level.sum()) << dimensions
    flags = np.concatenate([np.zeros(0, np.uint8), *flags])
    assert len(flags) == cells
    return flags


def unpack_owned(data, dimensions, roots, refined):
    parents, children = np.flatnonzero(refined), 1 << dimensions
    flags = np.zeros(len(refined), np.uint8)
    flags[refined == 0], rest = _runs(_behind_first(data, len(refined) + 2), len(refined) - len(parents))
    own, rest = _runs(rest, len(parents))
    assert not rest
    for n in reversed(range(len(parents))):
        last = flags[roots + n * children + children - 1] if data[0] & 2 else 0
        flags[parents[n]] = own[n] ^ last
    return flags


def level_cuts(refined, dimensions, roots, cell, chunk):
    """The numbers of cells in each chunk."""
    most, first, count, cuts = chunk // (cell << dimensions) << dimensions, 0, roots, []
    while count:
        cuts += [min(most, count - n) for n in range(0, count, most)]
        first, count = first + count, int(np.count_nonzero(refined[first : first + count])) << dimensions
    return cuts


def unzfp_array(data):
    """Decodes the stream of zfp at the beginning, whose full header has all that is needed: its bytes, and the bytes
    that it took."""
    zfp = ctypes.CDLL(ctypes.util.find_library("zfp"))
    for name in ("stream_open", "zfp_stream_open", "zfp_field_alloc"):
        getattr(zfp, name).restype = ctypes.c_void_p
    zfp.zfp_decompress.restype = zfp.zfp_read_header.restype = zfp.zfp_field_size.restype = ctypes.c_size_t
    padded = ctypes.create_string_buffer(data + bytes(64))
    bits = ctypes.c_void_p(zfp.stream_open(padded, ctypes.c_size_t(len(padded))))
    stream, field = ctypes.c_void_p(zfp.zfp_stream_open(bits)), ctypes.c_void_p(zfp.zfp_field_alloc())
    assert zfp.zfp_read_header(stream, field, ctypes.c_uint(7)) > 0
    out = ctypes.create_string_buffer(zfp.zfp_field_size(field, None) * (4 if zfp.zfp_field_type(field) == 3 else 8))
    zfp.zfp_field_set_pointer(field, out)
    taken = zfp.zfp_decompress(stream, field)
    assert taken > 0
    zfp.zfp_field_free(field)
    zfp.zfp_stream_close(stream)
    zfp.stream_close(bits)
    return out.raw, taken


def unzfp(data, dtype):
    """Decodes a chunk: one stream, or runs of a stream for each component."""
    if not data.startswith(b"zfpruns1"):
        return unzfp_array(data)[0]
    out, at = b"", 8
    while at < len(data):
        (components,) = struct.unpack_from("<Q", data, at)
        at += 8
        arrays = []
        for _ in range(components):
            raw, taken = unzfp_array(data[at:])
            arrays.append(np.frombuffer(raw, dtype))
            at += taken
        out += np.stack(arrays, -1).tobytes()
    return out


class Context:
    def __init__(self, directory, entry):
        self.directory, self.entry = Path(directory), entry
        record = self._bytes(entry["group"], entry["number"], entry["offset"], entry["size"], entry["sum"])
        magic, length, groups = struct.unpack_from("<8sQQ", record)
        if magic != b"SDSRECRD":
            raise Damaged("no record")
        self.about = json.loads(record[24 : 24 + length])
        self.groups = np.frombuffer(record, GROUP, groups, 24 + -(-length // 8) * 8)
        self.chunk, self.variables = self.about["chunk"], self.about["variables"]
        self.meshes = {mesh["name"]: mesh for mesh in self.about["meshes"]}
        self.tables = [self._table(group) for group in self.groups]

    def _bytes(self, group, number, offset, size, total):
        path = self.directory / f"segment-{self.entry['run']:04}-{group:06}-{number:04}.h5"
        with path.open("rb") as file:
            file.seek(int(offset))
            data = file.read(int(size))
        if len(data) != size or checksum(data) != total:
            raise Damaged(f"{path.name} at {offset}")
        return data

    def _table(self, group):
        where = (group["group"], group["number"])
        size = int(group["blocks"]) * BLOCK.itemsize
        blocks = np.frombuffer(self._bytes(*where, group["offset"], size, group["blocks_sum"]), BLOCK)
        pieces, chunks = int(group["pieces"]), int(group["chunks"])
        rest = self._bytes(
            *where, int(group["offset"]) + size, pieces * PIECE.itemsize + chunks * CHUNK.itemsize, group["rest_sum"]
        )
        return (
            blocks,
            np.frombuffer(rest, PIECE, pieces),
            np.frombuffer(rest, CHUNK, chunks, pieces * PIECE.itemsize),
        )

    def variable(self, name):
        return next(n for n, v in enumerate(self.variables) if v["name"] == name)

    def points(self, variable, block):
        """The first index of a variable's points on a block, and one more than the last."""
        about = self.variables[variable]
        if block["kind"] == 1:
            points, corners, faces = block["lengths"]
            lists = {"connectivity": corners, "faces": faces}
            count = lists.get(about["role"], points if about["centering"] else block["hi"][0])
            return np.array([0, 0, 0]), np.array([count, 1, 1])
        nodes = np.array([about["centering"] >> axis & 1 for axis in range(3)])
        return block["lo"], block["hi"] + nodes

    def _decoded(self, data, about, size, number):
        dtype = np.dtype(about["type"])
        widths, sizes = [dtype.itemsize], [size]
        codecs = [about["codec"], *about.get("others", [])][number - 1]
        for codec in codecs:
            narrower = {"half": 2, "single": 4}.get(codec, widths[-1])
            narrow = int(codec[-1]) if codec.startswith("quantise") else narrower
            sizes.append(sizes[-1] // widths[-1] * narrow + 16 * codec.startswith("quantise"))
            widths.append(narrow)
        for n in reversed(range(len(codecs))):
            codec, width = codecs[n], widths[n]
            if codec == "zstd":
                data = _zstd(data, sizes[n])
            elif codec == "gzip":
                data = zlib.decompress(data, 31)
            elif codec == "byte-shuffle":
                data = unshuffle_bytes(data, width)
            elif codec == "bit-shuffle":
                data = unshuffle_bits(data, width)
            elif codec.startswith("zfp:"):
                data = unzfp(data, dtype)
            elif codec in ("half", "single"):
                data = np.frombuffer(data, f"<f{widths[n + 1]}").astype(dtype).tobytes()
            elif codec.startswith(("bit-round:", "round:")):
                pass  # values are reals as any others
            else:
                data = unquantise(data, dtype, widths[n + 1])
        return data

    def _tree(self, group, piece):
        """Dimensions, roots and refinement flags of the block of a piece."""
        blocks, pieces, _ = self.tables[group]
        mesh = self.about["meshes"][blocks[piece["block"]]["mesh"]]
        found = pieces["variable"] == self.variable(mesh["arrays"]["refined"])
        flags = self.piece(group, pieces[found & (pieces["block"] == piece["block"])][0])
        return mesh["dimensions"], int(np.prod(mesh["roots"])), flags.reshape(-1)

    def _sizes(self, group, piece, about, size):
        """The numbers of bytes in each chunk."""
        if not piece["chunks"]:
            return [min(self.chunk, size - n) for n in range(0, size, self.chunk)]
        if about["role"] != "none":
            return [size]
        dimensions, roots, refined = self._tree(group, piece)
        cell = about["components"] * np.dtype(about["type"]).itemsize
        return [n * cell for n in level_cuts(refined, dimensions, roots, cell, self.chunk)]

    def _of_tree(self, group, piece, about, data, size):
        blocks = self.tables[group][0]
        mesh = self.about["meshes"][blocks[piece["block"]]["mesh"]]
        dimensions, roots = mesh["dimensions"], int(np.prod(mesh["roots"]))
        if about["role"] == "refined":
            return unpack_refined(data, dimensions, roots, size).tobytes()
        if about["role"] == "owned":
            return unpack_owned(data, *self._tree(group, piece)).tobytes()
        raise NotImplementedError("values through the codec of trees")

    def piece(self, group, piece):
        """The values of a piece: an array with axes i, j, k, component."""
        blocks, _, chunks = self.tables[group]
        about, block = self.variables[piece["variable"]], blocks[piece["block"]]
        lo, hi = self.points(piece["variable"], block)
        shape = tuple(int(n) for n in hi - lo)
        size = int(np.prod(shape)) * about["components"] * np.dtype(about["type"]).itemsize
        data, at = b"", int(piece["offset"])
        for n, raw in enumerate(self._sizes(group, piece, about, size)):
            row = chunks[int(piece["chunk"]) + n]
            part = self._bytes(self.groups[group]["group"], piece["number"], at, row["bytes"], row["sum"])
            lists = [about["codec"], *about.get("others", [])]
            if row["encoded"] and lists[row["encoded"] - 1] == ["tree"]:
                data += self._of_tree(group, piece, about, part, size)
            else:
                data += self._decoded(part, about, raw, row["encoded"]) if row["encoded"] else part
            at += int(row["bytes"])
        assert len(data) == size
        values = np.frombuffer(data, np.dtype(about["type"]).newbyteorder("<"))
        if about["order"] == "row":
            return values.reshape(*shape, about["components"])
        return values.reshape(*shape[::-1], about["components"]).transpose(2, 1, 0, 3)

    def pieces(self, name, level=0):
        """Block and values of all pieces of a variable on a level, by descending id."""
        variable, found = self.variable(name), []
        for group, (blocks, pieces, _) in enumerate(self.tables):
            for piece in pieces[pieces["variable"] == variable]:
                if blocks[piece["block"]]["level"] == level:
                    found.append((blocks[piece["block"]], self.piece(group, piece)))
        return sorted(found, key=lambda pair: -pair[0]["id"])

    def whole(self, name, level=0):
        """A variable over its mesh, axes i, j, k, and component if there are several. Points without a block have
        NaN or 0."""
        variable = self.variable(name)
        about = self.variables[variable]
        lo, hi = (np.array(n) for n in self.meshes[about["mesh"]]["cells"])
        nodes = np.array([about["centering"] >> axis & 1 for axis in range(3)])
        shape = (*(hi + nodes - lo), about["components"])
        values = np.full(shape, np.nan if about["type"].startswith("float") else 0, about["type"])
        for block, piece in self.pieces(name, level):
            first = self.points(variable, block)[0] - lo
            values[tuple(slice(f, f + n) for f, n in zip(first, piece.shape, strict=False))] = piece
        return values[..., 0] if about["components"] == 1 else values


def contexts(directory):
    """All contexts of a database by slot."""
    return {slot: Context(directory, entry) for slot, entry in slots(directory)[0].items()}
