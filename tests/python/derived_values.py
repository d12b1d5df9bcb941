"""Random numbers on meshes of every structured kind, and the coordinates of these meshes."""

import numpy as np

STEPS = 2
# Cells of each mesh; the last axis is cut.
MESHES = {
    "uneven": (7, 6, 9),
    "ring": (8, 10),
    "around": (9,),
    "polar": (12, 9),
    "bent": (5, 4, 7),
    "single": (1,),
    "levels": (8, 6),
}
NAMES = {
    "a": ("uneven", "float64", 1, 0),
    "n": ("uneven", "float64", 3, 1),
    "whole": ("uneven", "int32", 1, 0),
    "short": ("uneven", "float32", 1, 0),
    "rare": ("uneven", "float64", 1, 0),
    "holed": ("uneven", "float64", 1, 0),
    "flow": ("ring", "float64", 2, 0),
    "wind": ("ring", "float64", 3, 1),
    "b": ("around", "float64", 1, 0),
    "p": ("polar", "float64", 1, 0),
    "q": ("bent", "float64", 1, 1),
    "s": ("single", "float64", 1, 0),
    "coarse": ("levels", "float64", 1, 0),
}
PATCH = ((4, 2), (12, 10))  # cells of level 1


def shape_of(name):
    mesh, _, components, nodes = NAMES[name]
    shape = tuple(n + nodes for n in reversed(MESHES[mesh]))
    return shape if components == 1 else (*shape, components)


def values(name, step):
    """Values on the whole mesh, x last."""
    seed = sum(map(ord, name)) + 1000 * step
    numbers = 10 * np.random.default_rng(seed).random(shape_of(name)) - 5
    if name == "a" and step:
        numbers[2, 3, 4] = np.nan
    return numbers.astype(NAMES[name][1])


def fine(step):
    shape = tuple(hi - lo for lo, hi in zip(*PATCH, strict=True))[::-1]
    return np.random.default_rng(7 + step).random(shape)


def places(mesh):
    """Coordinates of the nodes, x last, with a component for each axis."""
    axes = np.meshgrid(*[np.arange(n + 1.0) for n in reversed(MESHES[mesh])], indexing="ij")
    if mesh == "polar":
        angle, radius = axes[0] * 0.5, 1 + 0.1 * axes[1] + 0.01 * axes[1] ** 2
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)
    z, y, x = axes
    return np.stack([x + 0.2 * y + 0.01 * z * z, 0.8 * y - 0.1 * x + 0.02 * x * y, 1.1 * z + 0.05 * x * y], -1)
