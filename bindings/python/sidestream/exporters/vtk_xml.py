"""VTK's XML files, with arrays inline in base64, which every version and every other reader accepts."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

_TYPES = {"int": "Int", "uint": "UInt", "float": "Float"}


def _type_name(dtype: np.dtype[Any]) -> str:
    kind = dtype.name.rstrip("0123456789")
    return f"{_TYPES[kind]}{8 * dtype.itemsize}"


@dataclass
class Array:
    """An array whose values are given part by part, in the order of the file."""

    name: str
    dtype: np.dtype[Any]
    components: int
    size: int
    parts: Iterable[NDArray[Any]]
    bits: int | None = None  # for an array of bits: their number

    @classmethod
    def of(cls, name: str, values: NDArray[Any]) -> "Array":
        """An array in memory; the last of two axes has the components."""
        components = values.shape[1] if values.ndim > 1 else 1
        return cls(name, values.dtype, components, values.size, (values,))


def _encoded(array: Array) -> Iterator[bytes]:
    """Encodes one stream: the number of bytes, then the bytes; cut where base64 needs no padding."""
    dtype = array.dtype.newbyteorder("<")
    rest = (array.size * dtype.itemsize).to_bytes(8, "little")
    for part in array.parts:
        rest += np.ascontiguousarray(part, dtype).tobytes()
        whole = len(rest) // 3 * 3
        yield base64.b64encode(rest[:whole])
        rest = rest[whole:]
    yield base64.b64encode(rest)


def write_array(file: BinaryIO, array: Array, tuples: bool) -> None:
    count = array.size // array.components if array.bits is None else array.bits
    more = f' NumberOfTuples="{count}"' if tuples else ""
    kind = _type_name(array.dtype) if array.bits is None else "Bit"
    file.write(
        f'<DataArray type="{kind}" Name={quoteattr(array.name)} '
        f'NumberOfComponents="{array.components}"{more} format="binary">'.encode()
    )
    for text in _encoded(array):
        file.write(text)
    file.write(b"</DataArray>\n")


def write_vtk(
    path: Path,
    kind: str,
    whole: dict[str, str],
    piece: dict[str, str],
    sections: list[tuple[str, list[Array]]],
    about: list[Array],
) -> None:
    """Writes a file of one piece. `whole` and `piece` are their attributes, `about` the field data."""
    as_text = lambda attributes: "".join(f" {k}={quoteattr(v)}" for k, v in attributes.items())  # noqa: E731
    with path.open("wb") as file:
        file.write(f'<VTKFile type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'.encode())
        file.write(f"<{kind}{as_text(whole)}>\n<FieldData>\n".encode())
        for array in about:
            write_array(file, array, tuples=True)
        file.write(f"</FieldData>\n<Piece{as_text(piece)}>\n".encode())
        for name, arrays in sections:
            file.write(f"<{name}>\n".encode())
            for array in arrays:
                write_array(file, array, tuples=False)
            file.write(f"</{name}>\n".encode())
        file.write(f"</Piece>\n</{kind}>\n</VTKFile>\n".encode())
