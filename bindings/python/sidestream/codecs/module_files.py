"""Files of Sidestream's modules, and their functions in C.

A file is in the folder SIDESTREAM_MODULES, in the package, or beside it in an installation or a build.
"""

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any


def module_file(name: str) -> Path | None:
    """The file `sidestream_NAME.so`; None if there is none."""
    named = os.environ.get("SIDESTREAM_MODULES", "")
    package = Path(__file__).parents[1]
    beside = [package / "modules", package.parents[1] / "modules", package.parents[2] / "src" / "modules"]
    for folder in [Path(named)] if named else beside:
        file = folder / f"sidestream_{name}.so"
        if file.is_file():
            return file.resolve()
    return None


def module_function(module: str, name: str, *arguments: Any) -> Any:
    """A function of that module which returns a code; None if the file is not there or does not have the function.

    After `arguments` it takes the memory for a sentence about an error, and its size.
    """
    file = module_file(module)
    return None if file is None else _function(file, name, (*arguments, ctypes.c_char_p, ctypes.c_uint64))


@cache
def _function(file: Path, name: str, arguments: tuple[Any, ...]) -> Any:
    try:
        function = ctypes.CDLL(str(file))[name]
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_int
    function.argtypes = arguments
    return function
