"""The analysis: gathers meshes on the first server, whose ParaView draws them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .child import Child, ParaViewError
from .gathered import joined, pieces_of


class Scene:
    """Pictures of a state or Catalyst script that ParaView exported, one for each `file` of the entry.

    state: the exported script; looked for in `folder`, then in the working directory.
    source: the registration name of the reader or source that the mesh replaces; by default the mesh's name. With
        several meshes, `mesh=name` for each, separated by commas.
    program: ParaView's batch interpreter with its options.
    display: `auto` starts an X server without a screen (Xvfb) where there is one; `none` leaves that out, for a
        ParaView that draws with OSMesa or EGL.
    extracts: the directory for what extractors write besides pictures; without it such extractors are refused.
    limit: the seconds that an iteration may take, ParaView's start included.

    Raises ValueError for arguments that do not fit, and SyntaxError if the script is not Python.
    """

    def __init__(
        self,
        state: str,
        source: str = "",
        program: str = "pvbatch --no-mpi",
        display: str = "auto",
        extracts: str = "",
        limit: float = 120.0,
        folder: str = "",
    ) -> None:
        if display not in ("auto", "none"):
            raise ValueError(f"display: found '{display}', expected auto or none")
        if not limit > 0:
            raise ValueError(f"limit: found {limit}, expected seconds above 0")
        self._state = _found(state, folder)
        compile(self._state.read_bytes(), str(self._state), "exec")
        self._sources = _names(source)
        self._program, self._display, self._limit = program, display, float(limit)
        self._extracts = str(Path(extracts).absolute()) if extracts else ""
        self._child: Child | None = None

    def __del__(self) -> None:
        self._close()

    def local(self, data: Any) -> Any:
        """Copies of this server's blocks."""
        return pieces_of(data)

    def combine(self, partials: list[Any], servers: Any) -> tuple[NDArray[np.uint8] | None, ...] | None:
        """Draws on the first server. Raises ParaViewError if ParaView or the script fails."""
        gathered = servers.gather(partials)
        if gathered is None:
            return None
        meshes, arrays = joined([partial for of_server in gathered for partial in of_server])
        if not meshes:
            return None
        for mesh in meshes:
            mesh["source"] = self._source_of(mesh["name"], len(meshes))
        iteration = {"index": servers.index, "cycle": servers.cycle, "time": servers.time, "meshes": meshes}
        return tuple(self._drawn(iteration, arrays))

    def _source_of(self, mesh: str, meshes: int) -> str:
        if mesh in self._sources:
            return self._sources[mesh]
        return self._sources.get("", mesh) if meshes == 1 else mesh

    def _drawn(self, iteration: dict[str, Any], arrays: list[NDArray[Any]]) -> list[NDArray[np.uint8] | None]:
        try:
            if self._child is None:
                start = {"state": str(self._state), "display": self._display, "extracts": self._extracts}
                self._child = Child(self._program, start, self._limit)
            answer, pictures = self._child.ask(iteration, arrays)
        except ParaViewError:
            self._close()  # the next iteration starts another one
            raise
        return [pictures[n] if n >= 0 else None for n in answer["pictures"]]

    def _close(self) -> None:
        child, self._child = getattr(self, "_child", None), None
        if child is not None:
            child.close()


def _found(state: str, folder: str) -> Path:
    for candidate in (Path(folder) / state, Path(state)):
        if candidate.is_file():
            return candidate.absolute()
    raise ValueError(f"state: found no file '{state}', nor one beside the configuration; correct the path")


def _names(source: str) -> dict[str, str]:
    """Registration names by mesh; by an empty name for the only mesh."""
    if "=" not in source:
        return {"": source} if source else {}
    pairs = [part.partition("=") for part in source.split(",")]
    wrong = [mesh for mesh, equals, name in pairs if not (mesh.strip() and equals and name.strip())]
    if wrong:
        raise ValueError(f"source: found '{source}', expected a name, or mesh=name for each mesh, separated by commas")
    return {mesh.strip(): name.strip() for mesh, _, name in pairs}
