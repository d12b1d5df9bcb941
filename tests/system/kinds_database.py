"""A database has the same values as the output `hdf5`, both block by block and as a whole."""

import sys
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader


def _variables(file):
    return {} if "variables" not in file else {name: file[f"variables/{name}"] for name in file["variables"]}


def _stored_blocks(results, step):
    """Values in the servers' files by variable, level and id."""
    blocks = {}
    for path in results.glob(f"fields-{step:06}-*.h5"):
        with h5py.File(path) as file:
            for name, group in _variables(file).items():
                for block in group.values():
                    key = (name, int(block.attrs["level"]), int(block.attrs["id"]), *block.attrs["lo"])
                    blocks[key] = block[...]
    return blocks


def _pieces(context, step):
    pieces = {}
    for variable in context.variables:
        for level in range(3):
            for block, values in context.pieces(variable["name"], level):
                lo = context.points(context.variable(variable["name"]), block)[0]
                pieces[(variable["name"], level, int(block["id"]), *lo)] = values
    return pieces


def check_database(results, steps):
    contexts = database_reader.contexts(results / "data")
    assert [context.entry["iteration"] for context in contexts.values()] == list(range(steps))
    for slot, context in contexts.items():
        step = context.entry["iteration"]
        paths = results / f"fields-{step:06}.h5", results / "data" / f"context-{slot:06}.h5"
        with h5py.File(paths[0]) as file, h5py.File(paths[1]) as shown:
            # The file of a context does not show lists without an entry.
            expected = {name: values for name, values in _variables(file).items() if values.size}
            found = _variables(shown)
            assert set(found) == set(expected)
            for name, values in expected.items():
                np.testing.assert_array_equal(found[name][...], values[...], name)
                assert found[name].attrs["missing"] == values.attrs["missing"]
        blocks, pieces = _stored_blocks(results, step), _pieces(context, step)
        assert set(pieces) == set(blocks)
        for key, values in blocks.items():
            np.testing.assert_array_equal(pieces[key].transpose(2, 1, 0, 3).reshape(values.shape), values, str(key))
