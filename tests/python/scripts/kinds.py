"""Blocks of every kind of mesh."""

import numpy as np


def line(block):
    assert block.mesh.kind == "uniform" and block["a"].shape == (4,)
    return {"x": block.coordinates("a")[0], "a": block["a"]}


def plane(block):
    """Columns for a variable in row order, b[i, j]."""
    x, y = block.coordinates("b")
    mask = block.counted("b")
    i, j = np.nonzero(mask)
    wide = block.with_halo("b")
    assert wide.shape == tuple(n + 2 for n in mask.shape) and np.isnan(wide[0]).all()
    np.testing.assert_array_equal(wide[1:-1, 1:-1], block["b"])
    return {"x": x[i], "y": y[j], "b": block["b"][mask], "below": wide[1 + i, j]}


def curved(block):
    """The coordinates of the nodes are an array beside the values."""
    places = block.arrays["coordinates"]
    assert list(block) == ["c"] and "xy" not in block and places.shape == (5, 4, 2)
    middle = 0.25 * (places[1:, 1:] + places[:-1, 1:] + places[1:, :-1] + places[:-1, :-1])
    return {"x": middle[..., 0].ravel(), "y": middle[..., 1].ravel(), "c": block["c"].ravel()}


def cloud(block):
    return {"x": block.arrays["coordinates"][:, 0], "mass": block["mass"]}


def whole_cloud(whole):
    return {"x": whole.arrays["coordinates"][:, 0], "mass": whole["mass"]}


def needs_hdf5(block):
    import h5py

    return {"version": h5py.version.hdf5_version}
