"""A cloud beside VTK's ray caster, on one thread: times, and errors against rays in tiny steps.

Usage: volume_vtk.py BENCHMARK_VOLUME [CELLS along each axis = 256] [PIXELS along each axis = 512] [ROUNDS = 5]

Both cast the same values at the same nodes with the same opacity per length from the same place. Every measurement is a
process of its own and the two sides take turns. Times begin when the values are in memory. VTK's steps are a quarter of
a cell, which gives it the error that is printed; with larger steps it would be faster and less exact.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

POINTS = [(0, 0), (0.55, 0), (0.6, 4), (0.65, 0), (0.8, 0), (1, 30)]  # value, extinction; as in volume.cpp


def theirs(path: str, cells: int, pixels: int, step: float) -> None:
    import numpy as np
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

    vtk.vtkSMPTools.Initialize(1)
    x = np.arange(cells + 1) / cells
    z, y, x = x[:, None, None], x[None, :, None], x[None, None, :]
    values = 0.5 + 0.5 * np.sin(12 * x + 3 * z) * np.cos(10 * y - 2 * z) * np.cos(7 * z)
    data = vtk.vtkImageData()
    data.SetDimensions(3 * [cells + 1])
    data.SetSpacing(3 * [1 / cells])
    # The caster takes 16 bits; it turns other types into these.
    data.GetPointData().SetScalars(numpy_to_vtk(np.round(values.reshape(-1) * 65535).astype(np.uint16), deep=True))
    start, processor = time.perf_counter(), time.process_time()
    unit = 1 / cells
    opacity, colour = vtk.vtkPiecewiseFunction(), vtk.vtkColorTransferFunction()
    for value in np.linspace(0, 1, 1025):
        extinction = np.interp(value, [v for v, _ in POINTS], [e for _, e in POINTS])
        opacity.AddPoint(value * 65535, 1 - np.exp(-extinction * unit))
    colour.AddRGBPoint(0, 1, 1, 1)
    colour.AddRGBPoint(65535, 1, 1, 1)
    how = vtk.vtkVolumeProperty()
    how.SetScalarOpacity(opacity)
    how.SetColor(colour)
    how.SetScalarOpacityUnitDistance(unit)
    how.SetInterpolationTypeToLinear()
    how.ShadeOff()
    mapper = vtk.vtkFixedPointVolumeRayCastMapper()
    mapper.SetInputData(data)
    mapper.SetNumberOfThreads(1)
    mapper.SetAutoAdjustSampleDistances(0)
    mapper.SetImageSampleDistance(1)
    mapper.SetSampleDistance(step * unit)
    volume = vtk.vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(how)
    renderer = vtk.vtkRenderer()
    renderer.AddVolume(volume)
    camera = renderer.GetActiveCamera()
    camera.SetPosition(2.6, 1.9, 1.7)
    camera.SetFocalPoint(0.5, 0.5, 0.5)
    camera.SetViewUp(0, 0, 1)
    camera.SetViewAngle(30)
    renderer.ResetCameraClippingRange()
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(pixels, pixels)
    window.AddRenderer(renderer)
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.Update()
    print(f"cpu {1000 * (time.process_time() - processor):.1f} ms")
    print(f"wall {1000 * (time.perf_counter() - start):.1f} ms", flush=True)
    image = vtk_to_numpy(grab.GetOutput().GetPointData().GetScalars()).reshape(pixels, pixels, -1)[::-1, :, 0]
    (image / 255).astype(np.float32).tofile(path)
    os._exit(0)


def run(command: list[str]) -> dict[str, float]:
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: float(line.split()[1]) for line in output.splitlines()}


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == "--theirs":
        theirs(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    import numpy as np

    program, cells, pixels, rounds = sys.argv[1], *(sys.argv[2:] + ["256", "512", "5"][len(sys.argv) - 2 :])
    with tempfile.TemporaryDirectory() as folder:
        files = {side: f"{folder}/{side}" for side in ("exact", "Sidestream", "VTK")}
        run([program, "exact", files["exact"], cells, pixels])
        times: dict[str, list[dict[str, float]]] = {"Sidestream": [], "VTK": []}
        for _ in range(int(rounds)):
            times["Sidestream"].append(run([program, "cast", files["Sidestream"], cells, pixels]))
            times["VTK"].append(run([sys.executable, __file__, "--theirs", files["VTK"], cells, pixels, "0.25"]))
        exact = np.fromfile(files["exact"], np.float32)
        medians = {}
        for side, measured in times.items():
            error = np.fromfile(files[side], np.float32) - exact
            medians[side] = {what: statistics.median(one[what] for one in measured) for what in ("cpu", "wall")}
            print(
                f"{side:10} cpu {medians[side]['cpu']:8.1f} ms   wall {medians[side]['wall']:8.1f} ms   error of "
                f"opacity {np.sqrt((error**2).mean()):.4f} (root mean square), {abs(error).max():.3f} (largest)"
            )
        for what in ("cpu", "wall"):
            print(f"{what}: {medians['Sidestream'][what] / medians['VTK'][what]:.3f} of VTK's")


if __name__ == "__main__":
    main()
