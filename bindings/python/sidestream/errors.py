"""The exception of calls that fail."""

from enum import IntEnum


class Code(IntEnum):
    """The codes of sidestream.h."""

    OK = 0
    USAGE = 1  # wrong arguments, or a call at the wrong moment
    CONFIGURATION = 2
    FULL = 3
    ANALYSIS = 4  # an analysis or a writer failed on a server (`on_error: stop`)
    FILE = 5
    SYSTEM = 6
    REFUSED = 7  # never raised: a refusal is no error
    INTERNAL = 8


class Error(RuntimeError):
    """A call failed. The text says what was found, where, what was expected and what to change."""

    code: Code

    def __init__(self, message: str, code: int = Code.USAGE) -> None:
        super().__init__(message)
        self.code = Code(code)

    def __reduce__(self) -> tuple[type["Error"], tuple[str, int]]:
        return type(self), (str(self), int(self.code))
