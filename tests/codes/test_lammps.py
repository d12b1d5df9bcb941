"""LAMMPS with Sidestream: every atom is as in LAMMPS' own dump, and results are the same in every placement."""

import os
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from pairs import few
from running import MPIRUN, run

SOURCE = Path(__file__).resolve().parents[2] / "simulations" / "lammps"
PROGRAM = os.environ["SIDESTREAM_LAMMPS_PROGRAM"]
STEPS, EVERY = 40, 20
DUMP = f"dump all all custom {EVERY} dump.*.txt id type x y z vx vy vz\ndump_modify all format float %.17g\n"
BOX = 6 * (4 / 0.8442) ** (1 / 3)


def script(extra=""):
    """The input of the example, with fewer atoms."""
    text = (SOURCE / "in.melt").read_text()
    assert "0 10 0 10 0 10" in text
    return text.replace("0 10 0 10 0 10", "0 6 0 6 0 6") + extra


class Runs(dict):
    """Results by placement, made when needed. Three ranks always simulate, so that LAMMPS rounds alike."""

    def __init__(self, make_folder):
        super().__init__()
        self.make_folder = make_folder

    def __missing__(self, placement):
        folder = self[placement] = self.make_folder(placement)
        (folder / "in.melt").write_text(script(DUMP))
        run(folder, SOURCE / "run.yaml", placement, 3, [PROGRAM, "in.melt"], [STEPS, EVERY])
        return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp)


def dumped(folder, step):
    """Rows of id, type, x, y, z, vx, vy, vz by ascending id, of all digits."""
    rows = np.loadtxt(folder / f"dump.{step}.txt", skiprows=9)
    return rows[np.argsort(rows[:, 0])]


def published(folder, index):
    """The same rows from Sidestream's files."""
    with h5py.File(folder / "results" / f"atoms-{index:03}.h5") as file:
        columns = [file[f"variables/{name}"][...] for name in ("id", "type", "position", "velocity")]
        assert file.attrs["cycle"] == index * EVERY
    rows = np.column_stack(columns)
    return rows[np.argsort(rows[:, 0])]


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(["cores", "inline", "nodes", "sidecar"]))
def test_every_atom_is_as_lammps_dumps_it(runs, placement):
    counts = set()
    for index in range(STEPS // EVERY + 1):
        expected, found = dumped(runs[placement], index * EVERY), published(runs[placement], index)
        assert found.shape == (864, 8)
        assert np.array_equal(found[:, 0], np.arange(1, 865))
        assert found.tobytes() == expected.tobytes(), f"{placement}, iteration {index}"
        with h5py.File(runs["inline"] / "results" / f"atoms-{index:03}-000.h5") as piece:
            counts.add(len(next(iter(piece["variables/id"].values()))))
    assert len(counts) > 1, "no atom has moved to another rank, so that nothing was tested of that"


@pytest.mark.test_all
@pytest.mark.parametrize("placement", few(["cores", "nodes", "sidecar"]))
def test_placements_have_the_same_results(runs, placement):
    """LAMMPS rounds alike on the same number of ranks, so that Sidestream's results have the same bytes."""
    names = [f"atoms-{n:03}.png" for n in range(3)] + ["velocity.csv"]
    reference = {name: (runs["inline"] / "results" / name).read_bytes() for name in names}
    assert len(set(reference.values())) == len(names), "pictures of atoms that move differ"
    for name, expected in reference.items():
        assert (runs[placement] / "results" / name).read_bytes() == expected, name


@pytest.mark.test_all
def test_deposited_types_are_those_of_a_sum_over_atoms(runs):
    """Cloud-in-cell density by NumPy, with 16 cells along each axis of the periodic box."""
    rows = dumped(runs["cores"], STEPS)
    with h5py.File(runs["cores"] / "results" / "density-002.h5") as file:
        found = file["type"][...]
        assert file.attrs["particles"] == 864
        assert file.attrs["outside"] == 0
    expected = np.zeros((16, 16, 16))
    places = rows[:, 2:5] / BOX * 16 - 0.5
    low = np.floor(places).astype(int)
    part = places - low
    for corner in np.ndindex(2, 2, 2):
        share = np.prod(np.where(corner, part, 1 - part), axis=1)
        i, j, k = ((low + corner) % 16).T
        np.add.at(expected, (k, j, i), share * rows[:, 1])
    expected /= (BOX / 16) ** 3
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_ranks_without_atoms(tmp_path):
    """All atoms are in one corner of the box, and some ranks have none."""
    text = script(DUMP).replace("create_atoms 1 box", "region corner block 0 2 0 2 0 2\ncreate_atoms 1 region corner")
    (tmp_path / "in.melt").write_text(text)
    run(tmp_path, SOURCE / "run.yaml", "cores", 4, [PROGRAM, "in.melt"], [EVERY, EVERY])
    for index in range(2):
        expected = dumped(tmp_path, index * EVERY)
        assert 0 < len(expected) < 100
        assert published(tmp_path, index).tobytes() == expected.tobytes()


@pytest.mark.test_all
def test_a_script_that_fails_ends_the_run(tmp_path):
    (tmp_path / "in.melt").write_text(script("pair_style no/such/style\n"))
    shutil.copy(SOURCE / "run.yaml", tmp_path)
    for ranks, placement in ((2, "{mode: inline}"), (3, "{mode: cores, buffer: 32 MiB}")):
        (tmp_path / "run.yaml").write_text((SOURCE / "run.yaml").read_text().replace("{mode: inline}", placement))
        line = [MPIRUN, "-n", str(ranks), PROGRAM, "in.melt", "run.yaml", "20", "20"]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode != 0
        assert "no/such/style" in (tmp_path / "log.lammps").read_text()
