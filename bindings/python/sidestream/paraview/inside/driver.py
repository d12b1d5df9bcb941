"""The main program in ParaView's interpreter: `pvbatch driver.py SOCKET SERVER`, a descriptor and a process' number.
Draws iterations until the server closes the socket."""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

_HERE = str(Path(__file__).resolve().parent)
_PR_SET_PDEATHSIG = 1


def end_with_parent(number: int = signal.SIGKILL) -> None:
    """Lets the system end this process when the one that started it dies."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number))


def start_display() -> None:
    """Starts an X server without a screen, if there is one, and directs this process to it."""
    os.environ.pop("DISPLAY", None)
    program = shutil.which("Xvfb")
    if program is None:
        return
    ours, theirs = os.pipe()
    # A reset after the first client, which only tests the display, would refuse the next one.
    options = ["-noreset", "-screen", "0", "64x64x24", "-nolisten", "tcp"]
    subprocess.Popen(
        [program, "-displayfd", str(theirs), *options],
        pass_fds=[theirs],
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: end_with_parent(signal.SIGTERM),
    )
    os.close(theirs)
    with os.fdopen(ours) as answer:
        number = answer.readline().strip()
    if not number:
        raise RuntimeError("Xvfb found no free display; its message is above")
    os.environ["DISPLAY"] = f":{number}"


def described(error: BaseException, script: str) -> str:
    """The exception with its place in the script, then the traceback without what is not the script's."""
    if isinstance(error, LookupError) and not isinstance(error, (KeyError, IndexError)):
        return f"{Path(script).name}: {error}"
    shown = traceback.TracebackException.from_exception(error)
    files = [frame.filename for frame in shown.stack]
    del shown.stack[: files.index(script) if script in files else len(files)]
    lines = [frame.lineno for frame in shown.stack if frame.filename == script]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    place = f":{lines[-1]}" if lines else ""
    summary = list(shown.format_exception_only())[-1].strip()
    trace = "".join(shown.format()).rstrip()
    return f"{Path(script).name}{place}: {summary}" + (f"\n{trace}" if lines else "")


class Errors:
    """Errors that VTK prints instead of raising them."""

    def __init__(self) -> None:
        from vtkmodules.vtkCommonCore import vtkOutputWindow

        self._texts: list[str] = []

        def add(window: Any, event: str, text: str) -> None:
            self._texts.append(" ".join(text.split()))

        add.CallDataType = "string0"  # type: ignore[attr-defined]
        vtkOutputWindow.GetInstance().AddObserver("ErrorEvent", add)

    def taken(self) -> list[str]:
        """Those since the last call."""
        texts, self._texts = self._texts, []
        return texts


def draw(scene: Any, iteration: dict[str, Any], arrays: list[Any], is_first: bool) -> list[Any]:
    """The pictures of an iteration, or None for each that is not due."""
    from grids import grid_of

    grids = {mesh["source"]: grid_of(mesh, arrays) for mesh in iteration["meshes"]}
    if is_first:
        scene.run(grids, iteration["time"])
    else:
        scene.feed(grids, iteration["time"])
    return list(scene.drawn(iteration["index"], iteration["cycle"], iteration["time"]))


def serve(channel: Any) -> None:
    """Answers iterations until the other end is closed."""
    start, _ = channel.receive()
    iteration, arrays = channel.receive()
    scene, errors = None, None
    while True:
        try:
            if scene is None:
                if start["display"] == "auto":
                    start_display()
                from exported import Exported

                errors = Errors()
                scene = Exported(start["state"], start["extracts"])
                pictures = draw(scene, iteration, arrays, True)
            else:
                pictures = draw(scene, iteration, arrays, False)
            found = errors.taken() if errors else []
            if found:
                raise RuntimeError(f"ParaView reported: {found[0]}")
            given = [picture for picture in pictures if picture is not None]
            numbers = iter(range(len(given)))
            answer = {"pictures": [-1 if picture is None else next(numbers) for picture in pictures]}
            channel.send(answer, given)
        except Exception as error:
            channel.send({"error": described(error, start["state"])}, [])
        iteration, arrays = channel.receive()


def main() -> None:
    end_with_parent()
    try:
        os.kill(int(sys.argv[2]), 0)
    except ProcessLookupError:
        return  # the server died before this process could ask to die with it
    sys.path.insert(0, _HERE)
    import messages

    channel = messages.Channel(socket.socket(fileno=int(sys.argv[1])))
    with contextlib.suppress(EOFError, OSError):  # the server has gone, or the session is over
        serve(channel)


if __name__ == "__main__":
    main()
