"""A script that ParaView exported, with the run's meshes instead of its readers.

The script runs once. It makes sources, filters, views and extractors; every iteration updates them.
"""

import tempfile
import types
from pathlib import Path
from typing import Any

import numpy as np
from paraview import servermanager, simple
from paraview.catalyst import detail
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader

_PICTURES = ("JPG", "PNG")


class Exported:
    """The scene of a script. `run` makes it with the first iteration's grids, `feed` gives it those of later ones."""

    def __init__(self, path: str, extracts: str) -> None:
        self.path = path
        self._extracts = Path(extracts) if extracts else None
        self._producers: dict[str, Any] = {}
        self._made: list[str] = []  # registration names that the script gave
        self._used: set[str] = set()
        self._screenshots: list[tuple[Any, dict[str, Any]]] = []
        self._extractors: list[tuple[str, Any]] = []
        self._module = types.ModuleType("sidestream_state")

    def run(self, grids: dict[str, Any], time: float) -> None:
        """Runs the script. Raises LookupError if it makes no source of a grid's name."""
        self.feed(grids, time)
        self._take_over()
        self._module.__file__ = self.path
        exec(compile(Path(self.path).read_bytes(), self.path, "exec"), self._module.__dict__)
        missing = [name for name in grids if name not in self._used]
        if missing:
            raise LookupError(
                f"the script makes no source '{missing[0]}'; it makes {', '.join(map(repr, self._made)) or 'none'}: "
                "name the one that the mesh replaces in `source`"
            )

    def _take_over(self) -> None:
        """Replaces what the script would do once by what each iteration does."""
        detail.IsInsituInput = self._is_input
        detail.CreateProducer = self._producer_of
        create = simple.CreateExtractor

        def create_extractor(name: str, *given: Any, **named: Any) -> Any:
            made = create(name, *given, **named)
            self._extractors.append((name, made))
            return made

        def save_screenshot(filename: str, viewOrLayout: Any = None, **named: Any) -> None:
            self._screenshots.append((viewOrLayout or simple.GetActiveView(), named))

        def refuse(*given: Any, **named: Any) -> None:
            raise RuntimeError("files are saved at each iteration: use SaveScreenshot or an extractor instead")

        self._save_screenshot = simple.SaveScreenshot
        simple.CreateExtractor, simple.SaveScreenshot = create_extractor, save_screenshot
        simple.SaveExtracts = simple.SaveExtractsUsingCatalystOptions = lambda *given, **named: None
        simple.SaveAnimation = simple.SaveData = refuse

    def _is_input(self, name: Any) -> bool:
        if name:
            self._made.append(name)
        return name in self._producers

    def _producer_of(self, name: str) -> Any:
        self._used.add(name)
        producer = self._producers[name]
        producer.IgnoreUnknownSetRequests = True  # the script sets properties of the reader
        return producer

    def feed(self, grids: dict[str, Any], time: float) -> None:
        """Gives the grids of an iteration, by registration name, to the scene."""
        for name, grid in grids.items():
            if name not in self._producers:
                self._producers[name] = servermanager.sources.PVTrivialProducer()
            producer = self._producers[name]
            producer.GetClientSideObject().SetOutput(grid, time)
            producer.MarkModified(producer.SMProxy)
            producer.UpdatePipeline(time)

    def drawn(self, index: int, cycle: int, time: float) -> list[Any]:
        """Returns a picture, or None, for each screenshot and extractor of pictures in the order in which the script
        has them; without any, a picture of each view. Other extractors write their files."""
        scene = simple.GetAnimationScene()
        scene.UpdateAnimationUsingDataTimeSteps()
        scene.AnimationTime = time
        for view in simple.GetViews():
            view.ViewTime = time
        always = len(self._screenshots)
        execute = getattr(self._module, "catalyst_execute", None)
        if execute is not None:
            execute(types.SimpleNamespace(time=time, timestep=cycle, cycle=cycle))
        shots = list(self._screenshots)
        del self._screenshots[always:]
        if not shots and not any(name in _PICTURES for name, _ in self._extractors):
            shots = [(view, {}) for view in simple.GetViews()]
        return [self._shot(*shot) for shot in shots] + self._extracted(index, time)

    def _shot(self, view: Any, named: dict[str, Any]) -> Any:
        given = {name: value for name, value in named.items() if name not in ("Quality", "Progressive")}  # of JPEG
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "picture.png")
            self._save_screenshot(str(path), view, **given)
            return picture_of(path)

    def _extracted(self, index: int, time: float) -> list[Any]:
        pictures = []
        for kind, extractor in self._extractors:
            if kind not in _PICTURES and not self._extracts:
                raise RuntimeError(f"the extractor '{kind}' writes files: name a directory for them in `extracts`")
            if self._extracts:
                self._extracts.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=self._extracts) as folder:
                controller = servermanager.vtkSMExtractsController()
                controller.SetTime(time)
                controller.SetTimeStep(index)
                controller.SetExtractsOutputDirectory(folder)
                controller.Extract(extractor.SMProxy)
                files = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
                if kind in _PICTURES:
                    pictures.append(only_picture(kind, files))
                elif self._extracts:
                    move(files, Path(folder), self._extracts)
        return pictures


def move(files: list[Any], folder: Path, target: Path) -> None:
    """Moves files to the directory of extracts; those in folders first, since an index beside them names them."""
    for path in sorted(files, key=lambda path: -len(path.parts)):
        place = target / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)


def only_picture(kind: str, files: list[Path]) -> Any:
    """The picture that an extractor wrote; None if its trigger leaves this iteration out."""
    if not files:
        return None
    if len(files) > 1 or files[0].suffix.lower() != ".png":
        raise RuntimeError(
            f"the extractor '{kind}' wrote {', '.join(path.name for path in files[:3])}, expected one .png; take the "
            "format PNG and one camera, or make an extractor for each camera"
        )
    return picture_of(files[0])


def picture_of(path: Path) -> Any:
    """Pixels of a PNG: height x width x 3 or 4, from the top."""
    if not path.is_file():
        raise RuntimeError("ParaView wrote no picture")
    reader = vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    width, height, _ = image.GetDimensions()
    pixels = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)
    return np.ascontiguousarray(pixels[::-1]).astype(np.uint8)
