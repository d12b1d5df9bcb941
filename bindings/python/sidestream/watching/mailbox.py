"""Requests to a running session: files in a hidden folder of its output directory, which its first server takes.

A request is a file `request-ID` of two lines that appears by renaming. Its answer is the file `answer-ID`, a sentence.
Removing the request withdraws it. src/storage/files/mailbox.cpp is the other end."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Generator
from pathlib import Path

from ..errors import Code, Error

LONGEST = 4096
# Seconds that a request which was just taken gets for its answer.
MOMENT = 5.0


def read_small(path: Path, most: int = 1 << 20) -> str | None:
    """The text of a file; None if it is missing, or is a link or a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            return file.read(most).decode("utf-8", "replace")
        except OSError:
            return None


class Request:
    """A request that was posted into `folder`."""

    def __init__(self, folder: Path, first: str, second: str) -> None:
        for line in (first, second):
            if "\n" in line or "\0" in line:
                raise Error(f"'{line[:60]}' has several lines, expected one")
        text = f"{first}\n{second}\n".encode()
        if len(text) > LONGEST:
            raise Error(f"the request has {len(text)} bytes, expected at most {LONGEST}; shorten it")
        name = f"{time.time_ns()}-{socket.gethostname()}-{os.getpid()}"
        self._folder = folder
        self._request, self._answer = folder / f"request-{name}", folder / f"answer-{name}"
        hidden = folder / f".request-{name}.part"
        try:
            hidden.write_bytes(text)
            hidden.rename(self._request)
        except OSError as problem:
            with contextlib.suppress(OSError):
                hidden.unlink()
            raise Error(f"cannot write a request into '{folder}' ({problem.strerror})", Code.FILE) from problem

    def answer(self) -> str | None:
        """The answer, which is then removed; None while there is none."""
        text = read_small(self._answer, LONGEST)
        if text is None:
            return None
        with contextlib.suppress(OSError):
            self._answer.unlink()
        return text.split("\n", 1)[0]

    def withdraw(self) -> bool:
        """Removes the request; returns false if it was taken before."""
        try:
            self._request.unlink()
        except OSError:
            return False
        return True

    def leave(self) -> None:
        """Removes the folder if the session has ended and this was the last answer."""
        if not (self._folder / "parameters").exists() and not (self._folder / "record").exists():
            with contextlib.suppress(OSError):
                self._folder.rmdir()


def _no_answer(wait: float, withdrawn: bool) -> Error:
    if withdrawn:
        return Error(
            f"no answer in {wait:g} s; the request is withdrawn. The simulation answers when an iteration ends: "
            "wait longer, or see whether it is there",
            Code.FILE,
        )
    return Error("the session took the request and has not answered; see in its output what became of it", Code.FILE)


def _steps(request: Request, wait: float) -> Generator[float, None, str]:
    """Looks for the answer again and again; yields the seconds until the next look, and returns the answer."""
    for seconds in (wait, MOMENT):
        until, pause = time.monotonic() + seconds, 0.01
        while (left := until - time.monotonic()) > 0 or pause == 0.01:
            if (sentence := request.answer()) is not None:
                return sentence
            yield min(pause, max(left, 0))
            pause = min(2 * pause, 0.1)
        if seconds == wait and request.withdraw():
            raise _no_answer(wait, True)
    raise _no_answer(wait, False)


def ask_in(folder: Path, first: str, second: str, wait: float) -> str:
    """Posts a request and waits for its answer. Raises Error(FILE) if there is none in `wait` seconds."""
    request = Request(folder, first, second)
    steps = _steps(request, wait)
    try:
        while True:
            time.sleep(next(steps))
    except StopIteration as end:
        return str(end.value)
    except KeyboardInterrupt:
        request.withdraw()
        raise
    finally:
        request.leave()


async def ask_in_turn(folder: Path, first: str, second: str, wait: float) -> str:
    """The same for a program that does other things meanwhile."""
    request = Request(folder, first, second)
    steps = _steps(request, wait)
    try:
        while True:
            try:
                pause = next(steps)
            except StopIteration as end:
                return str(end.value)
            await asyncio.sleep(pause)
    except asyncio.CancelledError:
        request.withdraw()
        raise
    finally:
        request.leave()
