"""Times of single levels, which the program tells by an event, are stored in databases and read, in several
placements."""

import os
import re
import subprocess
import sys

import h5py
import pytest
import sidestream
from optional_packages import needs

MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
PROGRAM = """\
import sys
import numpy as np
import sidestream
from mpi4py import MPI

with sidestream.open_session(MPI.COMM_WORLD, text=open(sys.argv[1]).read()) as s:
    if s.is_server:
        s.serve()
        sys.exit()
    last = s.comm.size - 1
    blocks = [(0, (0, 0), (4, 4)), (1, (2, 2), (6, 6))]
    mine = {n: b for n, b in enumerate(blocks) if n % s.comm.size == s.comm.rank}
    for n, (level, lo, hi) in mine.items():
        s.set_block("grid", n, lo, hi, level=level)
    s.start()
    for step in range(4):
        if step % 2 and s.comm.rank == last:
            s.signal(sys.argv[2], np.array(eval(sys.argv[3])) + step, scope="all")
        for n, (level, lo, hi) in mine.items():
            s.publish("t", n, np.full([hi[1] - lo[1], hi[0] - lo[0]], float(step)))
        s.end_iteration(step, float(step))
"""
RUN = """\
placement: {PLACEMENT}
output: {directory: 'DIRECTORY'}
meshes: {grid: {type: uniform, size: [4, 4], refinement: ['2']}}
variables: {t: {mesh: grid}}
outputs:
  - database: {directory: data, fsync: false, level_times: times}
  - hdf5: {file: 'fields-{cycle}.h5', level_times: times}
  - hdf5: {file: 'kept-{cycle}.h5', level_times: times, when: max(t) >= 3, keep_back: 3}
  - vtk: {file: 'fields-{cycle}.vtm', level_times: times}
"""


def run(folder, placement, ranks, event="times", values="[0.0, 0.25]"):
    (folder / "run.yaml").write_text(
        RUN.replace("{PLACEMENT}", placement).replace("DIRECTORY", str(folder / "results"))
    )
    (folder / "program.py").write_text(PROGRAM)
    command = [MPIRUN, "-n", ranks, sys.executable, folder / "program.py", folder / "run.yaml", event, values]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("placement", "ranks"),
    [("inline", 1), ("inline", 3), ("{mode: cores, buffer: 32 MiB, per_node: 2}", 5), ("{mode: nodes, servers: 2}", 5)],
)
def test_times(placement, ranks, tmp_path):
    done = run(tmp_path, placement, ranks)
    assert done.returncode == 0, done.stderr
    for step in range(4):
        for source in ("data", f"fields-{step}.h5", f"kept-{step}.h5"):
            place = tmp_path / "results" / source
            which = {"iteration": step} if source == "data" else {}
            levels = sidestream.open(place, into="levels", mesh="grid", **which)
            times = [level.time for level in levels]
            assert times == ([step, step + 0.25] if step % 2 else [step, step]), source
            assert levels.attrs["time"] == step
        for block in (tmp_path / "results" / f"fields-{step}").glob("*.vti"):
            found = re.search('Name="level_times" NumberOfTuples="2" format="ascii">([^<]*)<', block.read_text())
            assert (found and [float(time) for time in found[1].split()]) == (times if step % 2 else None)


def test_vtk_reads_them(tmp_path):
    """VTK's reader has the times of levels in the field data of each block."""
    needs("vtk")
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    assert run(tmp_path, "inline", 1).returncode == 0
    blocks = sorted((tmp_path / "results/fields-1").glob("*.vti"))
    assert len(blocks) == 2
    for block in blocks:
        reader = vtkXMLImageDataReader()
        reader.SetFileName(str(block))
        reader.Update()
        fields = reader.GetOutput().GetFieldData()
        times = fields.GetArray("level_times")
        assert [times.GetValue(n) for n in range(times.GetNumberOfTuples())] == [1, 1.25]
        assert fields.GetArray("TimeValue").GetValue(0) == 1


def test_exported(tmp_path):
    """Times are exported to VTK as field data, which its reader of levels ignores, and to HDF5 as an attribute of
    the mesh."""
    assert run(tmp_path, "inline", 1).returncode == 0
    data = tmp_path / "results/data"
    sidestream.export(data, tmp_path / "all.pvd")
    sidestream.export(data, tmp_path / "all.h5")
    for step in range(4):
        expected = [step, step + 0.25] if step % 2 else None
        with h5py.File(tmp_path / f"all-grid-levels-{step:06}.vtkhdf") as file:
            found = file["VTKHDF/FieldData"].get("level_times")
            assert (found if found is None else found[...].tolist()) == expected
        with h5py.File(tmp_path / f"all-{step:06}.h5") as file:
            for mesh in ("grid", "grid_level1"):
                found = file[f"meshes/{mesh}"].attrs.get("level_times")
                assert (found if found is None else found.tolist()) == expected


def test_wrong_values(tmp_path):
    done = run(tmp_path, "inline", 1, values="[0, 1]")
    assert "the event 'times' has values of type int64, expected the times of levels: float64" in done.stderr


@pytest.mark.test_all
def test_no_such_event(tmp_path):
    """A misspelt event is refused when it is signalled, because the output mentions an event with the right name."""
    done = run(tmp_path, "inline", 1, event="tims")
    assert done.returncode != 0 and "tims" in done.stderr
