"""`sidestream replay` publishes the values of a database with all bits. It runs on other numbers of ranks, in other
placements, at another resolution and pace."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pairs import few, pairs
from programs import built, needs_module
from support import prepare, run, run_beside
from test_kinds import DECLARATIONS, TASKS

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader

PROGRAM, TOOL = built("SIDESTREAM_KINDS_PROGRAM"), built("SIDESTREAM_TOOL")
MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
STEPS = 3
STORE = "outputs: [database: {directory: data, kind: post, codec: [byte-shuffle, zstd]}]\n"


@pytest.fixture(scope="module")
def fields(tmp_path_factory):
    """The field program's database: t in cells, p at nodes with two components, row order; 20 cells along each axis."""
    done = run(tmp_path_factory.mktemp("fields"), 3, "inline", STORE, [f"steps={STEPS}"])
    assert done.status == 0, done.text
    return done.results / "data"


def replay(folder, data, ranks, placement, *options, tasks=STORE, status=0):
    folder.mkdir(exist_ok=True)
    file = folder / "run.yaml"
    file.write_text(f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n{tasks}")
    command = [MPIRUN, "-n", str(ranks), TOOL, "replay", str(data), str(file), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return folder / "results" / "data", done.stdout + done.stderr


def contexts(data):
    return list(database_reader.contexts(data).values())


def wholes(data):
    return [{name: context.whole(name) for name in ("t", "p")} for context in contexts(data)]


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "placement"),
    few(
        [
            (5, "inline"),
            (4, "{mode: nodes, buffer: 32 MiB, servers: 2}"),
            (3, "cores"),
            (1, "inline"),
            (2, "inline"),
            (8, "inline"),
        ],
        keep=2,
    ),
)
def test_same_values(tmp_path, fields, ranks, placement):
    found, text = replay(tmp_path, fields, ranks, placement)
    assert f"replayed {STEPS} iterations" in text
    for old, new, a, b in zip(contexts(fields), contexts(found), wholes(fields), wholes(found), strict=True):
        assert (new.entry["cycle"], new.entry["time"]) == (old.entry["cycle"], old.entry["time"])
        assert (new.meshes["grid"]["spacing"], new.meshes["grid"]["cells"]) == (
            old.meshes["grid"]["spacing"],
            old.meshes["grid"]["cells"],
        )
        for name in a:
            np.testing.assert_array_equal(a[name].view("u1"), b[name].view("u1"))


def test_more_ranks_than_cells(tmp_path):
    """Ranks without cells have nothing to publish."""
    done = run(tmp_path / "small", 1, "inline", STORE, [f"steps={STEPS}", "grid=1"])
    assert done.status == 0, done.text
    found, _ = replay(tmp_path / "replayed", done.results / "data", 5, "inline")
    for a, b in zip(wholes(done.results / "data"), wholes(found), strict=True):
        np.testing.assert_array_equal(a["p"], b["p"])


@pytest.mark.keep(1)
@pytest.mark.parametrize(("option", "factor"), [("--coarsen", 2), ("--coarsen", 5), ("--refine", 3)])
def test_resolution(tmp_path, fields, option, factor):
    found, _ = replay(tmp_path, fields, 3, "inline", option, str(factor))
    cells = 20 // factor if option == "--coarsen" else 20 * factor
    mesh, stored = (contexts(data)[0].meshes["grid"] for data in (found, fields))
    assert mesh["cells"][1] == [cells] * 3
    np.testing.assert_allclose(np.array(mesh["spacing"]) * cells, np.array(stored["spacing"]) * 20)
    coarse = option == "--coarsen"
    at_cells = np.arange(cells) * factor + (factor - 1) // 2 if coarse else np.arange(cells) // factor
    at_nodes = np.arange(cells + 1) * factor if coarse else np.arange(cells + 1) // factor
    for a, b in zip(wholes(fields), wholes(found), strict=True):
        np.testing.assert_array_equal(b["t"], a["t"][np.ix_(at_cells, at_cells, at_cells)])
        np.testing.assert_array_equal(b["p"], a["p"][np.ix_(at_nodes, at_nodes, at_nodes)])


@pytest.mark.test_all
def along(values, axis, new, old):
    """Linear interpolation along an axis, constant beyond the ends."""
    return np.apply_along_axis(lambda line: np.interp(new, old, line), axis, values)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("ranks", "option", "factor"),
    few([(3, "--refine", 2), (5, "--coarsen", 4), (2, "--coarsen", 5), (1, "--refine", 3)], keep=2),
)
def test_linear(tmp_path, fields, ranks, option, factor):
    found, _ = replay(tmp_path, fields, ranks, "inline", option, str(factor), "--interpolate", "linear")
    ratio = factor if option == "--refine" else 1 / factor
    edges = np.arange(20 * ratio + 1) / ratio
    for a, b in zip(wholes(fields), wholes(found), strict=True):
        cells, nodes = a["t"], a["p"]
        for axis in range(3):
            cells = along(cells, axis, (edges[1:] + edges[:-1]) / 2, np.arange(20) + 0.5)
            nodes = along(nodes, axis, edges, np.arange(21.0))
        np.testing.assert_allclose(b["t"], cells, rtol=1e-12, atol=1e-12 * np.abs(a["t"]).max())
        np.testing.assert_allclose(b["p"], nodes, rtol=2e-7, atol=1e-7 * np.abs(a["p"]).max())  # of 32 bits


@pytest.mark.keep(1)
@pytest.mark.parametrize(("option", "factor"), [("--refine", 2), ("--coarsen", 4), ("--refine", 3)])
def test_conservative(tmp_path, fields, option, factor):
    """Means of cells stay; new values lie between those of neighbours; they are the same on any number of ranks."""
    found, _ = replay(tmp_path / "a", fields, 3, "inline", option, str(factor), "--interpolate", "conservative")
    again, _ = replay(tmp_path / "b", fields, 5, "inline", option, str(factor), "--interpolate", "conservative")
    for a, b, c in zip(wholes(fields), wholes(found), wholes(again), strict=True):
        np.testing.assert_array_equal(b["t"].view("u1"), c["t"].view("u1"))
        fine, coarse = (b["t"], a["t"]) if option == "--refine" else (a["t"], b["t"])
        n = coarse.shape[0]
        means = fine.reshape(n, factor, n, factor, n, factor).mean(axis=(1, 3, 5))
        np.testing.assert_allclose(means, coarse, rtol=1e-12, atol=1e-12 * np.abs(coarse).max())
        assert b["t"].min() >= a["t"].min() and b["t"].max() <= a["t"].max()
        if option == "--refine":
            assert not np.array_equal(b["t"], np.kron(a["t"], np.ones((factor,) * 3)))  # slopes


def test_cells_of_unequal_lengths(tmp_path):
    """Means of merged cells count by length, and values between centres by the distance to them."""
    edges = np.cumsum([0, *(1 + 0.5 * np.sin(np.arange(20)))])
    command, results = prepare(tmp_path, 2, "inline", STORE, ["steps=1"])
    file = tmp_path / "run.yaml"
    lines = f"[{', '.join(map(str, edges))}]"
    uniform = "{type: uniform, size: [$n, $n, $n], spacing: [$h, $h, $h]}"
    assert uniform in file.read_text()
    file.write_text(
        file.read_text().replace(uniform, f"{{type: rectilinear, coordinates: {{x: {lines}, y: {lines}, z: {lines}}}}}")
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    whole = wholes(results / "data")[0]["t"]
    length = np.diff(edges).reshape(10, 2)
    weights = length / length.sum(axis=1, keepdims=True)
    means = np.einsum("aibjck,ai,bj,ck->abc", whole.reshape(10, 2, 10, 2, 10, 2), weights, weights, weights)
    found, _ = replay(
        tmp_path / "means", results / "data", 3, "inline", "--coarsen", "2", "--interpolate", "conservative"
    )
    np.testing.assert_allclose(wholes(found)[0]["t"], means, rtol=1e-12, atol=1e-12)
    centres, merged = (edges[1:] + edges[:-1]) / 2, (edges[2::2] + edges[:-2:2]) / 2
    for axis in range(3):
        whole = along(whole, axis, merged, centres)
    found, _ = replay(tmp_path / "linear", results / "data", 2, "inline", "--coarsen", "2", "--interpolate", "linear")
    np.testing.assert_allclose(wholes(found)[0]["t"], whole, rtol=1e-12, atol=1e-12)


def test_pace_and_more_iterations(tmp_path, fields):
    """Iterations are repeated with later times, and not faster than required."""
    found, text = replay(tmp_path, fields, 2, "cores", "--iterations", "7", "--pace", "0.05", "--compute")
    cycles = [context.entry["cycle"] for context in contexts(found)]
    assert len(cycles) == 7
    assert cycles == sorted(set(cycles))
    took = re.search(r"replayed 7 iterations, .* in ([\d.]+) s", text)
    assert took and float(took[1]) >= 0.29
    first, again = wholes(found)[0], wholes(found)[STEPS]
    np.testing.assert_array_equal(first["t"], again["t"])


@pytest.mark.parametrize(("kind", "ranks"), few(sorted(DECLARATIONS), [2, 5], kept=[("levels", 5)]))
def test_kinds(tmp_path, kind, ranks):
    """Levels and lists keep their blocks, which come and go. Curvilinear meshes are divided."""
    declared = DECLARATIONS[kind].replace("VARYING", "true").replace("DIMENSIONS", "3").replace("SIZE", "[9, 5, 4]")
    names = ", ".join(TASKS[kind])
    store = f"outputs: [database: {{directory: data, variables: [{names}]}}]\n"
    (tmp_path / "first.yaml").write_text(f"placement: inline\noutput: {{directory: {tmp_path}}}\n{declared}{store}")
    command = [MPIRUN, "-n", "3", PROGRAM, str(tmp_path / "first.yaml"), f"kind={kind}", "steps=3"]
    run_beside(tmp_path, [*command, f"changing={int(kind != 'curvilinear')}"], 3)
    found, _ = replay(tmp_path / "again", tmp_path / "data", ranks, "inline", tasks=store)
    for a, b in zip(contexts(tmp_path / "data"), contexts(found), strict=True):
        assert {v["name"]: v["role"] for v in a.variables} == {v["name"]: v["role"] for v in b.variables}
        for variable in a.variables:
            for level in range(3):
                if kind == "curvilinear":
                    np.testing.assert_array_equal(a.whole(variable["name"]), b.whole(variable["name"]))
                    continue
                old, new = a.pieces(variable["name"], level), b.pieces(variable["name"], level)
                assert [block["id"] for block, _ in new] == [block["id"] for block, _ in old]
                for (_, x), (_, y) in zip(old, new, strict=True):
                    np.testing.assert_array_equal(x, y)


def encoded(context):
    """Sizes and checksums of all chunks in the files."""
    return sorted((int(row["bytes"]), int(row["sum"])) for _, _, chunks in context.tables for row in chunks)


@pytest.mark.keep(1)
@pytest.mark.parametrize(("ranks", "parent"), pairs([2, 5], ["mean", "mean of mine * t"], strength=1))
def test_relations(tmp_path, ranks, parent):
    """Relations of values in trees are declared again, so that the same codecs give the same bytes."""
    needs_module("amr_codec")
    flags = "mine: {mesh: m, type: uint8}"
    declared = DECLARATIONS["octree"].replace(flags, flags + "\n  w: {mesh: m}")
    declared = declared.replace("t: {mesh: m, components: 2}", f"t: {{mesh: m, components: 2, parent: {parent}}}")
    declared = declared.replace("mean of mine", "mean of w")
    store = "outputs: [database: {directory: data, variables: [t], kind: post, codec: auto}]\n"
    (tmp_path / "first.yaml").write_text(f"placement: inline\noutput: {{directory: {tmp_path}}}\n{declared}{store}")
    command = [MPIRUN, "-n", "3", PROGRAM, str(tmp_path / "first.yaml"), "kind=octree", "steps=3", "changing=1"]
    run_beside(tmp_path, command, 3)
    found, _ = replay(tmp_path / "again", tmp_path / "data", ranks, "inline", tasks=store)
    expected = {"father": parent.replace("mine", "w")}  # the relation's name in databases
    for a, b in zip(contexts(tmp_path / "data"), contexts(found), strict=True):
        old, new = a.variables[a.variable("t")], b.variables[b.variable("t")]
        assert (old["relations"], old["codec"], new["codec"]) == (expected, ["tree"], ["tree"])
        # `w` is not in the first database, so the second one does not name it.
        assert new.get("relations") == (None if "mine" in parent else expected)
    # Only the first context is compared, because a server that is behind later packs less.
    assert encoded(contexts(tmp_path / "data")[0]) == encoded(contexts(found)[0])


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--coarsen", "3"], "has 20 cells along axis x, expected a multiple of 3 for --coarsen 3"),
        (["--blocks", "stored", "--refine", "2"], "leave out --coarsen and --refine"),
        (["--set", "n"], "--set: found 'n', expected NAME=VALUE"),
    ],
)
def test_mistakes(tmp_path, fields, options, sentence):
    _, text = replay(tmp_path, fields, 2, "inline", *options, status=1)
    assert sentence in text
    assert text.count("sidestream replay:") == 1


def test_no_database(tmp_path):
    _, text = replay(tmp_path, tmp_path, 2, "inline", status=1)
    assert "is no database" in text


@pytest.mark.test_all
def test_damage(tmp_path, fields):
    """A database that is damaged ends the replay on all ranks, with a sentence."""
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in fields.iterdir():
        data = bytearray(file.read_bytes())
        if file.name.startswith("segment"):
            data[9000] ^= 1
        (damaged / file.name).write_bytes(data)
    _, text = replay(tmp_path / "again", damaged, 3, "inline", status=1)
    assert "checksum" in text


@pytest.mark.test_all
@pytest.mark.parametrize(
    ("ranks", "placement"),
    few(
        [
            (6, "{mode: nodes, buffer: 32 MiB, servers: 2}"),
            (3, "inline"),
            (7, "cores"),
            (6, "{mode: cores, buffer: 32 MiB, per_node: 2}"),
        ]
    ),
)
def test_a_failing_output_stops_all_clients(tmp_path, fields, ranks, placement):
    """With `on_error: stop` clients are told of a failure when they ask next, at different times. All leave
    together."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "blocked").touch()
    tasks = "analyses: [statistics: {variable: t, file: 'blocked/{cycle}.csv'}]\non_error: stop\n"
    _, text = replay(tmp_path, fields, ranks, placement, "--iterations", "100000", tasks=tasks, status=1)
    assert text.count("sidestream replay:") == 1
    assert "blocked" in text
