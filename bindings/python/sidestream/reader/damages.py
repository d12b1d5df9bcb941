"""The one place where whatever a damaged or forged file makes go wrong becomes a sentence."""

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from ..errors import Code, Error

# What NumPy, the standard library and their users raise when they are given numbers that make no sense.
_KINDS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


@contextmanager
def reading(where: str, writes: bool = False) -> Iterator[None]:
    """Inside, everything that a file is to blame for is an Error(FILE) that begins with `where`. `writes`: what the
    system says may be of files that are written, and stays."""
    try:
        yield
    except Error:
        raise
    except MemoryError as problem:
        raise Error(
            f"{where}: this needs more memory than there is; read parts, or the file is damaged",
            Code.FILE,
        ) from problem
    except _KINDS as problem:
        said = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        raise Error(f"{where} makes no sense ({said}); the file is damaged", Code.FILE) from problem
    except (OSError, RuntimeError) as problem:  # HDF5's too
        if writes or isinstance(problem, NotImplementedError):
            raise
        raise Error(f"{where} cannot be read ({problem})", Code.FILE) from problem


def of_context(method: Callable[..., Any]) -> Callable[..., Any]:
    """Of a class with `place` and `name`: all that its method raises is as in `reading`."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        with reading(f"{self.place}: {self.name}"):
            return method(self, *args, **kwargs)

    return guarded
