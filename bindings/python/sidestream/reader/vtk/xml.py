"""VTK's XML files as Sidestream writes them: the position of each array, and its values, read on access."""

import base64
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from ...errors import Code, Error

TYPES = {
    **{f"Int{bits}": f"i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    "Float32": "f4",
    "Float64": "f8",
}
_TAG = re.compile(rb"<(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>")
# The arrays of the data set as a whole are listed under this name.
FIELD_DATA = "FieldData"


def _bytes_of(text: bytes, at: int, count: int) -> tuple[bytes, int]:
    """`count` bytes of the base64 text that begins at `at`, and the end of that text."""
    end = at + -(-count // 3) * 4
    return base64.b64decode(text[at:end])[:count], end


@dataclass(frozen=True)
class InlineArray:
    """The position of an array's text in its file."""

    name: str
    dtype: np.dtype[Any]
    components: int
    begin: int
    end: int
    packed: bool
    binary: bool
    path: Path

    def read(self) -> NDArray[Any]:
        """All values, in one row."""
        with self.path.open("rb") as file:
            file.seek(self.begin)
            text = file.read(self.end - self.begin).strip()
        if not self.binary:
            return np.array(text.split(), self.dtype)
        try:
            values = self._unpacked(text) if self.packed else self._plain(text)
            return np.frombuffer(values, self.dtype)
        except (ValueError, zlib.error, IndexError) as problem:
            raise Error(f"{self.path}: the array '{self.name}' is damaged ({problem})", Code.FILE) from problem

    def _plain(self, text: bytes) -> bytes:
        count = int.from_bytes(_bytes_of(text, 0, 8)[0], "little")
        values = _bytes_of(text, 0, 8 + count)[0][8:]
        if len(values) != count:
            raise ValueError(f"{len(values)} bytes of values, expected {count}")
        return values

    def _unpacked(self, text: bytes) -> bytes:
        blocks = int.from_bytes(_bytes_of(text, 0, 8)[0], "little")
        header, at = _bytes_of(text, 0, 8 * (3 + blocks))
        sizes = np.frombuffer(header, "<u8")[3:].astype(int)
        packed, _ = _bytes_of(text, at, int(sizes.sum()))
        ends = np.concatenate(([0], np.cumsum(sizes)))
        return b"".join(zlib.decompress(packed[a:b]) for a, b in pairwise(ends))


@dataclass
class Piece:
    """A part of the data set: the attributes of its element, and the arrays of each section by name. In a list of files
    the arrays are elsewhere, and the attribute `Source` says where."""

    attributes: Mapping[str, str]
    sections: dict[str, dict[str, InlineArray]] = field(default_factory=dict)

    def extent(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.attributes["Extent"].split())


@dataclass
class XmlFile:
    """The content of a file without its values."""

    path: Path
    kind: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)  # attributes of the data set's element
    pieces: list[Piece] = field(default_factory=list)
    declared: dict[str, dict[str, tuple[np.dtype[Any], int]]] = field(default_factory=dict)  # in a list of files
    fields: dict[str, InlineArray] = field(default_factory=dict)
    sets: list[tuple[str, str]] = field(default_factory=list)  # in multi-block files: name, file


class _Parser:
    """Parses the elements of one file; texts are skipped."""

    def __init__(self, path: Path) -> None:
        self.found, self.stack = XmlFile(path), list[str]()
        self.packed, self.block, self.begin = False, "", 0
        self.open: dict[str, str] | None = None
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.stop

    def _wrong(self, what: str) -> Error:
        return Error(f"{self.found.path}: {what}", Code.FILE)

    def _dtype(self, attributes: Mapping[str, str]) -> np.dtype[Any]:
        name = attributes.get("type", "")
        if name not in TYPES:
            raise self._wrong(f"the type '{name}' of an array is none of {', '.join(TYPES)}")
        return np.dtype("<" + TYPES[name])

    def _head(self, attributes: Mapping[str, str]) -> None:
        self.found.kind = attributes.get("type", "")
        order = attributes.get("byte_order", "LittleEndian")
        if order != "LittleEndian":
            raise self._wrong(f"values are {order}, expected LittleEndian")
        compressor = attributes.get("compressor", "")
        self.packed = compressor != ""
        if compressor not in ("", "vtkZLibDataCompressor"):
            raise self._wrong(f"values are packed by {compressor}, expected vtkZLibDataCompressor")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "VTKFile":
            self._head(attributes)
        elif len(self.stack) == 1:
            self.found.attributes = attributes
        elif name == "Piece":
            self.found.pieces.append(Piece(attributes))
        elif name == "DataArray":
            self.open, self.begin = attributes, self.parser.CurrentByteIndex
        elif name == "PDataArray":
            kind = self._dtype(attributes), int(attributes.get("NumberOfComponents", 1))
            self.found.declared.setdefault(self.stack[-1][1:], {})[attributes.get("Name", "")] = kind
        elif name == "Block":
            self.block = attributes.get("name", attributes.get("index", ""))
        elif name == "DataSet" and "file" in attributes:
            own = attributes.get("name", attributes.get("index", attributes.get("timestep", "")))
            self.found.sets.append((f"{self.block}/{own}".strip("/"), attributes["file"]))
        self.stack.append(name)

    def stop(self, name: str) -> None:
        self.stack.pop()
        if name == "DataArray" and self.open is not None:
            self._add(self.open, self.parser.CurrentByteIndex)
            self.open = None

    def _add(self, attributes: Mapping[str, str], end: int) -> None:
        form = attributes.get("format", "ascii")
        if form not in ("binary", "ascii"):
            raise self._wrong(f"values are '{form}', expected binary or ascii, as Sidestream writes them")
        array = InlineArray(
            attributes.get("Name", ""),
            self._dtype(attributes),
            int(attributes.get("NumberOfComponents", 1)),
            self.begin,
            end,
            self.packed,
            form == "binary",
            self.found.path,
        )
        section = self.stack[-1]
        if section == FIELD_DATA:
            self.found.fields[array.name] = array
        elif self.found.pieces:
            self.found.pieces[-1].sections.setdefault(section, {})[array.name] = array


def _behind_tags(found: XmlFile) -> None:
    """Arrays begin after their tags, whose length the parser does not give."""
    tables = [found.fields, *(section for piece in found.pieces for section in piece.sections.values())]
    with found.path.open("rb") as file:
        for table in tables:
            for name, array in table.items():
                file.seek(array.begin)
                tag = _TAG.match(file.read(65536))
                length = tag.end() if tag else 0
                begin = min(array.begin + length, array.end)
                table[name] = InlineArray(**{**array.__dict__, "begin": begin})


def parse(path: Path) -> XmlFile:
    """Parses a file, without reading values."""
    parser = _Parser(path)
    try:
        with path.open("rb") as file:
            parser.parser.ParseFile(file)
    except expat.ExpatError as problem:
        raise Error(f"{path}: this is no XML file that can be read ({problem})", Code.FILE) from problem
    if not parser.found.kind:
        raise Error(f"{path}: there is no element VTKFile, expected one of VTK's XML files", Code.FILE)
    _behind_tags(parser.found)
    return parser.found


def length_of(array: InlineArray) -> int:
    """Number of tuples of an array, read from its beginning."""
    if not array.binary:
        return array.read().size // array.components
    with array.path.open("rb") as file:
        file.seek(array.begin)
        text = file.read(min(array.end - array.begin, 64)).strip()
    header = np.frombuffer(_bytes_of(text, 0, 24 if array.packed else 8)[0], "<u8").astype(int)
    if not array.packed:
        size = int(header[0])
    else:
        size = int(header[0] * header[1] - (header[1] - header[2] if header[2] else 0)) if header[0] else 0
    return size // prod((array.dtype.itemsize, array.components))
