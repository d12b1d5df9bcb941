"""Rectilinear meshes with refinement levels: nothing says where nodes of finer levels lie. What needs no positions is
delivered, and what needs them is refused before the run."""

import csv

import numpy as np
import pytest
import sidestream
from mpi4py import MPI

TEXT = """\
placement: inline
output: {directory: DIRECTORY}
meshes:
  grid:
    type: rectilinear
    refinement: [2]
    coordinates: {x: [0, 1, 2, 4, 8], y: [0, 1, 2, 3, 4], z: [0, 1, 2, 3, 4]}
variables:
  u: {mesh: grid}
derived:
  w: {expression: "vector(u, u, u)"}
"""
NEEDS_NO_POSITIONS = [
    "analyses: [statistics: {variable: u}]",
    "analyses: [statistics: {variable: u, levels: 1}]",
    "analyses: [histogram: {variable: u, bins: 4}]",
    "analyses: [histogram2d: {x: {variable: u, bins: 3}, y: {variable: w, component: 0, bins: 3}}]",
    "outputs: [hdf5: {variables: [u, w]}]",
    "outputs: [database: {kind: post, variables: [u]}]",
]
NEEDS_POSITIONS = [
    "analyses: [threshold: {variable: u, minimum: 0}]",
    "analyses: [clip: {variable: u, centre: [1, 1, 1], radius: 3}]",
    "analyses: [slice: {variable: u, axis: z, position: 1.3}]",
    "analyses: [isosurface: {variable: u, values: 3}]",
    "analyses: [streamlines: {variable: w, point: {at: [1, 1, 1]}, step: 0.1, length: 1}]",
    "analyses: [resample: {variables: [u], size: [4, 4, 4]}]",
    "analyses: [probe: {variables: [u], point: {name: p, at: [1, 1, 1]}}]",
    "analyses: [projection: {variable: u, axis: z}]",
    "analyses: [statistics: {variable: u, box: [0, 0, 0, 2, 2, 2]}]",
    "analyses: [statistics: {variable: gradient(u), component: 0}]",
    "analyses: [statistics: {variable: u + x}]",
    "analyses: [render: {threshold: {variable: u, minimum: 0}}]",
    "analyses: [render: {clip: {variable: u, centre: [1, 1, 1], radius: 3}}]",
    "analyses: [render: {slice: {variable: u, axis: z, position: 1.3}}]",
    "analyses: [render: {volume: {variable: u, opacity: [0, 0.5]}}]",
    "analyses: [render: {patches: {mesh: grid}}]",
    "outputs: [vtk: {variables: [u]}]",
]


def run(folder, text):
    """Publishes 8 x 4 x 4 cells of two levels with the values 0 to 127."""
    configuration = TEXT.replace("DIRECTORY", str(folder)) + text + "\n"
    with sidestream.open_session(MPI.COMM_SELF, text=configuration) as session:
        session.set_block("grid", 0, [0, 0, 0], [4, 4, 4])
        session.set_block("grid", 1, [2, 2, 2], [6, 6, 6], level=1)
        session.start()
        session.publish("u", 0, np.arange(64.0).reshape(4, 4, 4))
        session.publish("u", 1, np.arange(64.0, 128).reshape(4, 4, 4))
        session.end_iteration(0, 0.0)


@pytest.mark.parametrize("text", NEEDS_NO_POSITIONS)
def test_delivered_without_positions(tmp_path, text):
    run(tmp_path / "results", text)
    with (tmp_path / "results" / "iterations.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["outcome"], row["reason"]) for row in rows] == [("delivered", "")], rows


@pytest.mark.parametrize("text", NEEDS_POSITIONS)
def test_refused_where_positions_are_needed(tmp_path, text):
    with pytest.raises(sidestream.Error, match=r"'grid'.*rectilinear.*refinement levels") as raised:
        run(tmp_path / "results", text)
    assert raised.value.code == sidestream.Code.CONFIGURATION
