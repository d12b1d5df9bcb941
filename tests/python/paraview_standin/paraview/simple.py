"""Sources, views, screenshots and extractors; names and arguments are ParaView's."""

import types

from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGWriter

from .catalyst import detail

_views = []
_scene = types.SimpleNamespace(AnimationTime=None, UpdateAnimationUsingDataTimeSteps=lambda: None)


def Reader(registrationName=None, **properties):
    made = detail.CreateProducer(registrationName) if detail.IsInsituInput(registrationName) else None
    if made is not None and properties:
        assert made.IgnoreUnknownSetRequests
    return made


def CreateView(name):
    _views.append(types.SimpleNamespace(name=name, ViewTime=None, shown=None))
    return _views[-1]


def GetViews():
    return list(_views)


def GetActiveView():
    return _views[-1]


def GetAnimationScene():
    return _scene


def Show(source, view, association, name, component=0):
    view.shown = (source, association, name, component)


def SaveScreenshot(filename, viewOrLayout=None, **options):
    _write(filename, viewOrLayout)


def _write(filename, view):
    """The middle layer; a value of v is the grey 40 v + 100."""
    source, association, name, component = view.shown
    assert view.ViewTime == source.time == _scene.AnimationTime
    grid, cells = source.grid, association == "CELLS"
    nx, ny, nz = (n - cells for n in grid.GetDimensions())
    values = vtk_to_numpy((grid.GetCellData() if cells else grid.GetPointData()).GetArray(name))
    layer = values.reshape(nz, ny, nx, -1)[nz // 2, :, :, component]
    image = vtkImageData()
    image.SetDimensions(nx, ny, 1)
    grey = (40 * layer + 100).astype(int) % 256
    image.GetPointData().SetScalars(numpy_to_vtk(grey.astype("uint8").reshape(-1, 1).repeat(3, axis=1), deep=1))
    writer = vtkPNGWriter()
    writer.SetFileName(filename)
    writer.SetInputData(image)
    writer.Write()


def CreateExtractor(name, proxy, registrationName=None):
    def write(folder, index):
        if name == "PNG":
            _write(str(folder / f"{index}.png"), proxy)
        else:
            (folder / "parts").mkdir()
            (folder / "parts" / f"{index}.txt").write_text(str(proxy.time))
            (folder / f"{index}.index").write_text("parts")

    return types.SimpleNamespace(SMProxy=types.SimpleNamespace(write=write))


def SaveExtracts(**options):
    raise AssertionError("replaced")


SaveExtractsUsingCatalystOptions = SaveAnimation = SaveData = SaveExtracts
