"""VTK's objects of the blocks that an analysis in Python gets, and of databases (docs/vtk-objects.md).

Entry: `grid`, `multiblock`, `levels` and `copied`, which scripts of the analysis `python` call; `DatabaseReader`, and
the plugin of ParaView, which imports it. `describing` says what a block is in numbers and arrays, `refined` likewise of
trees and levels that the reader lists; the objects are made by `grids`, which ParaView's driver uses, too. VTK is
loaded by the first call.

May use: paraview, reader. May be used by: scripts of users, ParaView.
"""

from typing import TYPE_CHECKING, Any

from .making import copied, grid, levels, multiblock

if TYPE_CHECKING:
    from .reading import DatabaseReader as DatabaseReader

__all__ = ["DatabaseReader", "copied", "grid", "levels", "multiblock"]


def __getattr__(name: str) -> Any:
    if name != "DatabaseReader":
        raise AttributeError(f"module 'sidestream.vtk' has no attribute '{name}'")
    from .reading import DatabaseReader

    return DatabaseReader
