"""Halos of particles by friends of friends (Davis et al. 1985), with only SciPy's trees and graphs."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

# A record in the output of `universe --dump`.
PARTICLE = np.dtype([("place", "<f8", 3), ("momentum", "<f8", 3), ("id", "<i8")])


def read_places(dump, cells, box):
    """Positions of all particles in Mpc/h, in [0, box)."""
    places = np.fromfile(dump, PARTICLE)["place"] * (box / cells)
    # Positions rounded to the upper end belong to the lower one.
    places[places >= box] = 0
    return places


def groups(places, box, length):
    """The number of the group of each particle: those nearer than `length` in a periodic box share one."""
    pairs = cKDTree(places, boxsize=box).query_pairs(length, output_type="ndarray")
    links = coo_matrix((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), shape=2 * (len(places),))
    return connected_components(links, directed=False)[1]
