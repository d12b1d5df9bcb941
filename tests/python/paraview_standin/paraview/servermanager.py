"""Producers of grids, and the controller of extractors."""

import types
from pathlib import Path


class PVTrivialProducer:
    """Keeps a grid and its time."""

    IgnoreUnknownSetRequests = False
    SMProxy = None
    grid, time = None, None

    def GetClientSideObject(self):
        return self

    def SetOutput(self, grid, time):
        self.grid, self.time = grid, time

    def MarkModified(self, proxy):
        pass

    def UpdatePipeline(self, time):
        assert time == self.time


sources = types.SimpleNamespace(PVTrivialProducer=PVTrivialProducer)


class vtkSMExtractsController:
    def SetTime(self, time):
        self.time = time

    def SetTimeStep(self, index):
        self.index = index

    def SetExtractsOutputDirectory(self, folder):
        self.folder = folder

    def Extract(self, extractor):
        extractor.write(Path(self.folder), self.index)
