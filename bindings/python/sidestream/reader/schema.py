"""The description of a context of a database: meshes and variables, checked as C++ checks them."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_CHUNK, MOST_COMPONENTS, MOST_CODECS, MOST_FACES, MOST_DEPTH = 1 << 26, 1 << 20, 16, 4, 16
MOST_PRODUCT = 1 << 60  # limit for products: they fit into 64 bits
LISTS = ("unstructured", "points", "octree")
KINDS = ("uniform", "rectilinear", "curvilinear", "none", *LISTS)
ROLES = (
    *("coordinates", "connectivity", "offsets", "types", "faces", "face_offsets", "point_ids", "cell_ids"),
    *("point_ghosts", "cell_ghosts", "refined", "owned"),
)
TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")

_NO_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[^\[\]{}"]+', re.DOTALL)


@dataclass(frozen=True)
class Variable:
    """A variable, as the context describes it."""

    number: int
    name: str
    mesh: str
    dtype: np.dtype[Any]  # as it is stored, little-endian
    centering: int  # bit a: nodes along axis a
    components: int
    order: str
    role: str
    unit: str
    label: str
    group: str
    codecs: list[list[str]]  # lists of codecs; each chunk went through one of them, or none
    relations: dict[str, Any]  # relations to others, for values on trees
    attributes: dict[str, Any]  # what the configuration or the program says besides

    @property
    def nodes(self) -> NDArray[np.int64]:
        """1 along axes on which its points are nodes."""
        return np.array([self.centering >> axis & 1 for axis in range(3)])

    def beyond(self, mesh: dict[str, Any]) -> NDArray[np.int64]:
        """1 along axes on which the whole mesh has one more of its points than cells."""
        lacks = np.array(mesh["periodic"]) & ("points" in mesh)
        return np.where(lacks, 0, self.nodes)


@dataclass(frozen=True)
class Schema:
    provenance: str
    chunk: int  # bytes of values
    meshes: dict[str, dict[str, Any]]
    variables: dict[str, Variable]


def _need(sound: bool, what: str) -> None:
    if not sound:
        raise ValueError(what)


def _text(value: Any) -> str:
    _need(isinstance(value, str), "no text where one is expected")
    return value


def _whole(value: Any, least: int, most: int, what: str) -> int:
    _need(isinstance(value, int) and not isinstance(value, bool) and least <= value <= most, what)
    return value


def _three(values: Any, least: int, most: int, what: str) -> list[int]:
    _need(isinstance(values, list) and len(values) == 3, what)
    return [_whole(value, least, most, what) for value in values]


def _reals(values: Any, what: str) -> list[float]:
    _need(isinstance(values, list), what)
    _need(all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in values), what)
    return [math.nan if value is None else float(value) for value in values]


def _depth(text: str) -> None:
    """Checks the nesting, before any recursive function sees the text."""
    depth = 0
    for bracket in _NO_BRACKETS.sub("", text):
        depth += 1 if bracket in "[{" else -1
        _need(depth <= MOST_DEPTH + 1, "lists in lists without end")


def _finite(number: str) -> float:
    """Also refuses the words NaN and Infinity, which Python's JSON has."""
    value = float(number)
    _need(math.isfinite(value), f"the number '{number}'")
    return value


def _geometry(about: dict[str, Any], lo: list[int], hi: list[int]) -> None:
    kind = about["type"]
    _need(kind in KINDS, f"a mesh of the unknown type '{kind}'")
    if kind in ("uniform", "octree"):
        for key in ("origin", "spacing"):
            _need(len(_reals(about[key], f"a wrong '{key}'")) == 3, f"a wrong '{key}'")
    if kind == "octree":
        roots = _three(about["roots"], 1, MOST_PRODUCT, "root cells that are none, or too many")
        _need(math.prod(roots) <= MOST_PRODUCT, "too many root cells")
    if kind == "rectilinear":
        nodes = about["nodes"]
        _need(isinstance(nodes, list) and len(nodes) == 3, "'nodes' that are not three lists")
        for axis in range(3):
            count = len(_reals(nodes[axis], "'nodes' that are no numbers"))
            _need(count == hi[axis] - lo[axis] + 1, "'nodes' that are not one more than cells")


def _mesh(about: dict[str, Any]) -> dict[str, Any]:
    _text(about["name"])
    _whole(about["dimensions"], 1, 3, "a mesh of no or many dimensions")
    _need(isinstance(about["cells"], list) and len(about["cells"]) == 2, "'cells' that are not two lists")
    lo, hi = (_three(end, -MOST_PRODUCT, MOST_PRODUCT, "'cells' that make no sense") for end in about["cells"])
    _need(all(a <= b for a, b in zip(lo, hi, strict=True)), "'cells' that make no sense")
    _geometry(about, lo, hi)
    periodic = about["periodic"]
    _need(isinstance(periodic, list) and len(periodic) == 3, "'periodic' that is not a list")
    _need(all(isinstance(truth, bool) for truth in periodic), "'periodic' that is no truth")
    owned = "points" in about
    _need(not owned or about["points"] == "owned", "'points' that are not owned")
    _need(not owned or about["type"] in ("uniform", "rectilinear"), "'points' that are not owned")
    _need(isinstance(about["refinement"], list), "'refinement' that is not a list")
    finest = [max(abs(a), abs(b), 1) for a, b in zip(lo, hi, strict=True)]
    for level in about["refinement"]:
        ratio = _three(level, 1, MOST_PRODUCT, "ratios of levels that make no sense")
        finest = [n * r for n, r in zip(finest, ratio, strict=True)]
        _need(max(finest) <= MOST_PRODUCT, "levels that are too fine")
    for key in ("units", "labels"):
        texts = about.get(key, ["", "", ""])
        _need(isinstance(texts, list) and len(texts) == 3, f"'{key}' that are not three texts")
        for text in texts:
            _text(text)
    _attributes(about)
    if "level_times" in about:
        _reals(about["level_times"], "wrong times of levels")
    _need(isinstance(about["arrays"], dict), "'arrays' that are no object")
    return about


def _attributes(about: dict[str, Any]) -> dict[str, Any]:
    found = about.get("attributes", {})
    _need(isinstance(found, dict), "'attributes' that are no object")
    for value in found.values():
        _need(type(value) in (str, int, float), "an attribute that is neither text nor number")
    return found


def _codecs(names: Any) -> list[str]:
    _need(isinstance(names, list) and len(names) <= MOST_CODECS, "too many codecs")
    return [_text(name) for name in names]


def _relations(about: Any) -> dict[str, Any]:
    _need(isinstance(about, dict), "relations that are no object")
    # The format keeps the first name of `parent`.
    about = {"parent" if key == "father" else key: value for key, value in about.items()}
    for key in ("parent", "equals", "face", "opposite"):
        _text(about.get(key, ""))
    faces = about.get("divergence_free", [])
    _need(isinstance(faces, list) and len(faces) <= MOST_FACES, "too many faces without divergence")
    return {**about, "divergence_free": [_text(name) for name in faces]} if faces else dict(about)


def _variable(number: int, about: dict[str, Any], meshes: dict[str, Any]) -> Variable:
    texts = {name: _text(about[name]) for name in ("name", "mesh", "order", "role", "unit", "label", "group")}
    of = texts["name"]
    _need(texts["mesh"] in meshes, f"a variable on no mesh, '{of}'")
    _need(about["type"] in TYPES, f"an unknown type of '{of}'")
    _need(texts["role"] in ("none", *ROLES), f"an unknown role of '{of}', '{texts['role'][:40]}'")
    _need(texts["order"] in ("row", "column"), f"an unknown order of '{of}'")
    centering = _whole(about["centering"], 0, 7, f"a wrong centring of '{of}'")
    components = _whole(about["components"], 1, MOST_COMPONENTS, f"a wrong number of components of '{of}'")
    dtype = np.dtype(about["type"]).newbyteorder("<")
    flags = texts["role"] in ("refined", "owned")
    _need(not flags or (dtype.itemsize == 1 and components == 1), "flags of a tree that are no bytes")
    others = about.get("others", [])
    _need(isinstance(others, list), "lists of codecs that are none")
    return Variable(
        number=number,
        dtype=dtype,
        centering=centering,
        components=components,
        codecs=[_codecs(about["codec"]), *(_codecs(names) for names in others)],
        relations=_relations(about.get("relations", {})),
        attributes=_attributes(about),
        **texts,
    )


def _connect(mesh: dict[str, Any], variables: dict[str, Variable]) -> None:
    for role, name in mesh["arrays"].items():
        variable = variables.get(_text(name))
        _need(variable is not None, f"no variable for '{role[:40]}'")
        sound = role in ROLES and variable.role == role and variable.mesh == mesh["name"]
        _need(sound, f"a variable that is not what its mesh says, '{variable.name}'")


def read_schema(text: str) -> Schema:
    """Parses the text. Raises ValueError, KeyError or TypeError where C++ refuses it too."""
    _depth(text)
    about = json.loads(text, parse_float=_finite, parse_constant=_finite)
    chunk = _whole(about["chunk"], 8, MOST_CHUNK, "a wrong size of chunks")
    _need(chunk % 8 == 0, "a wrong size of chunks")
    _need(isinstance(about.get("pruned", False), bool), "'pruned' that is no truth")
    meshes = {_text(mesh["name"]): _mesh(mesh) for mesh in about["meshes"]}
    found = [_variable(n, variable, meshes) for n, variable in enumerate(about["variables"])]
    variables = {variable.name: variable for variable in found}
    _need(len(meshes) == len(about["meshes"]) and len(variables) == len(found), "two things of one name")
    for mesh in meshes.values():
        _connect(mesh, variables)
    return Schema(_text(about["provenance"]), chunk, meshes, variables)
