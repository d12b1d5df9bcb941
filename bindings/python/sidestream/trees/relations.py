"""Relations between values of trees in a database; docs/mesh-kinds.md describes them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import Code, Error

Companion = tuple[str, int]  # the name of a variable and one of its components

_NUMBER = re.compile(r" *((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_FACTOR = re.compile(r" *(?:'([^']+)'|([A-Za-z0-9_]+))(?:\.([xyz])|\[(\d+)\])?(?: *\^ *(\d))?")
_SIGN = re.compile(r" *([-+*/])")


@dataclass
class Product:
    """A product of variables: coefficient * times / over."""

    coefficient: float
    times: list[tuple[str, int | None]] = field(default_factory=list)
    over: list[tuple[str, int | None]] = field(default_factory=list)


@dataclass
class Term:
    """A product of companions, by their numbers."""

    coefficient: float
    times: list[int]
    over: list[int]


@dataclass
class Mean:
    """The relation of a mean: a parent's scale * weight * value + offset is the mean over its children."""

    scale: float = 1.0
    weight: int = -1
    offset: list[Term] = field(default_factory=list)


@dataclass
class Face:
    axis: int
    high: bool
    opposite: int = -1
    others: list[int] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)  # lengths of cells along each axis; empty: cells are cubes


@dataclass
class Relations:
    """The relations of one component of a variable."""

    factor: float = 1.0
    mean: Mean | None = None
    face: Face | None = None
    closure: list[Term] = field(default_factory=list)
    companions: list[Companion] = field(default_factory=list)


def parse_products(text: str) -> list[Product]:
    """Parses a sum of products. Throws Error(FILE) if the text is none."""
    found, at = [], 0
    sign = _SIGN.match(text)
    negative = sign is not None and sign[1] == "-"
    if sign is not None and sign[1] in "+-":
        at = sign.end()
    product, divides = Product(-1.0 if negative else 1.0), False
    while True:
        number, factor = _NUMBER.match(text, at), _FACTOR.match(text, at)
        if number is not None:
            value, at = float(number[1]), number.end()
            product.coefficient = product.coefficient / value if divides else product.coefficient * value
        elif factor is not None:
            component = "xyz".index(factor[3]) if factor[3] else int(factor[4]) if factor[4] else None
            into = product.over if divides else product.times
            into += [(factor[1] or factor[2], component)] * int(factor[5] or 1)
            at = factor.end()
        else:
            raise Error(f"the relation '{text}' makes no sense; the file is damaged", Code.FILE)
        sign = _SIGN.match(text, at)
        if sign is None:
            if text[at:].strip():
                raise Error(f"the relation '{text}' makes no sense; the file is damaged", Code.FILE)
            return [*found, product]
        at = sign.end()
        divides = sign[1] == "/"
        if sign[1] in "+-":
            found.append(product)
            product = Product(-1.0 if sign[1] == "-" else 1.0)


class _Declaring:
    def __init__(self, name: str, component: int, components_of: Callable[[str], int | None]) -> None:
        self.name, self.component, self.components_of = name, component, components_of
        self.made = Relations()

    def number(self, name: str, component: int | None = None) -> int:
        own = 0 if self.components_of(name) == 1 else self.component
        key = (name, own if component is None else component)
        if key not in self.made.companions:
            self.made.companions.append(key)
        return self.made.companions.index(key)

    def there(self, products: list[Product]) -> bool:
        names = {name for p in products for name, _ in (*p.times, *p.over)} - {self.name}
        return all(self.components_of(name) is not None for name in names)

    def term(self, product: Product) -> Term:
        times = [self.number(*factor) for factor in product.times]
        return Term(product.coefficient, times, [self.number(*factor) for factor in product.over])

    def parent(self, text: str, dimensions: int) -> None:
        if text == "sum":
            self.made.factor = 2.0**-dimensions
        front = "mean of "
        if text not in ("sum", "mean") and not text.startswith(front):
            raise Error(f"the relation '{text}' makes no sense; the file is damaged", Code.FILE)
        products = parse_products(text[len(front) :]) if text.startswith(front) else []
        if not self.there(products):
            return
        mean = Mean()
        for product in products:
            if self.name not in [name for name, _ in product.times]:
                mean.offset.append(self.term(product))
                continue
            mean.scale = product.coefficient
            for name, component in product.times:
                if name != self.name:
                    mean.weight = self.number(name, component)
        self.made.mean = mean

    def face(self, about: dict[str, Any]) -> None:
        side, axis = str(about["face"]).split("-")
        face = Face("xyz".index(axis), side == "high")
        opposite, others = about.get("opposite", ""), about.get("divergence_free", [])
        if opposite and self.components_of(opposite) is not None:
            face.opposite = self.number(opposite)
        leads = not opposite or face.opposite >= 0  # without a declared one the divergence leads from cell to cell
        if leads and all(self.components_of(name) is not None for name in others):
            face.others = [self.number(name) for name in others]
        self.made.face = face


def relations_of(
    about: dict[str, Any], name: str, component: int, dimensions: int, components_of: Callable[[str], int | None]
) -> Relations:
    """Reads the relations of a component. `components_of` returns the number of components of a variable, or None if
    its values are not available on the block."""
    declaring = _Declaring(name, component, components_of)
    try:
        if about.get("parent"):
            declaring.parent(about["parent"], dimensions)
        if about.get("equals"):
            products = parse_products(about["equals"])
            if declaring.there(products):
                declaring.made.closure = [declaring.term(product) for product in products]
        if about.get("face"):
            declaring.face(about)
    except (ValueError, ZeroDivisionError) as problem:
        raise Error(f"the relations of '{name}' make no sense ({problem}); the file is damaged", Code.FILE) from problem
    return declaring.made
