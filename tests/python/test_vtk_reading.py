"""The source of VTK's pipelines that reads databases: trees, levels, slices and contours compared with the values that
were published and with what Python opens."""

import sys
from pathlib import Path

import numpy as np
import pytest
import sidestream
import trees
from sidestream.vtk import DatabaseReader
from test_levels_vtk import leaves_of, run_and_exported
from test_trees_vtkhdf import of_levels
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow
from vtkmodules.vtkCommonDataModel import vtkPlane
from vtkmodules.vtkFiltersCore import vtkCutter
from vtkmodules.vtkFiltersHyperTree import vtkHyperTreeGridAxisCut

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The database of a run of three ranks and five domains."""
    return run_and_exported(tmp_path_factory.mktemp("read")) / "run/data"


def reader_of(place, mesh="", deepest=-1):
    reader = DatabaseReader()
    reader.SetFileName(str(place))
    reader.SetMesh(mesh)
    reader.SetDeepestLevel(deepest)
    return reader


def at_time(reader, time=None):
    if time is None:
        reader.Update()
    else:
        reader.UpdateTimeStep(time)
    return reader.GetOutputDataObject(0)


def error_of(reader):
    """The sentence in VTK's window of messages; empty without one."""
    window = vtkStringOutputWindow()
    before = vtkOutputWindow.GetInstance()
    vtkOutputWindow.SetInstance(window)
    try:
        reader.Update()
    finally:
        vtkOutputWindow.SetInstance(before)
    return window.GetOutput()


def same_leaves(grid, levels, names):
    found, expected = leaves_of(grid, names), of_levels(levels, names)
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[box], expected[box], equal_nan=True) for box in found)
    return found


def test_iterations_are_times(data):
    reader = reader_of(data, "tree")
    assert reader.GetTimes() == [0.0, 0.5] and reader.GetMeshes() == ["flat", "tree", "even", "patches"]
    for time, step in ((0.0, 0), (0.5, 1), (0.25, 0), (9.0, 1), (-1.0, 0)):
        grid = at_time(reader, time)
        expected = {}
        for leaf in trees.leaves(step):
            low, high = trees.bounds(leaf)
            expected[tuple(np.stack([low, high], axis=1).reshape(-1))] = [trees.value(leaf)]
        assert leaves_of(grid, ["leaf"]) == expected, "bit by bit"
        assert grid.GetInformation().Get(grid.DATA_TIME_STEP()) == 0.5 * step
    assert leaves_of(at_time(reader_of(data / "contexts", "tree")), ["leaf"]) == leaves_of(
        at_time(reader, 0.5), ["leaf"]
    )


@pytest.mark.parametrize("deepest", [0, 1, 2, 30])
@pytest.mark.parametrize(("mesh", "name"), [("tree", "leaf"), ("flat", "height")])
def test_deepest_level_of_trees(data, tmp_path, mesh, name, deepest):
    """Coarse leaves have the values of parents; exports have the same cells."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    grid = at_time(reader_of(data, mesh, deepest))
    levels = sidestream.open(data, into="levels", mesh=mesh, deepest=deepest)
    found = same_leaves(grid, levels, [name])
    assert grid.GetNumberOfLevels() == min(deepest, len(levels) - 1) + 1 and len(found) > 1
    sidestream.export(data, tmp_path / "all.vtkhdf", variables=[name], deepest=deepest)
    exported = vtkHDFReader(file_name=str(tmp_path / f"all-{mesh}-000010.vtkhdf"))
    exported.Update()
    assert leaves_of(exported.GetOutputDataObject(0), [name]) == found


def test_deepest_level_of_exports(data, tmp_path):
    """The command leaves out finer levels of boxes in each format, and refuses octrees in those that have cells in
    lists."""
    from sidestream.exporters.exporting import main

    assert main([str(data), str(tmp_path / "one.h5"), "--variables", "heat,density", "--deepest", "1"]) == 0
    names = set(sidestream.open(tmp_path / "one-000010.h5", into="numpy"))
    assert names == {"heat", "heat_level1", "density", "density_level1"}
    assert main([str(data), str(tmp_path / "all.amrex"), "--deepest", "0", "--variables", "heat"]) == 0
    assert [path.name for path in tmp_path.glob("all.amrex/plt000010/Level_*")] == ["Level_0"]
    with pytest.raises(sidestream.Error, match=r"on an octree, of which \.nc has all levels: export to \.pvd or"):
        sidestream.export(data, tmp_path / "all.nc", deepest=1)
    with pytest.raises(sidestream.Error, match="deepest=-1, expected 0 or more"):
        sidestream.export(data, tmp_path / "all.pvd", deepest=-1)
    with pytest.raises(sidestream.Error, match=r"table goes to \.parquet whole"):
        sidestream.export(data, tmp_path / "all.parquet", deepest=1)


@pytest.mark.parametrize("axis", range(3))
def test_slices_of_trees(data, axis):
    """Each polygon has the value of the leaf around it, and all together have the area of the domain."""
    place = trees.ORIGIN[axis] + 0.37 * trees.SPACING[axis]
    cut = vtkHyperTreeGridAxisCut(plane_normal_axis=axis, plane_position=place)
    cut.SetInputConnection(reader_of(data, "tree").GetOutputPort())
    cut.Update()
    leaves = leaves_of(cut.GetOutputDataObject(0), ["leaf"])
    boxes = np.array(list(leaves)).reshape(-1, 3, 2)
    others = [a for a in range(3) if a != axis]
    areas = np.prod(boxes[:, others, 1] - boxes[:, others, 0], axis=1)
    assert np.isclose(areas.sum(), np.prod([trees.ROOTS[a] * trees.SPACING[a] for a in others]))
    expected = {}
    for leaf in trees.leaves(1):
        low, high = trees.bounds(leaf)
        if low[axis] <= place < high[axis]:
            expected[tuple(np.stack([low, high], axis=1)[others].reshape(-1))] = trees.value(leaf)
    assert {tuple(np.array(box).reshape(3, 2)[others].reshape(-1)): v[0] for box, v in leaves.items()} == expected


def parts_of(composite):
    """The blocks of all levels, or parts of the result of a filter."""
    iterator = composite.NewIterator()
    iterator.InitTraversal()
    found = []
    while not iterator.IsDoneWithTraversal():
        if iterator.GetCurrentDataObject().GetNumberOfCells():
            found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found


def shown_cells(amr):
    """Low corner, edges and value of each cell that is not marked."""
    found = {}
    for grid in parts_of(amr):
        marks, values = (vtk_to_numpy(grid.GetCellData().GetArray(name)) for name in ("vtkGhostType", "heat"))
        for n in np.flatnonzero(marks == 0):
            bounds = [0.0] * 6
            grid.GetCellBounds(int(n), bounds)
            assert tuple(bounds) not in found
            found[tuple(bounds)] = [values[n]]
    return found


@pytest.mark.parametrize("deepest", [-1, 0, 1, 2])
def test_levels(data, deepest):
    """Each place is shown once, on its finest level, with the published value."""
    amr = at_time(reader_of(data, "even", deepest), 0.5)
    assert amr.IsA("vtkOverlappingAMR") and amr.GetNumberOfLevels() == (3 if deepest < 0 else deepest + 1)
    levels = sidestream.open(data, into="levels", mesh="even", deepest=None if deepest < 0 else deepest)
    found = shown_cells(amr)
    assert found == of_levels(levels, ["heat"])
    boxes = np.array(list(found)).reshape(-1, 3, 2)
    assert np.isclose(np.prod(boxes[..., 1] - boxes[..., 0], axis=1).sum(), 4**3)


def test_slices_of_levels(data):
    """Each polygon without a mark has the value of the finest cell around it, and they have the domain's area."""
    cut = vtkCutter()
    cut.SetCutFunction(vtkPlane(origin=(0, 0, 2.2), normal=(0, 0, 1)))
    cut.SetInputConnection(reader_of(data, "even").GetOutputPort())
    cut.Update()
    cells = shown_cells(at_time(reader_of(data, "even")))
    expected = {(box[0], box[2]): value for box, (value,) in cells.items() if box[4] <= 2.2 < box[5]}
    seen, area = set(), 0.0
    for part in parts_of(cut.GetOutputDataObject(0)):
        marks, values = (vtk_to_numpy(part.GetCellData().GetArray(name)) for name in ("vtkGhostType", "heat"))
        for n in np.flatnonzero(marks == 0):
            bounds = [0.0] * 6
            part.GetCellBounds(int(n), bounds)
            assert expected[bounds[0], bounds[2]] == values[n]
            seen.add((bounds[0], bounds[2]))
            area += part.GetCell(int(n)).ComputeArea()
    assert seen == expected.keys() and np.isclose(area, 16)


def test_variables_and_meshes(data):
    """Variables that are disabled are not read, and another mesh gives an object of another class."""
    reader = reader_of(data, "even")
    assert at_time(reader).IsA("vtkOverlappingAMR")
    reader.SetMesh("flat")
    grid = at_time(reader)
    assert grid.IsA("vtkHyperTreeGrid") and grid.GetDimension() == 2
    assert grid.GetCellData().GetNumberOfArrays() == 1
    chosen = reader.GetVariables()
    assert chosen.ArrayExists("height") and chosen.ArrayExists("heat")
    chosen.DisableArray("height")
    assert at_time(reader).GetCellData().GetNumberOfArrays() == 0
    pieces = reader_of(data, "flat")
    pieces.UpdatePiece(1, 2, 0)
    assert pieces.GetOutputDataObject(0).GetNumberOfCells() == 0


def test_what_is_refused(data, tmp_path):
    assert "no directory; set FileName" in error_of(DatabaseReader())
    assert "this is no database" in error_of(reader_of(tmp_path))
    assert "the mesh 'tee' is no octree and no uniform mesh; there are: " in error_of(reader_of(data, "tee"))
    assert "'patches' is refined by [4, 2, 1], expected two or three" in error_of(reader_of(data, "patches"))
    seen = []
    reader = reader_of(tmp_path)
    reader.AddObserver("ErrorEvent", lambda *_: seen.append(1))
    assert "database" not in error_of(reader) and seen


def test_the_plugin_of_paraview(data, monkeypatch):
    """The file by itself gives ParaView a reader with these properties."""
    monkeypatch.syspath_prepend(str(HERE / "paraview_standin"))
    plugin = Path(sidestream.__file__).parent / "vtk" / "paraview_plugin.py"
    names = {"__name__": "loaded_plugin", "__file__": str(plugin)}
    exec(compile(plugin.read_bytes(), str(plugin), "exec"), names)
    made, pattern = sys.modules["paraview.util.vtkAlgorithm"].proxies["SidestreamDatabase"]
    assert pattern == "contexts"
    found = {name: getattr(getattr(made, name), "properties", None) for name in vars(made)}
    shown = {named["name"]: method for method, of in found.items() for _, _, named in of or () if "name" in named}
    assert shown == {
        "FileName": "SetFileName",
        "Meshes": "GetMeshes",
        "Mesh": "SetMesh",
        "DeepestLevel": "SetDeepestLevel",
        "Variables": "GetVariables",
        "TimestepValues": "GetTimes",
    }
    reader = names["SidestreamDatabase"]()
    assert reader.GetMeshes() == [] and reader.GetTimes() == []
    reader.SetFileName(str(data / "contexts"))
    reader.SetMesh("tree")
    reader.SetDeepestLevel(1)
    assert at_time(reader, 0.0).GetNumberOfLevels() == 2 and reader.GetTimes() == [0.0, 0.5]
    reader.Refresh()
    assert at_time(reader, 0.5).GetNumberOfLevels() == 2
