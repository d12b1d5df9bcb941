import math


def add_layers(layers, block):
    """Adds the values of t in each layer across z."""
    for k, plane in zip(range(block.lo[2], block.hi[2]), block["t"], strict=True):
        layers.setdefault(k, []).extend(plane.ravel().tolist())


def mean_of(values):
    """Mean of the finite values, the same in whatever order they are."""
    finite = [v for v in values if math.isfinite(v)]
    return math.fsum(v / len(finite) for v in finite)
