"""Isosurfaces above a slice, drawn by VTK, and their area. `field` is the memory that Sidestream gathered it in."""

import sidestream.vtk
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPlane
from vtkmodules.vtkFiltersCore import (
    vtkCellDataToPointData,
    vtkContourFilter,
    vtkCutter,
    vtkMassProperties,
    vtkTriangleFilter,
)
from vtkmodules.vtkFiltersModeling import vtkOutlineFilter


def draw(whole, level=0.08, height=0.35):
    grid = sidestream.vtk.grid(whole, ["field"])
    points = vtkCellDataToPointData(input_data=grid)
    surface = vtkContourFilter(input_connection=points.GetOutputPort())
    surface.SetInputArrayToProcess(0, 0, 0, 0, "field")
    surface.SetValue(0, -level)
    surface.SetValue(1, level)
    plane = vtkPlane(origin=(0, 0, height), normal=(0, 0, 1))
    cut = vtkCutter(input_connection=points.GetOutputPort(), cut_function=plane)
    outline = vtkOutlineFilter(input_data=grid)
    return picture(surface, cut, outline), {"area": area(surface)}


def area(surface):
    triangles = vtkTriangleFilter(input_connection=surface.GetOutputPort())
    size = vtkMassProperties(input_connection=triangles.GetOutputPort())
    size.Update()
    return size.GetSurfaceArea()


def picture(*filters):
    """Pixels as an array of height x width x 3, which Sidestream writes."""
    import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
    from vtkmodules.vtkRenderingCore import (
        vtkActor,
        vtkPolyDataMapper,
        vtkRenderer,
        vtkRenderWindow,
        vtkWindowToImageFilter,
    )

    scene = vtkRenderer(background=(1, 1, 1), use_fxaa=True)
    for one in filters:
        mapper = vtkPolyDataMapper(input_connection=one.GetOutputPort(), lookup_table=colours())
        mapper.use_lookup_table_scalar_range = True
        mapper.SetScalarModeToUsePointFieldData()
        mapper.SelectColorArray("field")
        scene.AddActor(actor := vtkActor(mapper=mapper))
        actor.property.color = (0.2, 0.2, 0.2)  # of what has no values, such as the outline
        actor.property.lighting = one is filters[0]
    camera = scene.active_camera
    camera.position, camera.focal_point, camera.view_up = (2.35, -1.65, 1.6), (0.5, 0.5, 0.44), (0, 0, 1)
    scene.ResetCameraClippingRange()
    window = vtkRenderWindow(off_screen_rendering=True, size=(640, 480), multi_samples=0)
    window.AddRenderer(scene)
    window.Render()
    shot = vtkWindowToImageFilter(input=window, read_front_buffer=False)
    shot.Update()
    image = shot.output
    width, height, _ = image.dimensions
    pixels = vtk_to_numpy(image.point_data.scalars).reshape(height, width, 3)
    return pixels[::-1].copy()


def colours():
    from vtkmodules.vtkRenderingCore import vtkColorTransferFunction

    made = vtkColorTransferFunction()
    for value, colour in ((-0.2, (0.23, 0.3, 0.75)), (0, (0.87, 0.87, 0.87)), (0.2, (0.71, 0.02, 0.15))):
        made.AddRGBPoint(value, *colour)
    return made
