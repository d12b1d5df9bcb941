"""Outputs of RAMSES as databases, compared with the written values and with yt, which reads the originals."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
import ramses_files
import sidestream
from optional_packages import needs
from ramses_files import Sample

TOOL = os.environ["SIDESTREAM_TOOL"]
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")


def run(*arguments, ranks=None):
    front = [] if ranks is None else [MPIRUN, "-n", str(ranks)]
    command = [*front, TOOL, "import", "ramses", *map(str, arguments), "--no-fsync"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def imported(sample, place, *options, ranks=None):
    output = ramses_files.write_output(sample, place)
    done = run(output, place / "data", *options, ranks=ranks)
    assert done.returncode == 0, done.stderr
    return output, place / "data", done.stdout


def flat(levels, name, level, leaf):
    """The values of a variable in the chosen cells, as columns."""
    values = levels.values(name, level, leaf)
    return values[:, None] if values.ndim == 1 else values


def check_leaves(sample, levels, variables):
    """Checks that each leaf of the tree exists once, with all its values. `variables` are those of the database,
    with their columns."""
    expected, found = ramses_files.leaves(sample), 0
    for n, cells in enumerate(levels.cells):
        leaf = cells.counted
        index = cells.index[leaf]
        columns = {v: flat(levels, v, n, leaf) for v in variables}
        for row in range(len(index)):
            place = expected[n, *(int(i) for i in index[row])]
            found += 1
            for variable, (kind, names) in variables.items():
                exact = [ramses_files.value(kind, name, n, place) for name in names]
                assert columns[variable][row].tolist() == exact, (variable, n, place)
    assert found == len(expected)


HYDRO = {
    "density": ("hydro", ["density"]),
    "velocity": ("hydro", ["velocity_x", "velocity_y", "velocity_z"]),
    "pressure": ("hydro", ["pressure"]),
    "metallicity": ("hydro", ["metallicity"]),
}
LINE = {name: ("hydro", [name]) for name in ("density", "velocity_x", "pressure", "metallicity")}
MHD = {
    "density": ("hydro", ["density"]),
    "velocity": ("hydro", ["velocity_x", "velocity_y", "velocity_z"]),
    **{f"B_{axis}_{side}": ("hydro", [f"B_{axis}_{side}"]) for axis in "xyz" for side in ("left", "right")},
    "pressure": ("hydro", ["pressure"]),
}


@pytest.mark.keep(2)
@pytest.mark.parametrize(
    ("sample", "variables"),
    [
        (Sample(), HYDRO),
        (Sample(order=">"), HYDRO),
        (Sample(real="f4", domains=5), HYDRO),
        (Sample(descriptors="old", kinds=("hydro", "mhd")), MHD),
        (Sample(boundaries=2, groups=True), HYDRO),
        (Sample(coarse=2, ordering="bisection", domains=4), HYDRO),
        (Sample(domains=1, long_counts=True), HYDRO),
        (Sample(domains=11), HYDRO),
        (Sample(dimensions=2, boundaries=2), HYDRO | {"velocity": ("hydro", ["velocity_x", "velocity_y"])}),
        (Sample(dimensions=1), LINE),
    ],
    ids=["plain", "big-endian", "single", "mhd", "boundaries", "coarse", "one-domain", "many", "2-D", "1-D"],
)
def test_leaves(sample, variables, tmp_path):
    _, data, _ = imported(sample, tmp_path)
    levels = sidestream.open(data, into="levels", mesh="tree")
    assert set(levels.variables) == set(variables)
    assert levels.variables["density"].dtype == np.dtype(sample.real)
    assert (levels.attrs["iteration"], levels.attrs["cycle"], levels.attrs["time"]) == (7, 5, 0.25)
    used = sample.dimensions
    np.testing.assert_array_equal(levels.mesh.hi[:used], [sample.coarse, 1, 1][:used])
    np.testing.assert_array_equal(levels.mesh.spacing[:used], sample.boxlen / sample.coarse)
    check_leaves(sample, levels, variables)


def test_gravity_radiation_particles(tmp_path):
    sample = Sample(kinds=("hydro", "grav", "rt", "part"))
    _, data, said = imported(sample, tmp_path)
    others = {
        "potential": ("grav", ["potential"]),
        "acceleration": ("grav", ["acceleration_x", "acceleration_y", "acceleration_z"]),
        "photon_density_01": ("rt", ["photon_density_01"]),
        "photon_flux_01": ("rt", ["photon_flux_01_x", "photon_flux_01_y", "photon_flux_01_z"]),
    }
    check_leaves(sample, sidestream.open(data, into="levels", mesh="tree"), HYDRO | others)
    fields = sidestream.open(data, cycle=5, into="numpy")
    domains = [ramses_files.particles_of(sample, d) for d in range(3)]
    whole = {name: np.concatenate([d[name] for d in domains]) for name in domains[0]}
    position = np.stack([whole[f"position_{a}"] for a in "xyz"], axis=1)
    np.testing.assert_array_equal(fields["particle_position"][...], position)
    for name in ("mass", "identity", "family", "birth_time"):
        assert fields[f"particle_{name}"][...].dtype == whole[name].dtype
        np.testing.assert_array_equal(fields[f"particle_{name}"][...], whole[name])
    assert f"{len(whole['mass'])} particles" in said


def test_without_gas(tmp_path):
    """A tree with particles but without values in its cells."""
    sample = Sample(kinds=("part",))
    _, data, _ = imported(sample, tmp_path)
    levels = sidestream.open(data, into="levels", mesh="tree")
    assert list(levels.variables) == []
    check_leaves(sample, levels, {})


def test_without_descriptors(tmp_path):
    sample = Sample(descriptors=None, kinds=("hydro", "part"))
    output, data, said = imported(sample, tmp_path)
    assert "there is no hydro_file_descriptor.txt" in said and "there is no part_file_descriptor.txt" in said
    renamed = {k: v for k, v in HYDRO.items() if k != "metallicity"} | {"scalar_01": ("hydro", ["metallicity"])}
    check_leaves(sample, sidestream.open(data, into="levels", mesh="tree"), renamed)
    masses = np.concatenate([ramses_files.particles_of(sample, d)["mass"] for d in range(3)])
    np.testing.assert_array_equal(sidestream.open(data, cycle=5, into="numpy")["particle_mass"][...], masses)
    (output / "sink_00007.csv").write_text("")
    assert "files sink_00007.* are not read" in run(output, tmp_path / "again").stdout


@pytest.mark.test_all
def test_ranks_and_codecs(tmp_path):
    """Values are the same whichever rank reads a file, and with any codec. A second import makes a second context."""
    output, data, _ = imported(Sample(), tmp_path)
    assert run(output, tmp_path / "three", "--codec", "none", ranks=3).returncode == 0
    assert run(output, tmp_path / "three", "--codec", "byte-shuffle,gzip", ranks=5).returncode == 0
    one, three = (sidestream.open(p, into="levels", mesh="tree") for p in (data, tmp_path / "three"))
    for n in range(len(one)):
        for name in ("velocity", "density", "owner", "refined", "morton"):
            np.testing.assert_array_equal(one[n][name], three[n][name])
    listed = subprocess.run([TOOL, "verify", str(tmp_path / "three")], capture_output=True, text=True, check=False)
    assert "2 of 2 contexts are whole" in listed.stdout


def test_progress(tmp_path):
    """On a terminal a line tells which domain is read, and then vanishes."""
    output = ramses_files.write_output(Sample(), tmp_path)
    ours, theirs = os.openpty()
    command = [TOOL, "import", "ramses", str(output), str(tmp_path / "data"), "--no-fsync"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, timeout=60, check=False)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert done.returncode == 0
    for domain in (1, 2, 3):
        assert f"\rdomain {domain} of 3".encode() in said
    assert said.endswith(b"\r\x1b[K")


def test_report(tmp_path):
    """Cells, leaves and bytes of each domain, compared with the files and the tree."""
    sample = Sample()
    _, data, said = imported(sample, tmp_path)
    rows = [line.split() for line in said.splitlines()]
    assert [row[0] for row in rows[1:5]] == ["1", "2", "3", "all"]
    own = [int(row[3]) for row in rows[1:5]]
    assert sum(own[:3]) == own[3] == len(ramses_files.leaves(sample))
    cells = [1 + 8 * sum(map(len, ramses_files.octs_of(sample, d))) for d in range(3)]
    assert [int(row[1]) for row in rows[1:4]] == cells
    blocks = sidestream.open(data, into="levels", mesh="tree").blocks
    kept = [kept_cells(sample, d) for d in range(3)]
    assert [int(b.hi[0]) for b in blocks] == kept and sum(kept) < sum(cells)
    for row, whole, left in zip(rows[1:4], cells, kept, strict=True):
        assert row[4] == f"{100 * (1 - left / whole):.1f}"
    assert run(tmp_path / "output_00007", tmp_path / "whole", "--no-prune").returncode == 0
    levels = sidestream.open(tmp_path / "whole", into="levels", mesh="tree")
    assert [int(b.hi[0]) for b in levels.blocks] == cells
    check_leaves(sample, levels, HYDRO)


def kept_cells(sample, domain):
    """Counts cells by walking down from the root to the domain's own leaves."""
    octs = [dict(level) for level in ramses_files.octs_of(sample, domain)]

    def own_leaf(level, cell):
        if level < len(octs) and cell in octs[level]:
            return any(own_leaf(level + 1, ramses_files.child(cell, bits)) for bits in ramses_files.children(3))
        return level > 0 and octs[level - 1][tuple(i >> 1 for i in cell)] == domain

    def count(level, cell):
        if not (level < len(octs) and cell in octs[level] and own_leaf(level, cell)):
            return 1
        return 1 + sum(count(level + 1, ramses_files.child(cell, bits)) for bits in ramses_files.children(3))

    return count(0, (0, 0, 0))


def leaves_in_yt(dataset, fields):
    """Rows of centre, width and values, sorted."""
    everything = dataset.all_data()
    unit = dataset.domain_width[0].to("code_length").d / dataset.domain_width[0].to("code_length").d
    where = [everything["index", axis].to("code_length").d * unit for axis in "xyz"]
    columns = [*where, everything["index", "dx"].to("code_length").d, *(everything[f].d for f in fields)]
    table = np.stack([np.asarray(c, np.float64) for c in columns], axis=1)
    return table[np.lexsort(table[:, 2::-1].T)]


def compare_with_yt(output, data):
    yt = needs("yt")
    yt.set_log_level(40)
    original = yt.load(str(next(output.glob("info_*.txt"))))
    theirs = leaves_in_yt(original, [("ramses", "Density"), ("ramses", "Pressure")])
    levels = sidestream.open(data, into="levels", mesh="tree")
    rows = []
    for n, cells in enumerate(levels.cells):
        leaf, spacing = cells.counted, levels.spacing(n)
        centre = (cells.index[leaf] + 0.5) * spacing / levels.mesh.spacing[0]
        width = np.full((len(centre), 1), spacing[0] / levels.mesh.spacing[0])
        rows.append(np.hstack([centre, width, *(levels.values(v, n, leaf)[:, None] for v in ("density", "pressure"))]))
    ours = np.concatenate(rows)
    ours = ours[np.lexsort(ours[:, 2::-1].T)]
    assert ours.shape == theirs.shape
    theirs[:, :4] /= original.domain_width[0].to("code_length").d
    np.testing.assert_allclose(ours[:, :4], theirs[:, :4], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ours[:, 4:], theirs[:, 4:], "values are the same bits")
    return levels, ours


def compare_with_osyris(output, data):
    """Level, cell and values of each leaf from a reader that shares nothing with yt."""
    osyris = needs("osyris")
    stored = osyris.RamsesDataset(int(output.name[-5:]), path=str(output.parent)).load("mesh")
    info, mesh = stored.meta, stored["mesh"]
    number = lambda name, unit: np.asarray(mesh[name].values, np.float64) / unit  # noqa: E731
    level = np.asarray(mesh["level"].values).astype(int)
    where = np.stack([np.asarray(getattr(mesh["position"], axis).values, np.float64) for axis in "xyz"], axis=1)
    cell = np.floor(where / (info["boxlen"] * info["unit_l"]) * 2.0 ** level[:, None]).astype(int)
    columns = [
        number("density", info["unit_d"]),
        number("pressure", info["unit_d"] * (info["unit_l"] / info["unit_t"]) ** 2),
    ]
    theirs = np.column_stack([level, cell, *columns])
    rows = []
    levels = sidestream.open(data, into="levels", mesh="tree")
    for n, cells in enumerate(levels.cells):
        leaf = cells.counted
        values = [levels.values(name, n, leaf) for name in ("density", "pressure")]
        rows.append(np.column_stack([np.full(int(leaf.sum()), n), cells.index[leaf], *values]))
    ours = np.concatenate(rows)
    ours, theirs = (table[np.lexsort(table[:, 3::-1].T)] for table in (ours, theirs))
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours[:, :4], theirs[:, :4])
    np.testing.assert_allclose(ours[:, 4:], theirs[:, 4:], rtol=1e-14)  # yt multiplies with units


@pytest.mark.test_all
def test_osyris(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # yt writes its settings there
    compare_with_osyris(*imported(Sample(boxlen=1.0), tmp_path)[:2])


@pytest.mark.test_all
def test_yt(tmp_path):
    levels, _ = compare_with_yt(*imported(Sample(boxlen=1.0), tmp_path)[:2])
    dataset = levels.to_yt(["density", "velocity"])  # kept: what it gives has only a weak reference to it
    again = dataset.all_data()
    centre = np.stack([again["index", a].d for a in "xyz"], axis=1)
    expected = ramses_files.leaves(Sample())
    assert len(centre) == len(expected)
    for row in range(0, len(centre), 7):
        level = round(-np.log2(again["index", "dx"].d[row]))
        cell = expected[level, *(int(x * 2**level) for x in centre[row])]
        velocity = [again["stream", f"velocity_{a}"].d[row] for a in "xyz"]
        assert velocity == [ramses_files.value("hydro", f"velocity_{a}", level, cell) for a in "xyz"]
        assert again["stream", "density"].d[row] == ramses_files.value("hydro", "density", level, cell)


def test_cut_of_a_real_output(tmp_path):
    """A part of an output of RAMSES itself, which tests/data/cut_ramses.py has cut out."""
    with tarfile.open(Path(__file__).parents[1] / "data/ramses_sedov_cut.tar.xz") as archive:
        # Python 3.11.2 has no filters; the archive is ours.
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    assert run(tmp_path / "output_00004", tmp_path / "data").returncode == 0
    levels, leaves = compare_with_yt(tmp_path / "output_00004", tmp_path / "data")
    assert [len(cells.index) for cells in levels.cells][:5] == [8**n for n in range(5)] and len(levels) == 7
    assert (leaves[:, 3] ** 3).sum() == 1, "each place once"
    dataset = levels.to_yt(["density"])  # kept: what it gives has only a weak reference to it
    everything = dataset.all_data()
    mass = (everything["stream", "density"].d * everything["index", "cell_volume"].d).sum()
    np.testing.assert_allclose(mass, (leaves[:, 4] * leaves[:, 3] ** 3).sum(), rtol=1e-13)
    # Parents have the mean density of their children, as in RAMSES, from the complete level on.
    for n in range(4, len(levels) - 1):
        parents = levels.cells[n].refined & (levels.cells[n].owner >= 0)
        index = levels.cells[n].index[parents]
        fine = {tuple(i): v for i, v in zip(levels.cells[n + 1].index.tolist(), levels[n + 1]["density"], strict=True)}
        parts = [[fine[tuple(2 * i + b for i, b in zip(f, bits, strict=True))] for bits in ramses_files.children(3)]
                 for f in index.tolist()]  # fmt: skip
        np.testing.assert_allclose(levels[n]["density"][parents], np.mean(parts, axis=1), rtol=1e-12)


@pytest.mark.test_all
@pytest.mark.parametrize("kind", ["amr", "hydro", "part"])
def test_truncated(kind, tmp_path):
    """A file that is cut off or damaged anywhere gives a sentence with its name, and no database."""
    output = ramses_files.write_output(Sample(kinds=("hydro", "part")), tmp_path)
    path = output / f"{kind}_00007.out00003"
    whole = path.read_bytes()
    rng = np.random.default_rng(3)
    cuts = [0, 3, 11, len(whole) - 1, *(int(n) for n in rng.integers(12, len(whole), 6))]
    for cut in cuts:
        path.write_bytes(whole[:cut])
        done = run(output, tmp_path / "data")
        assert done.returncode == 1, (cut, done.stderr)
        assert path.name in done.stderr and "Traceback" not in done.stderr
        assert not (tmp_path / "data").exists()


@pytest.mark.test_all
def test_damaged(tmp_path):
    """Any four changed bytes give a sentence or other values, never a crash or much memory."""
    output = ramses_files.write_output(Sample(), tmp_path)
    rng = np.random.default_rng(5)
    for n in range(30):
        path = output / f"{('amr', 'hydro')[n % 2]}_00007.out0000{1 + n % 3}"
        whole = path.read_bytes()
        place = 4 * int(rng.integers(0, min(len(whole) // 4, 400)))
        wrong = [b"\xff\xff\xff\x7f", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", rng.bytes(4)][n % 4]
        path.write_bytes(whole[:place] + wrong + whole[place + 4 :])
        # The address sanitizer needs more address space than any useful limit.
        limit = "" if "ASAN_OPTIONS" in os.environ else "ulimit -v 4000000; "
        limited = f"{limit}exec '{TOOL}' import ramses '{output}' '{tmp_path / 'data'}' --no-fsync"
        done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode in (0, 1), (path.name, place, wrong, done.stderr)
        assert done.returncode == 0 or done.stderr.startswith("sidestream import: "), done.stderr
        assert "memory of this machine" not in done.stderr
        path.write_bytes(whole)
        shutil.rmtree(tmp_path / "data", ignore_errors=True)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda out: (out / "info_00007.txt").unlink(), "has 0 files info_NNNNN.txt"),
        (lambda out: (out / "amr_00007.out00003").unlink(), "amr_00007.out00003"),
        (lambda out: edit(out, "ndim        =          3", "ndim = 2"), "found 3, but info_*.txt says 2"),
        (lambda out: edit(out, "ncpu        =          3", "ncpu = few"), "'ncpu' is 'few', expected a number"),
        (lambda out: edit(out, "boxlen", "length"), "there is no line 'boxlen = ...'"),
    ],
)
def test_errors(change, sentence, tmp_path):
    output = ramses_files.write_output(Sample(), tmp_path)
    change(output)
    done = run(output, tmp_path / "data")
    assert done.returncode == 1 and sentence in done.stderr
    assert not (tmp_path / "data").exists()
    assert run(output, tmp_path / "data", ranks=2).returncode == 1


def edit(output: Path, old, new):
    path = output / "info_00007.txt"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.test_all
def test_htg(tmp_path):
    """The tree as VTK reads it."""
    vtk = needs("vtk")
    _, data, _ = imported(Sample(boxlen=1.0), tmp_path)
    sidestream.export(data, tmp_path / "all.pvd")
    reader = vtk.vtkXMLHyperTreeGridReader()
    reader.SetFileName(str(next(tmp_path.glob("*.htg"))))
    reader.Update()
    expected = ramses_files.leaves(Sample())
    assert reader.GetOutput().GetNumberOfLeaves() == len(expected)
    assert reader.GetOutput().GetNumberOfLevels() == 1 + max(level for level, *_ in expected)
