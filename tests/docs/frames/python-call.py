import numpy as np
import sidestream
from mpi4py import MPI

TEXT = """
placement: inline
output: {directory: call-results, existing: replace}
meshes: {box: {type: uniform, size: [4, 3, 2]}, cloud: {type: points, coordinates: places}}
variables:
  temperature: {mesh: box}
  pressure: {mesh: box, order: row}
  velocity: {mesh: box, components: 3}
  momentum: {mesh: box, components: 2}
  places: {mesh: cloud, components: 3}
  mass: {mesh: cloud, type: float32}
"""
with sidestream.open_session(MPI.COMM_SELF, text=TEXT) as session:
    session.set_block("box", 0, [0, 0, 0], [4, 3, 2])
    session.set_block_list("cloud", 0, 5, 5)
    t, p, u, w = np.zeros((2, 3, 4)), np.zeros((4, 3, 2)), np.zeros((2, 3, 4, 3)), np.zeros((2, 2, 3, 4))
    particles = np.zeros(5, [("place", "f8", 3), ("mass", "f4"), ("more", "f4")])
    exec(r"""
@BLOCK@
""")
