"""Names of the axes of a variable's array, and positions of its points."""

from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

SPACE = "xyz"
LISTS = ("unstructured", "points", "octree")
# Roles of arrays with entries neither per cell nor per point.
OF_OWN_LENGTH = ("connectivity", "faces")
# The axes on which points of each centring lie at nodes.
NODES = {
    "cell": "",
    "node": "xyz",
    "x-face": "x",
    "y-face": "y",
    "z-face": "z",
    "x-edge": "yz",
    "y-edge": "xz",
    "z-edge": "xy",
}


def is_list(mesh: h5py.Group) -> bool:
    """True if the blocks of a mesh are lists."""
    return mesh.attrs["kind"] in LISTS


def _axis_name(axis: str, centering: str, prefix: str) -> str:
    return prefix + (f"{axis}_node" if axis in NODES[centering] else axis)


def dimensions_of(name: str, variable: h5py.Dataset, mesh: h5py.Group, prefix: str) -> tuple[str, ...]:
    """The names of the dataset's dimensions: x, y, z for cells, x_node, ... for nodes, preceded by `prefix`."""
    centering, components = variable.attrs["centering"], variable.attrs["components"]
    more = ("component",) if components == 3 else (f"component_{components}",) if components > 1 else ()
    if is_list(mesh):
        own = any(variable.name.strip("/") == str(mesh.attrs.get(role, "")).strip("/") for role in OF_OWN_LENGTH)
        what = f"{name}_entry" if own else f"{prefix}{'cell' if centering == 'cell' else 'point'}"
        return (what, *more)
    axes = SPACE[: int(mesh.attrs["dimensions"])]
    if variable.attrs["order"] == "column":
        axes = axes[::-1]
    return (*(_axis_name(axis, centering, prefix) for axis in axes), *more)


def _positions(mesh: h5py.Group, axis: int, lo: int, hi: int, node: bool) -> NDArray[np.float64]:
    """Positions of the points with the indices lo to hi along an axis."""
    if mesh.attrs["kind"] == "rectilinear":
        first = int(mesh.attrs["lo"][axis])
        nodes = mesh[SPACE[axis]][lo - first : hi - first + (0 if node else 1)]
        return nodes if node else (nodes[1:] + nodes[:-1]) / 2
    index = np.arange(lo, hi) + (0 if node else 0.5)
    return mesh.attrs["origin"][axis] + mesh.attrs["spacing"][axis] * index


def coordinates_of(variable: h5py.Dataset, mesh: h5py.Group, prefix: str) -> dict[str, NDArray[np.float64]]:
    """Positions along each axis of a uniform or rectilinear mesh, by the name of the dimension."""
    if mesh.attrs["kind"] not in ("uniform", "rectilinear"):
        return {}
    centering, found = variable.attrs["centering"], {}
    for n in range(int(mesh.attrs["dimensions"])):
        lo, hi = int(variable.attrs["lo"][n]), int(variable.attrs["hi"][n])
        name = _axis_name(SPACE[n], centering, prefix)
        found[name] = _positions(mesh, n, lo, hi, SPACE[n] in NODES[centering])
    return found


def about_axes(mesh: h5py.Group) -> list[dict[str, str]]:
    """The attributes `units` and `long_name` of positions along each axis, where the mesh says them."""
    found: list[dict[str, str]] = [{} for _ in range(int(mesh.attrs["dimensions"]))]
    for name, key in (("units", "units"), ("labels", "long_name")):
        for about, text in zip(found, mesh.attrs.get(name, ()), strict=False):
            about |= {key: str(text)} if str(text) else {}
    return found


def blocks_of(variable: h5py.Dataset) -> NDArray[np.int64]:
    """The block of each value of a list."""
    return np.repeat(variable.attrs["blocks"].astype(np.int64), variable.attrs["lengths"].astype(np.int64))


def cuts_of(variable: h5py.Dataset) -> tuple[tuple[int, ...], ...]:
    """The sizes of chunks along each dimension that blocks do not cross; the whole size if blocks are not in rows."""
    whole = tuple((n,) for n in variable.shape)
    if not variable.is_virtual:
        return whole
    bounds = [source.vspace.get_select_bounds() for source in variable.virtual_sources()]
    edges = []
    for axis, size in enumerate(variable.shape):
        starts = {int(lo[axis]) for lo, _ in bounds} | {int(hi[axis]) + 1 for _, hi in bounds} | {0, size}
        edges.append(sorted(starts))
    if np.prod([len(edge) - 1 for edge in edges]) > 2 * max(1, len(bounds)):
        return whole
    return tuple(tuple(int(n) for n in np.diff(edge)) or (0,) for edge in edges)


def texts(attributes: Any, *names: str) -> dict[str, str]:
    """The attributes that exist and are not empty."""
    return {name: str(attributes[name]) for name in names if name in attributes and str(attributes[name])}
