"""ParaView on servers: a state or Catalyst script that ParaView exported draws the run's blocks.

Entry: `Scene`, a class for `call` of the analysis `python` with `script: sidestream.paraview` (docs/paraview.md).
`gathered` makes whole meshes of blocks; `child` starts ParaView's interpreter and talks to it. What runs in that
interpreter is in `inside`, which needs only the standard library, NumPy and ParaView: its VTK and a VTK of the server
must not meet in one process.

May use: nothing of the other parts. May be used by: configurations.
"""

from .child import ParaViewError
from .scene import Scene

__all__ = ["ParaViewError", "Scene"]
