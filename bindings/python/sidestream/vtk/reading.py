"""Databases as sources of VTK's pipelines: packed octrees and refinement levels where they are."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import vtkDataArraySelection, vtkOutputWindow
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkHyperTreeGrid, vtkOverlappingAMR
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

from ..errors import Code, Error
from ..paraview.inside import grids
from ..reader.journal import JOURNAL, Slot, chosen, continued
from ..reader.levels.levels import Levels
from ..reader.levels.sources import OfDatabase
from ..reader.stored import Context
from .refined import described

_KINDS = {"octree": vtkHyperTreeGrid, "uniform": vtkOverlappingAMR}


class DatabaseReader(VTKPythonAlgorithmBase):
    """A source with a mesh of a database: a vtkHyperTreeGrid of an octree, a vtkOverlappingAMR of a uniform mesh.

    Its iterations are time steps, without those that a later run wrote anew: at their times, if these grow, else at
    their cycles, else counted from 0. Cells have the values of the block that owns them. Leaves of octrees that no
    block owns are masked, and cells of coarse levels that finer ones cover are hidden. Variables in cells only.

    Only the levels, variables and iterations that are shown are read. Of several processes the first one has all.
    Failures are sentences where VTK's own readers put theirs: ErrorEvent, or the output window.
    """

    def __init__(self) -> None:
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkDataObject")
        self._place: Path | None = None
        self._mesh, self._deepest = "", -1
        self._slots: list[Slot] = []
        self._times: list[float] = []
        self._selection = vtkDataArraySelection()
        self._selection.AddObserver("ModifiedEvent", lambda *_: self.Modified())

    def SetFileName(self, name: str | None) -> None:
        """The directory of a database, or the file `contexts` in it."""
        place = Path(name) if name and name != "None" else None
        place = place.parent if place is not None and place.name == JOURNAL and place.is_file() else place
        if place != self._place:
            self._place = place
            self.Refresh()

    def GetFileName(self) -> str:
        """The directory; empty without one."""
        return str(self._place or "")

    def SetMesh(self, name: str) -> None:
        """Which octree or uniform mesh to show; an empty name stands for the first octree, else the first mesh."""
        if name != self._mesh:
            self._mesh = name
            self.Modified()

    def GetMesh(self) -> str:
        """The name that was set."""
        return self._mesh

    def GetMeshes(self) -> list[str]:
        """The names of the meshes that can be shown, octrees first. Reads the last iteration's description."""
        self._read_slots()
        return self._meshes(Context(self._place, self._slots[-1])) if self._slots else []

    def GetTimes(self) -> list[float]:
        """The times of its steps."""
        self._read_slots()
        return self._times

    def SetDeepestLevel(self, level: int) -> None:
        """The finest level to show: its cells count as leaves, with the values of parents. -1: all."""
        if level != self._deepest:
            self._deepest = int(level)
            self.Modified()

    def GetDeepestLevel(self) -> int:
        """The level that was set."""
        return self._deepest

    def GetVariables(self) -> vtkDataArraySelection:
        """The variables in cells, and which of them are read: all, unless they are disabled."""
        return self._selection

    def Refresh(self) -> None:
        """Looks for new iterations, of a run that is still writing."""
        self._slots = []
        self.Modified()

    def RequestDataObject(self, request: Any, inputs: Any, outputs: Any) -> int:
        """Makes the output's object, whose class depends on the mesh."""

        def make() -> None:
            kind = self._opened(-1).mesh.kind
            now = vtkDataObject.GetData(outputs, 0)
            if now is None or not now.IsA(_KINDS[kind].__name__):
                outputs.GetInformationObject(0).Set(vtkDataObject.DATA_OBJECT(), _KINDS[kind]())

        return self._tried(make)

    def RequestInformation(self, request: Any, inputs: Any, outputs: Any) -> int:
        """Gives the times, and which variables there are."""

        def tell() -> None:
            for name in self._opened(-1).variables:
                self._selection.AddArray(name)
            facts, steps = outputs.GetInformationObject(0), vtkStreamingDemandDrivenPipeline
            facts.Remove(steps.TIME_STEPS())
            for time in self._times:
                facts.Append(steps.TIME_STEPS(), time)
            facts.Set(steps.TIME_RANGE(), [self._times[0], self._times[-1]], 2)

        return self._tried(tell)

    def RequestData(self, request: Any, inputs: Any, outputs: Any) -> int:
        """Reads the iteration at the requested time, or the last one before it."""

        def read() -> None:
            facts, steps = outputs.GetInformationObject(0), vtkStreamingDemandDrivenPipeline
            wanted = facts.Get(steps.UPDATE_TIME_STEP()) if facts.Has(steps.UPDATE_TIME_STEP()) else self._times[-1]
            at = max((n for n, time in enumerate(self._times) if time <= wanted), default=0)
            output = vtkDataObject.GetData(outputs, 0)
            if facts.Has(steps.UPDATE_PIECE_NUMBER()) and facts.Get(steps.UPDATE_PIECE_NUMBER()) > 0:
                return
            levels = self._opened(at)
            names = [name for name in levels.variables if self._selection.ArrayIsEnabled(name)]
            output.ShallowCopy(grids.grid_of(*described(levels, names)))
            output.GetInformation().Set(output.DATA_TIME_STEP(), self._times[at])

        return self._tried(read)

    def _tried(self, action: Any) -> int:
        try:
            action()
        except (Error, OSError) as problem:
            self._slots = []
            if self.HasObserver("ErrorEvent"):
                self.InvokeEvent("ErrorEvent", f"sidestream: {problem}")
            else:
                vtkOutputWindow.GetInstance().DisplayErrorText(f"sidestream: {problem}\n")
            return 0
        return 1

    def _read_slots(self) -> None:
        if self._slots:
            return
        if self._place is None:
            raise Error("the reader of databases has no directory; set FileName", Code.USAGE)
        self._slots = continued(chosen(self._place))
        by_time, by_cycle = [slot.time for slot in self._slots], [float(slot.cycle) for slot in self._slots]
        counted = [float(n) for n in range(len(self._slots))]
        self._times = next(way for way in (by_time, by_cycle, counted) if all(a < b for a, b in pairwise(way)))

    @staticmethod
    def _meshes(context: Context) -> list[str]:
        kinds = {name: about["type"] for name, about in context.meshes.items() if about["type"] in _KINDS}
        return sorted(kinds, key=lambda name: kinds[name] != "octree")

    def _opened(self, number: int) -> Levels:
        """The levels of an iteration."""
        self._read_slots()
        context = Context(self._place, self._slots[number])
        there = self._meshes(context)
        if not there:
            raise Error(
                f"{self._place}: there is no octree and no uniform mesh in it, which this reader shows; use "
                "`sidestream export` to .pvd",
                Code.USAGE,
            )
        return Levels(OfDatabase(context, self._mesh or there[0]), None if self._deepest < 0 else self._deepest)
