"""Decodes, in Python, streams of trees' values that C++ made (tests/modules/amr_codec/test_tree_golden.cpp).

Each is decoded by the compiled decoder and by the slow one.
"""

import struct
from pathlib import Path

import numpy as np
import pytest
from programs import needs_module
from sidestream.errors import Error
from sidestream.reader.database import chosen
from sidestream.reader.stored import Context
from sidestream.trees.compiled import compiled_decoder
from sidestream.trees.flags import tree_starts
from sidestream.trees.links import links_of
from sidestream.trees.prediction import Around
from sidestream.trees.relations import Face, Mean, Relations, Term, parse_products
from sidestream.trees.values import decode_values, needs

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "modules/amr_codec/golden/tree-values.streams"
COMPANIONS = [(name, 0) for name in "abcd"]


def wave(n):
    phase = (n * 37) % 512 - 256
    return (65536 - phase * phase) / 65536 + ((n * 2654435761) % 1024) / 1048576


class Level:
    """A level of 64 cells below one of 8."""

    def __init__(self, seed):
        self.cells = np.array([wave(seed + 5 * n) for n in range(64)])
        self.parents = np.array([sum(self.cells[8 * f : 8 * f + 8].tolist()) / 8 for f in range(8)])


OTHERS = [Level(100 * n + 7) for n in range(4)]


def relations(**given):
    return Relations(companions=COMPANIONS, **given)


def cases():
    """The cases: method, type, relations."""
    for method in (0, 2, 3, 4, 5, 6):
        for dtype in ("<f8", "<f4"):
            yield method, np.dtype(dtype), Relations()
    yield 4, np.dtype("<f8"), Relations()
    yield 5, np.dtype("<f8"), relations(mean=Mean(2.5, 1, [Term(0.5, [0, 1, 1], [2])]))
    yield 5, np.dtype("<f8"), relations(closure=[Term(2, [0], []), Term(0.5, [1, 2], [3])])
    for opposite in (-1, 0):
        for high in (False, True):
            yield 5, np.dtype("<f8"), relations(face=Face(2, high, opposite, [0, 1, 2, 3], [1, 1, 0.5]))
    yield 5, np.dtype("<f8"), Relations(factor=0.125)


def expected(of):
    own, a = Level(3), [other.cells for other in OTHERS]
    flow = (a[1] - a[0]) / 2 + (a[3] - a[2]) / 2
    if of.closure:
        own.cells = 2 * a[0] + 0.5 * a[1] * a[2] / a[3]
    if of.face is not None and of.face.opposite >= 0:
        own.cells = a[0] - flow if of.face.high else a[0] + flow
    return own


def streams():
    data, found = GOLDEN.read_bytes(), []
    while data:
        (size,) = struct.unpack_from("<I", data)
        found.append(data[4 : 4 + size])
        data = data[4 + size :]
    return found


def around(own, dtype):
    refined = np.concatenate([np.ones(9, np.uint8), np.zeros(64, np.uint8)])
    links = links_of(refined, tree_starts(refined, 3, 1), 3, [1, 1, 1])[1]
    cells, above = lambda number: OTHERS[number].cells, lambda number: OTHERS[number].parents
    return Around(3, links.parent, links.beside, own.parents.astype(dtype), cells, above)


@pytest.fixture(params=["compiled", "slow"])
def decode(request, tmp_path, monkeypatch):
    """Each decoder in turn, which readers then use, too."""
    if request.param == "slow":
        monkeypatch.setenv("SIDESTREAM_MODULES", str(tmp_path))
        assert compiled_decoder() is None
        return decode_values
    needs_module("amr_codec")
    found = compiled_decoder()
    assert found is not None
    return found


def test_every_kept_stream(decode):
    kept, all_cases = streams(), list(cases())
    assert len(kept) == len(all_cases)
    for number, (stream, (method, dtype, of)) in enumerate(zip(kept, all_cases, strict=True)):
        own = expected(of)
        assert needs(stream).method == method
        found = decode(stream, dtype, 64, around(own, dtype), of)
        assert found.tobytes() == own.cells.astype(dtype).tobytes(), number


@pytest.mark.keep(1)
def test_damage_is_noticed(decode):
    """Damage is noticed, or does no harm, because some bits have no meaning."""
    rng, noticed, count = np.random.default_rng(1), 0, 0
    for stream, (_, dtype, of) in zip(streams(), cases(), strict=True):
        own = expected(of)
        for _ in range(20):
            wrong = bytearray(stream)
            wrong[rng.integers(len(wrong))] ^= int(rng.integers(1, 256))
            for data in (bytes(wrong), stream[: rng.integers(len(stream))]):
                count += 1
                try:
                    found = decode(data, dtype, 64, around(own, dtype), of)
                    assert found.tobytes() == own.cells.astype(dtype).tobytes()
                except Error:
                    noticed += 1
    assert noticed > 0.95 * count


def test_products():
    (first, second) = parse_products("0.5 * density*velocity.x^2 - 'a b'[2] / 4 / mass")
    assert (first.coefficient, first.times, first.over) == (
        0.5,
        [("density", None), ("velocity", 0), ("velocity", 0)],
        [],
    )
    assert (second.coefficient, second.times, second.over) == (-0.25, [("a b", 2)], [("mass", None)])
    for wrong in ("", "2 *", "density +", "(a)", "a b"):
        with pytest.raises(Error, match="makes no sense"):
            parse_products(wrong)


@pytest.mark.parametrize(("name", "like"), [("zstd", "plain"), ("packed", "plain"), ("pruned", "pruned-plain")])
def test_kept_databases(name, like, decode):
    """Reads two contexts with two blocks; one variable was once not delivered."""
    folder, compared = TESTS / "storage/golden/database-trees", 0
    for iteration in (0, 1):
        context, plain = (Context(folder / d, chosen(folder / d, iteration, None)[-1]) for d in (name, like))
        for variable, other in zip(context.variables.values(), plain.variables.values(), strict=True):
            for a, b in zip(context.pieces(variable), plain.pieces(other), strict=True):
                assert context.read(variable, a).tobytes() == plain.read(other, b).tobytes()
                compared += 1
    assert compared == 31


def test_a_file_that_is_no_module_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "sidestream_amr_codec.so").write_text("no library")
    monkeypatch.setenv("SIDESTREAM_MODULES", str(tmp_path))
    assert compiled_decoder() is None
