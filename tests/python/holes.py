"""Publishes data that are missing in some places and iterations, on three ranks that are also servers: see
test_reader.py.

Usage: mpirun -n 3 holes.py DIRECTORY
"""

import sys

import numpy as np
import sidestream
from mpi4py import MPI

TEXT = """\
placement: inline
output: {directory: DIRECTORY}
variables:
  density: {mesh: stretched, type: float32, unit: kg/m3, label: density of the gas, group: gas}
  state: {mesh: stretched, type: int16, centering: node}
  late: {mesh: flat, type: float64}
  line: {mesh: line, type: float64, components: 2}
  masses: {mesh: cloud}
  places: {mesh: cloud, components: 2, centering: node}
analyses:
  - histogram: {name: each, variable: density, bins: 3, file: "each-{cycle:02}.csv"}
  - histogram: {name: pieces, variable: density, bins: 3, pieces: true, file: "pieces-{cycle:02}.csv"}
  - isosurface: {variable: density, values: [3], file: "surface-{cycle:02}.vtp"}
outputs:
  - hdf5: {variables: [density, state, late, line], file: "fields/{cycle:02}/all.h5"}
  - hdf5: {name: particles, variables: [masses, places], file: "particles-{cycle:02}.h5"}
"""


def main():
    session = sidestream.open_session(MPI.COMM_WORLD, text=TEXT.replace("DIRECTORY", sys.argv[1]))
    rank = session.comm.Get_rank()
    session.add_rectilinear_mesh("stretched", [[0, 1, 3, 4], [1, 2, 4], [0, 1, 2, 4, 8, 16, 32]])
    session.add_uniform_mesh("flat", [3, 6], spacing=[2, 2])
    session.add_uniform_mesh("line", [9])
    session.add_points_mesh("cloud", 2, "places")
    session.set_block("stretched", rank, [0, 0, 2 * rank], [3, 2, 2 * rank + 2])
    session.set_block("flat", rank, [0, 2 * rank], [3, 2 * rank + 2])
    session.set_block("line", rank, [3 * rank], [3 * rank + 3])
    session.set_block_list("cloud", rank, rank, rank)
    session.start()
    for step in range(2):
        session.set_block_list("cloud", rank, rank + step, rank + step)
        shape = (2, 2, 3)
        if (rank, step) != (1, 1):
            session.publish("density", rank, np.full(shape, 10 * step + rank, np.float32))
        session.publish("state", rank, np.full([n + 1 for n in shape], rank, np.int16))
        if step == 1:
            session.publish("late", rank, np.arange(6.0).reshape(2, 3) + 6 * rank)
        session.publish("line", rank, np.arange(6.0).reshape(3, 2) + 6 * rank + 100 * step)
        session.publish("masses", rank, np.arange(rank + step, dtype=float) + 10 * rank)
        session.publish("places", rank, np.zeros((rank + step, 2)))
        session.end_iteration(5 * step, 0.5 * step)
    session.close()


main()
