"""The page as one file, with pictures and tables in it, where no port can be opened: `sidestream watch --page FILE`."""

import base64
import os
import time
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from ..errors import Code, Error
from .inside import file_in
from .page import whole_page
from .server import KINDS
from .watched import Watched

GOES_ON = ("waiting", "running", "unrecorded")
# Bytes of all pictures in the file, and the newest frames of each series that are in it.
MOST_BYTES, FRAMES = 24 << 20, 12


def _embedded(watched: Watched, frames: list[dict[str, Any]], room: int) -> int:
    """Puts pictures into the facts of frames, newest first, while there is room. Returns the room that is left."""
    for frame in reversed(frames):
        kind = KINDS.get(Path(frame["file"]).suffix)
        try:
            path = file_in(watched.root, frame["file"])
            size = path.stat().st_size
            if kind is None or size > room:
                continue
            content = path.read_bytes()
        except (Error, OSError):
            continue
        room -= len(content)
        frame["data"] = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    return room


def content_of(watched: Watched) -> dict[str, Any]:
    """All parts, with the frames and the tables that the page would ask a server for."""
    frames: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, series in watched.pictures.series.items():
        frames[name] = {
            view: [watched.frame_facts(frame) for frame in found[-FRAMES:]] for view, found in series.views.items()
        }
    room = MOST_BYTES
    # The newest of all series come first: some series may have large frames.
    every = [found for views in frames.values() for found in views.values() if found]
    for found in every:
        room = _embedded(watched, found[-1:], room)
    for found in every:
        room = _embedded(watched, found[:-1], room)
    return {
        "parts": {key: value for key, (_, value) in watched.parts.items()},
        "frames": {
            name: {view: [frame for frame in found if "data" in frame] for view, found in views.items()}
            for name, views in frames.items()
        },
        "tables": {name: table.shown() for name, table in watched.tables.items()},
        "written": time.time(),
    }


def write_page(watched: Watched, target: Path, again: float | None) -> str:
    """Writes the file so that it appears whole. Returns the state of the run."""
    watched.refresh()
    state = watched.parts["run"][1]["state"]
    text = whole_page(content_of(watched), get_plotlyjs(), again if state in GOES_ON else None)
    hidden = target.with_name(f".{target.name}.part")
    try:
        with hidden.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(target)
    except OSError as problem:
        raise Error(f"cannot write '{target}' ({problem.strerror})", Code.FILE) from problem
    return str(state)


def keep_writing(watched: Watched, target: Path, every: float) -> None:
    """Writes the file again and again until the run has ended."""
    while write_page(watched, target, every) in GOES_ON:
        time.sleep(every)
