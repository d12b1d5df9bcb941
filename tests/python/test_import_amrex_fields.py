"""Fields at nodes, faces and edges beside plotfiles of AMReX, as in WarpX, compared with the written values."""

import os
import subprocess
from dataclasses import replace

import amrex_files
import numpy as np
import pytest
from amrex_files import Plot
from sidestream.reader.database import chosen
from sidestream.reader.stored import Context

TOOL = os.environ["SIDESTREAM_TOOL"]
FLAT = Plot(
    dimensions=2,
    boxes=((((0, 0, 0), (8, 3, 1)), ((0, 3, 0), (8, 8, 1))), (((4, 4, 0), (12, 12, 1)),)),
    ratios=(2,),
)


def imported(original, data):
    done = subprocess.run(
        [TOOL, "import", "amrex", original, data, "--no-fsync"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return Context(data, chosen(data)[0]), done.stdout


def check(plot, context, name, nodes, components, levels):
    variable = context.variables[name]
    assert variable.components == components
    assert [variable.centering >> a & 1 for a in range(plot.dimensions)] == list(nodes)
    n, seen = plot.dimensions, 0
    for piece in context.pieces(variable):
        lo, hi = piece.lo[:n], piece.hi[:n]
        level = int(piece.block["level"])
        values = context.read(variable, piece).reshape(*(hi - lo)[::-1], components)
        for c in range(components):
            np.testing.assert_array_equal(values[..., c], plot.value(c, level, lo, hi))
        seen += 1
    assert seen == sum(len(plot.boxes[level]) for level in levels)


@pytest.mark.keep(1)
@pytest.mark.parametrize("format", [amrex_files.NATIVE, amrex_files.BIG, amrex_files.LITTLE32])
def test_three_dimensions(format, tmp_path):
    plot = replace(Plot(), format=format)
    original = amrex_files.write_plot(plot, tmp_path / "plt")
    fields = {"Ex_fp": (0, 1, 1), "Bx_fp": (1, 0, 0), "phi": (1, 1, 1), "rho_raw": (0, 0, 0)}
    for level in range(3):
        for name, nodes in fields.items():
            amrex_files.write_field(
                plot, original / f"raw_fields/Level_{level}", name, nodes, ghosts=level, level=level
            )
    amrex_files.write_field(plot, original / "Level_0", "Nu_nd", (1, 1, 1), components=3)
    context, said = imported(original, tmp_path / "data")
    for name, nodes in fields.items():
        check(plot, context, name, nodes, 1, range(3))
    check(plot, context, "Nu_nd", (1, 1, 1), 3, [0])
    assert "5 fields more" in said and "not read" not in said


def test_two_dimensions(tmp_path):
    original = amrex_files.write_plot(FLAT, tmp_path / "plt")
    amrex_files.write_field(FLAT, original / "raw_fields/Level_1", "Ez_fp", (1, 1), ghosts=2, level=1)
    context, _ = imported(original, tmp_path / "data")
    check(FLAT, context, "Ez_fp", (1, 1), 1, [1])


def test_left_out(tmp_path):
    plot = Plot()
    original = amrex_files.write_plot(plot, tmp_path / "plt")
    raw = original / "raw_fields"
    amrex_files.write_field(plot, raw / "Level_1", "Ex_cp", (0, 1, 1), level=1, shift=2)  # with different boxes
    amrex_files.write_field(plot, raw / "Level_0", "Ex_fp", (0, 1, 1))
    amrex_files.write_field(plot, raw / "Level_1", "Ex_fp", (1, 1, 0), level=1)
    (raw / "Level_2").mkdir()
    (raw / "Level_2/other_H").write_text("words\n")
    context, said = imported(original, tmp_path / "data")
    assert "'Ex_cp_H' of level 1 is not read: its boxes are not those of the mesh" in said
    assert "'Ex_fp_H' of level 1 is not read: another file of its name has values of another kind" in said
    assert "'other_H' of level 2 is not read" in said and "expected a whole number" in said
    check(plot, context, "Ex_fp", (0, 1, 1), 1, [0])
    assert "Ex_cp" not in context.variables


def test_cut_off(tmp_path):
    plot = Plot()
    original = amrex_files.write_plot(plot, tmp_path / "plt")
    amrex_files.write_field(plot, original / "raw_fields/Level_0", "phi", (1, 1, 1))
    os.truncate(original / "raw_fields/Level_0/phi_D_00000", 1000)
    command = [TOOL, "import", "amrex", original, tmp_path / "data", "--no-fsync"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "phi_D_00000' ends within the box" in done.stderr
