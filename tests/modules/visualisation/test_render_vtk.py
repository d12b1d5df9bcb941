"""Compares pictures of `render` with VTK's of the same surfaces, and colour maps with matplotlib's. Pillow reads the
PNG files. ctest runs pytest on this file, with RENDER_PICTURES naming the program that writes the pictures."""

import os
import subprocess

os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkOSOpenGLRenderWindow")

import matplotlib
import numpy as np
import pytest
import vtk
from PIL import Image
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

SIZE = (300, 240)
VALUES = {"sphere": 0.8, "gyroid": 0.3}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("render")
    subprocess.run([os.environ["RENDER_PICTURES"], str(folder)], check=True, timeout=120)
    return folder


def field(name, n=32):
    centres = -1 + (np.arange(n) + 0.5) * 2 / n
    z, y, x = np.meshgrid(centres, centres, centres, indexing="ij")
    if name == "sphere":
        return np.sqrt(x * x + y * y + z * z)
    k = 5
    return np.sin(k * x) * np.cos(k * y) + np.sin(k * y) * np.cos(k * z) + np.sin(k * z) * np.cos(k * x)


def vtk_silhouette(name, parallel, n=32):
    data = vtk.vtkImageData()
    data.SetDimensions(n, n, n)
    data.SetOrigin(-1 + 1 / n, -1 + 1 / n, -1 + 1 / n)
    data.SetSpacing(2 / n, 2 / n, 2 / n)
    data.GetPointData().SetScalars(numpy_to_vtk(field(name, n).ravel(), deep=True))
    contour = vtk.vtkMarchingCubes()
    contour.SetInputData(data)
    contour.SetValue(0, VALUES[name])
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(contour.GetOutputPort())
    mapper.ScalarVisibilityOff()
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetAmbient(1)
    actor.GetProperty().SetDiffuse(0)
    renderer = vtk.vtkRenderer()
    renderer.AddActor(actor)
    renderer.SetBackground(0, 0, 0)
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(*SIZE)
    window.AddRenderer(renderer)
    camera = renderer.GetActiveCamera()
    camera.SetPosition(2.2, -3.1, 1.7)
    camera.SetFocalPoint(0.1, 0, -0.05)
    camera.SetViewUp(0, 0, 1)
    camera.SetViewAngle(40)
    if parallel:
        camera.ParallelProjectionOn()
        camera.SetParallelScale(camera.GetDistance() * np.tan(np.radians(20)))
    renderer.ResetCameraClippingRange()
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    grab.Update()
    pixels = vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars()).reshape(SIZE[1], SIZE[0], -1)
    return pixels[::-1, :, 0] > 0


def grown(mask):
    """Pixels that are in the mask or touch it, also at a corner."""
    padded = np.pad(mask, 1)
    height, width = mask.shape
    return np.any([padded[dy : dy + height, dx : dx + width] for dy in range(3) for dx in range(3)], axis=0)


@pytest.mark.parametrize("projection", ["perspective", "parallel"])
@pytest.mark.parametrize("name", ["sphere", "gyroid"])
def test_silhouette_within_one_pixel_of_vtk(files, name, projection):
    ours = np.asarray(Image.open(files / f"{name}-{projection}.png").convert("RGB")).max(axis=2) > 0
    theirs = vtk_silhouette(name, projection == "parallel")
    assert 0.15 < theirs.mean() < 0.9
    # A pixel covered in one picture must be covered in the other within a pixel. The same for the background finds
    # holes.
    assert not (ours & ~grown(theirs)).any()
    assert not (theirs & ~grown(ours)).any()
    assert not (~ours & ~grown(~theirs)).any()
    assert not (~theirs & ~grown(~ours)).any()
    print(f"{name} {projection}: {(ours != theirs).sum()} of {ours.size} pixels differ")


def test_png_as_pillow_reads_it(files):
    picture = Image.open(files / "sphere-perspective.png")
    assert picture.size == SIZE and picture.mode == "RGB"
    assert picture.text["Description"] == "made by a test: \u00e4\u00b2"
    assert "srgb" in picture.info
    alpha = Image.open(files / "alpha.png")
    assert alpha.mode == "RGBA"
    assert np.asarray(alpha).tolist() == [[[10, 20, 30, 40], [250, 240, 230, 255]]]


def test_colour_maps_are_matplotlibs(files):
    ours = {}
    for line in (files / "maps.txt").read_text().splitlines():
        name, _, *rgb = line.split()
        ours.setdefault(name, []).append([int(c) for c in rgb])
    assert set(ours) == {"viridis", "inferno", "magma", "plasma", "cividis", "coolwarm", "grey", "twilight"}
    for name, table in ours.items():
        original = matplotlib.colormaps["gray" if name == "grey" else name].resampled(256)
        expected = np.array([original(i)[:3] for i in range(256)]) * 255
        assert np.abs(np.array(table) - expected).max() <= 7, name
