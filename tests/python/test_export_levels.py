"""Exported refinement levels that come and go, and refusals to export. Databases are written in this process."""

import numpy as np
import pytest
import sidestream
from mpi4py import MPI
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLHyperTreeGridReader


def refined(folder, ratio):
    """Two contexts of a mesh; only the first one has a finer block."""
    text = f"""\
placement: inline
output: {{directory: {folder}}}
meshes: {{box: {{size: [4, 4, 4], refinement: [{ratio}]}}}}
variables: {{f: {{mesh: box}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block("box", 0, [0, 0, 0], [4, 4, 4])
        session.set_block("box", 1, [0, 0, 0], [4, 4, 2], level=1)
        for step in range(2):
            session.publish("f", 0, np.full((4, 4, 4), 1.0 + step))
            if step == 0:
                session.publish("f", 1, np.full((2, 4, 4), 5.0))
            else:
                session.remove_block("box", 1)
            session.end_iteration(step, step)
    return folder / "data"


def test_vtk_levels_of_all_times(tmp_path):
    """Exports levels also in iterations that have only the coarsest one."""
    sidestream.export(refined(tmp_path, 2), tmp_path / "all.pvd")
    for step, count in ((0, 2), (1, 1)):
        reader = vtkHDFReader()
        reader.SetMaximumLevelsToReadByDefaultForAMR(0)
        reader.SetFileName(str(tmp_path / f"all-box-levels-{step:06}.vtkhdf"))
        reader.Update()
        levels = reader.GetOutputDataObject(0)
        assert levels.GetNumberOfLevels() == count
        values = levels.GetDataSetAsImageData(0, 0).GetCellData().GetArray("f")
        np.testing.assert_array_equal(vtk_to_numpy(values), 1.0 + step)


def flat(folder):
    """Three levels in two dimensions; a block of a level covers cells of two blocks of the next coarser one."""
    text = f"""\
placement: inline
output: {{directory: {folder}}}
meshes: {{sheet: {{size: [16, 8], refinement: [2, 4]}}}}
variables: {{f: {{mesh: sheet}}, pair: {{mesh: sheet, components: 2, order: row}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false}}]
"""
    boxes = [(0, [0, 0], [8, 8]), (0, [8, 0], [16, 8]), (1, [12, 4], [20, 10]), (2, [52, 20], [72, 36])]
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        for number, (level, lo, hi) in enumerate(boxes):
            session.set_block("sheet", number, lo, hi, level=level)
        for number, (level, lo, hi) in enumerate(boxes):
            i, j = np.arange(lo[0], hi[0]), np.arange(lo[1], hi[1])
            values = 10000.0 * level + 100 * j[:, None] + i
            session.publish("f", number, values)
            session.publish("pair", number, np.stack([values.T, -values.T], axis=2))
        session.end_iteration(0, 0)
    return folder / "data"


def test_a_place_is_seen_once_in_two_dimensions(tmp_path):
    """VTK shows these cells with their values: 128 coarse ones without 4 x 3, 48 without 5 x 4, and 320."""
    sidestream.export(flat(tmp_path), tmp_path / "all.vtkhdf")
    reader = vtkHDFReader()
    reader.SetMaximumLevelsToReadByDefaultForAMR(0)
    reader.SetFileName(str(tmp_path / "all-sheet-000000.vtkhdf"))
    reader.Update()
    levels = reader.GetOutputDataObject(0)
    counts, area = [], 0.0
    for level in range(3):
        counts.append(0)
        for n in range(levels.GetNumberOfBlocks(level)):
            grid = levels.GetDataSetAsImageData(level, n)
            seen = [cell for cell in range(grid.GetNumberOfCells()) if grid.IsCellVisible(cell)]
            counts[level] += len(seen)
            spacing = np.array(grid.GetSpacing())[:2]
            area += len(seen) * spacing.prod()
            f, pair = (vtk_to_numpy(grid.GetCellData().GetArray(name)) for name in ("f", "pair"))
            for cell in seen:
                low = np.array(grid.GetCell(cell).GetBounds())[[0, 2]]
                i, j = np.rint(low / spacing)
                assert f[cell] == 10000 * level + 100 * j + i
                assert tuple(pair[cell]) == (f[cell], -f[cell])
    assert counts == [128 - 12, 48 - 20, 320]
    assert area == 128


def test_why_there_is_nothing_for_a_plotfile(tmp_path):
    with pytest.raises(sidestream.Error, match=r"'box' is left out: it is refined by \[2, 2, 1\], but plotfiles have"):
        sidestream.export(refined(tmp_path, "2x2x1"), tmp_path / "all.amrex")


def test_a_mesh_without_blocks_has_no_plotfile(tmp_path):
    """Particles need a mesh with blocks beside them; the names of plotfiles do not depend on what was published."""
    text = f"""\
placement: inline
output: {{directory: {tmp_path}}}
meshes: {{f: {{size: [4, 4]}}, g: {{size: [2, 2]}}, p: {{type: points, dimensions: 2, coordinates: place}}}}
variables: {{a: {{mesh: f}}, b: {{mesh: g}}, place: {{mesh: p, components: 2}}, mass: {{mesh: p}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block("f", 0, [0, 0], [4, 4])
        session.set_block("g", 0, [0, 0], [2, 2])
        session.set_block_list("p", 0, 1, 1)
        for step in range(3):
            if step != 1:
                session.publish("a", 0, np.full((4, 4), 1.0 + step))
            if step != 2:
                session.publish("b", 0, np.full((2, 2), 3.0 + step))
            session.publish("place", 0, np.array([[0.5, 1.5]]))
            session.publish("mass", 0, np.array([7.0]))
            session.end_iteration(step, step)
            session.replace_blocks("f", *([], [], []) if step == 0 else ([0], [[0, 0]], [[4, 4]]))
            if step == 1:
                session.replace_blocks("g", [], [], [])
    said = sidestream.export(tmp_path / "data", tmp_path / "all.amrex")
    found = sorted(path.name for path in (tmp_path / "all.amrex").iterdir())
    assert found == ["f-plt000000", "f-plt000002", "g-plt000000", "g-plt000001"]
    for name in found:
        assert (tmp_path / "all.amrex" / name / "p" / "Header").read_text().split()[6] == "1"  # particles
    assert {sentence.split("'")[1] for sentence in said} == {"f", "g"}
    fields = sidestream.open(tmp_path / "data")
    assert [fields[name].attrs["centering"] for name in ("a", "mass", "place")] == ["cell", "cell", "node"]


@pytest.mark.parametrize(
    ("target", "units", "said"),
    [
        ("a.nc", "bananas", "'bananas' as units"),
        ("a.nc", "seconds since then", "write 'seconds since 2000-01-01'"),
        ("a.zarr", "seconds since 2000-01-01", "for .nc only"),
    ],
)
def test_units_of_the_time_that_nobody_reads(tmp_path, target, units, said):
    with pytest.raises(sidestream.Error, match=said):
        sidestream.export(refined(tmp_path, 2), tmp_path / target, time_units=units)
    assert not (tmp_path / target).exists()


def tree_with_times(folder):
    """A database with a tree whose levels have times of their own, 1.5 and 1.75."""
    text = f"""\
placement: inline
output: {{directory: {folder}}}
meshes: {{tree: {{type: octree, size: [1, 1], refined: split}}}}
variables: {{split: {{mesh: tree, type: uint8}}, f: {{mesh: tree}}}}
outputs: [database: {{directory: data, kind: post, fsync: false, hdf5: false, level_times: times}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block_list("tree", 0, 0, 5)
        session.publish("split", 0, np.array([1, 0, 0, 0, 0], np.uint8))
        session.publish("f", 0, np.arange(5.0))
        session.signal("times", np.array([1.5, 1.75]), scope="all")
        session.end_iteration(0, 1.5)
    return folder / "data"


def test_times_of_levels_of_trees(tmp_path):
    """VTK's reader gives the times of levels as field data of the hyper tree grid."""
    sidestream.export(tree_with_times(tmp_path), tmp_path / "all.pvd")
    (file,) = tmp_path.glob("*.htg")
    reader = vtkXMLHyperTreeGridReader()
    reader.SetFileName(str(file))
    reader.Update()
    array = reader.GetOutput().GetFieldData().GetArray("level_times")
    assert [array.GetValue(n) for n in range(array.GetNumberOfValues())] == [1.5, 1.75]


@pytest.mark.parametrize(("fine", "said"), [([16, 8], None), ([14, 8], "4 of 32 cells of the mesh 'sheet'")])
def test_blocks_of_several_levels_may_tile_the_mesh(tmp_path, capfd, fine, said):
    """The output `vtk` does not report cells of level 0 as missing that a finer block covers."""
    text = f"""\
placement: inline
output: {{directory: {tmp_path}}}
meshes: {{sheet: {{size: [8, 4], refinement: [2]}}}}
variables: {{f: {{mesh: sheet}}}}
outputs: [vtk: {{}}]
"""
    with sidestream.open_session(MPI.COMM_SELF, text=text) as session:
        session.set_block("sheet", 0, [0, 0], [4, 4])
        session.set_block("sheet", 1, [8, 0], fine, level=1)
        session.publish("f", 0, np.ones((4, 4)))
        session.publish("f", 1, np.ones((fine[1], fine[0] - 8)))
        session.end_iteration(0, 0)
    found = capfd.readouterr().err
    assert (said or "") in found and ("not-a-number" in found) == (said is not None)
