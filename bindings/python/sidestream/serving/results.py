"""Converts the return value of an analysis in Python to the tables, pictures and arrays that the library writes."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = tuple[str, str, Any]
Made = tuple[int, str, Any]

_EXPECTED = (
    "expected a dict of numbers or arrays, a pandas DataFrame, an xarray Dataset, a Matplotlib figure, or a picture "
    "(uint8, height x width x 3 or 4)"
)


def _s(things: list[Any]) -> str:
    return "s" if len(things) != 1 else ""


def made(result: Any, files: list[str]) -> list[Made]:
    """Returns numbers of files, kinds of results and their contents."""
    if result is None:
        return []
    several = list(result) if isinstance(result, tuple | list) else [result]
    if len(several) != len(files):
        raise TypeError(
            f"found {len(several)} result{_s(several)} for {len(files)} file{_s(files)}; return as many as the entry's "
            "`file` lists, None for one that has none now"
        )
    return [(n, *_one(value, files[n])) for n, value in enumerate(several) if value is not None]


def _one(result: Any, file: str) -> tuple[str, Any]:
    if hasattr(result, "savefig"):
        return "image", _picture(_drawn(result))
    if isinstance(result, np.ndarray) and result.dtype == np.uint8 and result.ndim == 3 and result.shape[2] in (3, 4):
        return "image", _picture(result)
    if hasattr(result, "data_vars"):
        return "data", [_array(str(n), np.asarray(a), [str(d) for d in a.dims]) for n, a in result.variables.items()]
    if hasattr(result, "columns") and hasattr(result, "to_numpy"):
        result = {str(name): result[name].to_numpy() for name in result.columns}
    if not isinstance(result, Mapping):
        raise TypeError(f"found a result of type {type(result).__name__} for '{file}', {_EXPECTED}")
    if Path(file).suffix.lower() == ".h5":
        return "data", [_array(str(name), np.asarray(value), None) for name, value in result.items()]
    return "table", [_column(name, values) for name, values in columns_of(result).items()]


def _drawn(figure: Any) -> NDArray[np.uint8]:
    """Draws with Agg, which needs no screen; a figure made with pyplot need not be closed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(figure)
    return pixels


def _picture(pixels: NDArray[np.uint8]) -> tuple[int, int, bytes]:
    height, width, channels = pixels.shape
    full = np.full((height, width, 4), 255, np.uint8)
    full[..., :channels] = pixels
    return width, height, full.tobytes()


def columns_of(result: Mapping[Any, Any]) -> dict[str, NDArray[Any]]:
    """Returns columns of equal length, int64, float64 or texts; single values are repeated in every row."""
    arrays = {str(name): np.asarray(value) for name, value in result.items()}
    lengths = {name: len(array) for name, array in arrays.items() if array.ndim == 1}
    for name, array in arrays.items():
        if array.ndim > 1:
            raise TypeError(
                f"found {array.ndim} axes in '{name}', expected a number or one axis for a table; write .h5"
            )
    if len(set(lengths.values())) > 1:
        raise TypeError(f"found columns of different lengths ({lengths}), expected one length")
    rows = next(iter(lengths.values()), 1)
    return {name: _typed(name, np.broadcast_to(array, (rows,))) for name, array in arrays.items()}


def _typed(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind in "bi":
        return array.astype(np.int64)
    if array.dtype.kind == "u":
        if array.size and array.max() > np.iinfo(np.int64).max:
            raise TypeError(f"found whole numbers of 2^63 and more in '{name}', expected smaller ones, or reals")
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.dtype.kind in "OUTSM":
        return np.array([one.decode() if isinstance(one, bytes) else str(one) for one in array], object)
    raise TypeError(f"found values of {array.dtype} in '{name}', expected whole numbers, reals or texts")


def _column(name: str, values: NDArray[Any]) -> Column:
    if values.dtype.kind == "O":
        return name, "text", list(values)
    return name, "int" if values.dtype.kind == "i" else "real", values.tobytes()


def _array(name: str, array: NDArray[Any], axes: list[str] | None) -> tuple[str, str, list[str], list[int], bytes]:
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf" or array.itemsize not in (1, 2, 4, 8) or array.dtype == np.float16:
        raise TypeError(f"found values of {array.dtype} in '{name}', expected whole numbers, float32 or float64")
    native = np.atleast_1d(array.astype(array.dtype.newbyteorder("=")))
    names = axes if axes else [f"{name}_{n}" for n in range(native.ndim)]
    return name, native.dtype.name, names, list(native.shape), np.ascontiguousarray(native).tobytes()
