"""Analyses that the tests run in every placement: two functions and a class."""

import numpy as np
from helper import add_layers, mean_of  # a module beside this one


def blocks(block, scale=1, label="none"):
    x, y, z = block.coordinates("t")
    return {
        "low": block["t"].min() * scale,
        "points": block.counted("p").sum(),
        "third": block["p"][..., 1].sum(dtype=np.int64),
        "ends": [x[0] + y[-1], z[0] + z[-1]],
        "label": label,
    }


def picture(whole, draw=True):
    """Results are a slice, its numbers, and a table."""
    t = whole["t"]
    arrays = {"middle": t[len(t) // 2], "nodes": whole["p"], "known": whole.known("t")}
    table = {"seconds": whole.time, "hits": int((t > 0).sum()), "z": whole.coordinates("t")[2][-1]}
    if not draw:
        return None, arrays, table
    from matplotlib.figure import Figure

    figure = Figure((1.2, 0.9), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(arrays["middle"], origin="lower")
    return figure, arrays, table


def names(whole):
    """The variables that the entry asked for."""
    return {"names": "+".join(whole)}


class Steepest:
    """For each layer across z: the greatest difference between neighbours, and the number of points with a given
    part of it."""

    passes = 2

    def __init__(self, fraction=0.75):
        self.fraction = fraction

    def local(self, data):
        layers = data.variables["t"].points[1][2]
        steepest, count, values = np.zeros(layers), np.zeros(layers, np.int64), {}
        for block in data:
            wide = block.with_halo("t")
            slope = np.zeros(block["t"].shape)
            for axis in range(3):
                for side in (slice(0, -1), slice(1, None)):
                    part = [slice(1, -1)] * 3
                    part[axis] = slice(None)
                    slope = np.fmax(
                        slope, np.abs(np.diff(wide[tuple(part)], axis=axis)[(slice(None),) * axis + (side,)])
                    )
            inner = range(block.lo[2], block.hi[2])
            for k, plane in zip(inner, slope, strict=True):
                steepest[k] = max(steepest[k], plane.max())
                if data.feedback is not None:
                    count[k] += (plane >= self.fraction * data.feedback[k]).sum()
            add_layers(values, block)
        return steepest, count, values

    def combine(self, partials, servers):
        length = servers.maximum(max((len(p[0]) for p in partials), default=0))
        steepest, count = np.zeros(length), np.zeros(length, np.int64)
        for part, more, _ in partials:
            steepest, count = np.maximum(steepest, part), count + more
        steepest, count = servers.maximum(steepest), servers.sum(count)
        if servers.pass_number == 0:
            return steepest
        assert servers.broadcast(servers.rank) == 0
        layers = [[] for _ in range(length)]
        for values in servers.all_gather([p[2] for p in partials]):
            for one in values:
                for k, found in one.items():
                    layers[k] += found
        servers.barrier()
        means = [mean_of(values) for values in layers]
        return {"layer": np.arange(length), "steepest": steepest, "points": count, "mean": means}


class WithMpi:
    """Counts values through mpi4py."""

    def local(self, data):
        return sum(int(block.counted("t").sum()) for block in data)

    def combine(self, partials, servers):
        from mpi4py import MPI

        comm = servers.mpi
        assert (comm.rank, comm.size) == (servers.rank, servers.size)
        return {"points": comm.allreduce(sum(partials), MPI.SUM), "first": comm.allreduce(servers.rank, MPI.MIN)}
