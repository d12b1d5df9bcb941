"""The front of the heat: cells warmer than a threshold by layer, and a picture of the middle."""

import numpy as np


class Front:
    """A row for each layer across z: its number, how many of its cells are warm, and the warmest."""

    def __init__(self, threshold):
        self.threshold = threshold

    def local(self, data):
        layers = data.variables["temperature"].points[1][2]
        warm, highest = np.zeros(layers, np.int64), np.full(layers, -np.inf)
        for block in data:
            t = block["temperature"]  # t[k, j, i], where the server has it: nothing is copied
            mine = slice(block.lo[2], block.hi[2])
            warm[mine] += (t > self.threshold).sum(axis=(1, 2))
            highest[mine] = np.maximum(highest[mine], t.max(axis=(1, 2)))
        return warm, highest

    def combine(self, partials, servers):
        warm = servers.sum(sum(warm for warm, _ in partials))
        highest = servers.maximum(np.max([highest for _, highest in partials], axis=0))
        return {"layer": np.arange(len(warm)), "warm": warm, "highest": highest}


def picture(whole):
    from matplotlib.figure import Figure

    t = whole["temperature"]
    x, y, _ = whole.coordinates("temperature")
    figure = Figure((4, 3), layout="constrained")
    axes = figure.add_subplot(title=f"step {whole.cycle}")
    figure.colorbar(axes.pcolormesh(x, y, t[len(t) // 2], vmin=300, vmax=400), label="K")
    return figure
