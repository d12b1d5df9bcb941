"""Values stored by zfp and read by the package are within the bound. Damage gives an error or other numbers."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest
import sidestream
from sidestream.codecs import decoding as codecs
from sidestream.codecs import zfp

TOOL = os.environ["SIDESTREAM_TOOL"]
BOUND = 1e-3
CELLS = (70, 50, 61)  # x, y, z: 1.7 MB of float64, more than a chunk
WRITE = """
import sys
import numpy as np
import sidestream
from mpi4py import MPI
results, x, y, z = sys.argv[1], *map(int, sys.argv[2:])
text = f'''
placement: inline
output: {{directory: '{results}'}}
meshes: {{grid: {{type: uniform, size: [{x}, {y}, {z}]}}}}
variables:
  single: {{mesh: grid, type: float32}}
  double: {{mesh: grid}}
  vector: {{mesh: grid, components: 3, order: row}}
outputs:
  - database: {{directory: data, kind: post, fsync: false, precision: {{vector: 'zfp:1e-3'}},
              codecs: {{single: 'zfp:1e-3', double: 'zfp:1e-3'}}}}
'''
with sidestream.open_session(MPI.COMM_WORLD, text=text) as s:
    s.set_block('grid', 0, [0, 0, 0], [x, y, z])
    s.start()
    k, j, i = np.indices((z, y, x))
    wave = np.sin(0.1 * i) * np.cos(0.07 * j) + 0.01 * k
    s.publish('single', 0, wave.astype('f4'))
    s.publish('double', 0, wave)
    s.publish('vector', 0, np.ascontiguousarray(np.stack([wave, 5 + wave, 3 * wave], -1).transpose(2, 1, 0, 3)))
    s.end_iteration(0, 0.0)
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    reference = subprocess.run([TOOL, "reference"], capture_output=True, text=True, timeout=60, check=True)
    if "`zfp" not in reference.stdout:
        pytest.skip("NOT TESTED: this build has no zfp")
    results = tmp_path_factory.mktemp("zfp") / "results"
    command = [sys.executable, "-c", WRITE, str(results), *map(str, CELLS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results / "data"


@pytest.mark.parametrize(("name", "dtype"), [("single", "f4"), ("double", "f8")])
def test_values_are_within_the_bound(database, name, dtype):
    k, j, i = np.indices(CELLS[::-1])
    expected = (np.sin(0.1 * i) * np.cos(0.07 * j) + 0.01 * k).astype(dtype)
    found = np.asarray(sidestream.open(database, into="numpy", iteration=0)[name][...])
    assert found.dtype == np.dtype(dtype)
    assert 0 < np.abs(found.astype("f8") - expected.astype("f8")).max() <= BOUND


def test_components_are_packed_by_themselves(database):
    k, j, i = np.indices(CELLS[::-1])
    wave = np.sin(0.1 * i) * np.cos(0.07 * j) + 0.01 * k
    expected = np.stack([wave, 5 + wave, 3 * wave], -1).transpose(2, 1, 0, 3)
    found = np.asarray(sidestream.open(database, into="numpy", iteration=0)["vector"][...])
    assert 0 < np.abs(found - expected).max() <= BOUND


def first_chunk(database):
    """The first chunk of `double`: its bytes as they are stored."""
    kept = []
    original = zfp.unpacked

    def spy(data, *rest):
        kept.append((data, *rest))
        return original(data, *rest)

    codecs.zfp.unpacked = spy
    try:
        sidestream.open(database, into="numpy", iteration=0)["double"][...]
    finally:
        codecs.zfp.unpacked = original
    return kept[0]


def test_damage(database):
    data, argument, dtype, size = first_chunk(database)
    assert argument == "1e-3" and len(zfp.unpacked(data, argument, dtype, size)) == size
    for wrong in ("1e-2", "1e-300"):  # the header has another tolerance
        with pytest.raises(sidestream.Error, match="cannot be decoded with zfp:"):
            codecs.decoded(data, [f"zfp:{wrong}"], dtype, size)
    with pytest.raises(sidestream.Error, match="cannot be decoded with zfp:"):
        codecs.decoded(data, ["zfp:1e-3"], dtype, size - dtype.itemsize)
    with pytest.raises(sidestream.Error, match="cannot be decoded with zfp:"):
        codecs.decoded(data, ["zfp:1e-3"], np.dtype("<i4"), size)
    random = np.random.default_rng(7)
    for _ in range(200):
        bad = bytearray(data[: random.integers(0, len(data) + 1)])
        if bad:
            bad[random.integers(0, min(len(bad), 24))] ^= 1 << random.integers(0, 8)
        with contextlib.suppress(sidestream.Error):
            assert len(codecs.decoded(bytes(bad), ["zfp:1e-3"], dtype, size)) == size


def test_without_the_library(database, monkeypatch):
    zfp._library.cache_clear()
    monkeypatch.setattr(zfp.ctypes.util, "find_library", lambda name: None)
    with pytest.raises(sidestream.Error, match="whose library is not here; install it"):
        sidestream.open(database, into="numpy", iteration=0)["double"][...]
    monkeypatch.undo()
    zfp._library.cache_clear()
