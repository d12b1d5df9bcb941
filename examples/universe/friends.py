"""Halos of particles by friends of friends (Davis et al. 1985), with only SciPy's trees and graphs: after a run, or in
situ as an analysis in Python."""

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


def halos(whole, box, length, least=10):
    """The analysis: a table of groups with at least `least` particles, the largest first."""
    places = np.asarray(whole["place"], np.float64)
    places[places >= box] = 0  # rounded up to the other end
    members = np.sort(np.bincount(groups(places, box, length)))[::-1]
    members = members[members >= least]
    return {"halo": np.arange(len(members)), "members": members}
