"""VTK's objects of the blocks that an analysis in Python gets (docs/vtk-objects.md).

Entry: `grid`, `multiblock`, `levels` and `copied`, which scripts of the analysis `python` call. `describing` says what
a block is in numbers and arrays; the objects are made by `grids`, which ParaView's driver uses, too. VTK is loaded by
the first call.

May use: paraview. May be used by: scripts of users.
"""

from .making import copied, grid, levels, multiblock

__all__ = ["copied", "grid", "levels", "multiblock"]
