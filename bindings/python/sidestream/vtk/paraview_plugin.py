"""The plugin by which ParaView opens databases: Tools, Manage Plugins, Load New, this file (docs/vtk-objects.md)."""

import sys
from contextlib import suppress
from pathlib import Path

from paraview.util.vtkAlgorithm import smdomain, smproperty, smproxy

if (_package := str(Path(__file__).resolve().parents[2])) not in sys.path:
    sys.path.append(_package)  # ParaView only knows the path of this file

from sidestream.errors import Error
from sidestream.vtk.reading import DatabaseReader

_MESHES = (
    '<StringListDomain name="meshes"><RequiredProperties><Property name="Meshes" function="ArrayList"/>'
    "</RequiredProperties></StringListDomain>"
)
_REFRESH = '<Property name="Refresh" label="Look for new iterations" command="Refresh" panel_widget="command_button"/>'


@smproxy.reader(
    name="SidestreamDatabase",
    label="Sidestream database",
    file_description="Sidestream databases",
    filename_patterns="contexts",
    support_reload=False,
)
class SidestreamDatabase(DatabaseReader):
    """A mesh of a database, whose file `contexts` is opened. ParaView finds properties by the decorated methods."""

    @smproperty.stringvector(name="FileName", panel_visibility="never")
    @smdomain.filelist()
    def SetFileName(self, name):
        super().SetFileName(name)

    @smproperty.stringvector(name="Meshes", information_only="1")
    def GetMeshes(self):
        with suppress(Error):  # which updates report
            return super().GetMeshes()
        return []

    @smproperty.stringvector(name="Mesh", default_values="")
    @smdomain.xml(_MESHES)
    def SetMesh(self, name):
        super().SetMesh(name or "")

    @smproperty.intvector(name="DeepestLevel", label="Deepest level", default_values=-1)
    def SetDeepestLevel(self, level):
        super().SetDeepestLevel(level)

    @smproperty.dataarrayselection(name="Variables")
    def GetVariables(self):
        return super().GetVariables()

    @smproperty.doublevector(name="TimestepValues", information_only="1", si_class="vtkSITimeStepsProperty")
    def GetTimes(self):
        with suppress(Error):
            return super().GetTimes()
        return []

    @smproperty.xml(_REFRESH)
    def Refresh(self):
        super().Refresh()
