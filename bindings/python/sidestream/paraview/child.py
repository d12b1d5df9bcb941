"""ParaView's interpreter as a child of the server."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .inside.messages import Channel

_DRIVER = Path(__file__).parent / "inside" / "driver.py"
# Variables of launchers would make the child a member of the simulation's MPI job, those of Python would give it the
# server's packages, and a preloaded library was meant for the server.
_NOT_PASSED = (
    *("OMPI_COMM_WORLD_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_UNIVERSE_", "PMIX_", "PMI_"),
    *("HYDI_", "MPI_LOCAL", "PYTHON", "VIRTUAL_ENV", "LD_PRELOAD"),
)
_SHOWN = 12  # lines of output in a message
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_OF_A_STACK = re.compile(r"\d+ +0x")


class ParaViewError(RuntimeError):
    """ParaView or the script failed; the text is a sentence."""

    __module__ = "sidestream.paraview"  # as reports name it


class Child:
    """A running interpreter with a scene. It has its own process group and ends with the server."""

    def __init__(self, program: str, start: dict[str, Any], limit: float) -> None:
        """Starts it; each `ask` may take `limit` seconds. Raises ParaViewError if there is no such program."""
        self._words = shlex.split(program)
        self._limit = limit
        if not self._words or shutil.which(self._words[0]) is None:
            raise ParaViewError(
                f"found no program '{program.split(' ')[0]}' on this server, expected ParaView's batch interpreter: "
                "install ParaView there (Debian: paraview, python3-paraview, xvfb), or name the program in `program`"
            )
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        mine, theirs = socket.socketpair()
        self._channel = Channel(mine)
        environment = {n: v for n, v in os.environ.items() if not n.startswith(_NOT_PASSED)}
        with theirs:
            self._process = subprocess.Popen(
                [*self._words, str(_DRIVER), str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=[theirs.fileno()],
                env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
                start_new_session=True,
            )
        self._start: dict[str, Any] | None = start

    def ask(self, iteration: dict[str, Any], arrays: list[NDArray[Any]]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """Returns the answer to an iteration. Raises ParaViewError; the child is of no use after that."""
        self._channel.within(self._limit)
        try:
            if self._start is not None:
                self._channel.send(self._start, [])
                self._start = None
            self._channel.send(iteration, arrays)
            answer, given = self._channel.receive()
        except TimeoutError:
            self._end(0)
            raise ParaViewError(
                f"ParaView ({self._words[0]}) did not answer within {self._limit:g} s and was ended; raise `limit`, or "
                f"look at the state's script{self._last_lines()}"
            ) from None
        except (EOFError, OSError):
            raise ParaViewError(
                f"ParaView ({self._words[0]}) {self._end()} before it answered{self._last_lines()}"
            ) from None
        if "error" in answer:
            raise ParaViewError(f"{answer['error']}")
        return answer, given

    def close(self) -> None:
        """Ends the child and what it started."""
        self._channel.close()
        self._end()
        self._output.close()

    def _end(self, patience: float = 2) -> str:
        """Ends the process group. Returns how the child ended, if it did so by itself within `patience` seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)  # a child whose server has gone leaves, and Xvfb with it
        status = self._process.poll()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if status is None:
            return "closed its connection"
        return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"

    def _last_lines(self) -> str:
        self._output.seek(max(0, self._output.seek(0, os.SEEK_END) - 8192))
        lines = _COLOURS.sub("", self._output.read().decode(errors="replace")).splitlines()
        shown = [line for line in lines if line.strip() and not _OF_A_STACK.match(line)][-_SHOWN:]
        return ". Its last lines were:\n" + "\n".join(shown) if shown else "; it printed nothing"
