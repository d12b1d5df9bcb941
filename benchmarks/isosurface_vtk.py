"""Isosurfaces beside VTK's, on one thread: the kernel, with a file, with a picture; times and peaks of memory.

Usage: isosurface_vtk.py BENCHMARK_ISOSURFACE [CELLS along each axis = 255] [RADIANS = 80] [ROUNDS = 5]

Every measurement is a process of its own and the two sides take turns, so that what else the machine does hits both.
`cpu` is the processor's time, which that disturbs less than `wall`; both sides have one thread.
Memory is the peak besides what was there when the input was ready.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OURS = {"plain": "plain", "normals": "normals", "vtp": "vtp", "vtkhdf": "vtkhdf", "picture": "picture"}
THEIRS = {"plain": "plain", "normals": "normals", "vtp": "file", "vtkhdf": "file", "picture": "picture"}


def resident() -> int:
    """Bytes now; the peak starts here."""
    Path("/proc/self/clear_refs").write_text("5")
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024


def image(cells: int, waves: float):
    import numpy as np
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    row = np.arange(cells + 1) / cells * waves
    s, c = np.sin(row), np.cos(row)
    values = (
        s[None, None, :] * c[None, :, None] + s[None, :, None] * c[:, None, None] + s[:, None, None] * c[None, None, :]
    )
    data = vtk.vtkImageData()
    data.SetDimensions(3 * [cells + 1])
    data.SetSpacing(3 * [1 / cells])
    array = numpy_to_vtk(values.reshape(-1), deep=True)
    array.SetName("n")
    data.GetPointData().SetScalars(array)
    return data


def draw(surface, samples: int) -> None:
    import vtk

    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(surface)
    mapper.ScalarVisibilityOff()
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    renderer = vtk.vtkRenderer()
    renderer.AddActor(actor)
    renderer.GetActiveCamera().SetPosition(3, 2, 2)
    renderer.GetActiveCamera().SetFocalPoint(0.5, 0.5, 0.5)
    renderer.GetActiveCamera().SetViewUp(0, 0, 1)
    renderer.ResetCamera()
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(samples)
    window.SetSize(1024, 1024)
    window.AddRenderer(renderer)
    window.Render()
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.Update()
    writer = vtk.vtkPNGWriter()
    writer.SetFileName(f"{tempfile.gettempdir()}/benchmark-isosurface-{os.getpid()}.png")
    writer.SetInputConnection(grab.GetOutputPort())
    writer.Write()
    Path(writer.GetFileName()).unlink()


def theirs(what: str, cells: int, waves: float) -> None:
    import vtk

    vtk.vtkSMPTools.Initialize(1)
    data = image(cells, waves)
    before = resident()
    start, processor = time.perf_counter(), time.process_time()
    contour = vtk.vtkFlyingEdges3D()
    contour.SetInputData(data)
    contour.SetValue(0, 0.3)
    contour.SetComputeNormals(what != "plain")
    contour.SetComputeScalars(what == "file")
    contour.Update()
    surface = contour.GetOutput()
    if what == "file":
        writer = vtk.vtkXMLPolyDataWriter()
        writer.SetInputData(surface)
        writer.SetCompressorTypeToNone()
        writer.SetFileName(f"{tempfile.gettempdir()}/benchmark-isosurface-{os.getpid()}.vtp")
        writer.Write()
    elif what.startswith("picture"):
        draw(surface, 4 if what == "picture4" else 0)
    print(f"cpu {1000 * (time.process_time() - processor):.1f} ms")
    print(f"wall {1000 * (time.perf_counter() - start):.1f} ms")
    if what == "file":
        print(f"file {Path(writer.GetFileName()).stat().st_size / 1e6:.1f} MB")
        Path(writer.GetFileName()).unlink()
    print(f"triangles {surface.GetNumberOfPolys()}")
    print(f"peak {(peak() - before) / 1e6:.1f} MB", flush=True)
    os._exit(0)


def run(command: list[str]) -> dict[str, float]:
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: float(line.split()[1]) for line in output.splitlines()}


def main() -> None:
    binary = sys.argv[1]
    cells = sys.argv[2] if len(sys.argv) > 2 else "255"
    waves = sys.argv[3] if len(sys.argv) > 3 else "80"
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    cases = sys.argv[5].split(",") if len(sys.argv) > 5 else ["plain", "normals", "vtp", "vtkhdf", "picture"]
    lines = []
    for what in cases:
        rivals = ["picture", "picture4"] if what == "picture" else [THEIRS[what]]
        mine, other = [], {rival: [] for rival in rivals}
        for _ in range(rounds):
            mine.append(run([binary, OURS[what], cells, waves]))
            for rival in rivals:
                other[rival].append(run([sys.executable, __file__, "--theirs", rival, cells, waves]))

        def median(records: list[dict[str, float]], key: str) -> float:
            return statistics.median(record[key] for record in records)

        for rival in rivals:
            for key in ("cpu", "wall", "peak", "file"):
                if key not in mine[0] or key not in other[rival][0]:
                    continue
                a, b = median(mine, key), median(other[rival], key)
                unit = "MB" if key in ("peak", "file") else "ms"
                print(f"{what:8} beside VTK's {rival:8}: {key:4} {a:8.1f} {unit}, VTK {b:8.1f} {unit}", flush=True)
                lines.append(f"{what} / VTK's {rival}: {key} {a / b:.2f}")
        print(f"{what:8} triangles {mine[0]['triangles']:.0f}, VTK {other[rivals[0]][0]['triangles']:.0f}")
    print("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1] == "--theirs":
        theirs(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    else:
        main()
