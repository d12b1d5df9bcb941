"""Converts all errors that a damaged or forged file causes to one sentence."""

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from ..errors import Code, Error

# Exceptions of NumPy, the standard library and their users on invalid numbers.
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
    """A context in which errors caused by a file become an Error(FILE) that begins with `where`. `writes`: errors
    may concern files that are written; those of the system stay as they are."""
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
        if writes:
            raise Error(
                f"{where}: {said}; a file is damaged, which `sidestream verify` finds, or Sidestream has a mistake",
                Code.FILE,
            ) from problem
        raise Error(f"{where} makes no sense ({said}); the file is damaged", Code.FILE) from problem
    except (OSError, RuntimeError) as problem:  # HDF5's too
        if writes or isinstance(problem, NotImplementedError):
            raise
        raise Error(f"{where} cannot be read ({problem})", Code.FILE) from problem


def of_context(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a method of a class with `place` and `name`: its exceptions are converted as in `reading`."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        with reading(f"{self.place}: {self.name}"):
            return method(self, *args, **kwargs)

    return guarded
