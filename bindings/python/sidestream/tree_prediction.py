"""What values of sibling groups are expected to be: docs/database-trees.md. All arithmetic is in float64, in the order
in which it is written, as those had it who made the streams."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import Code, Error
from .tree_relations import Relations, Term

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]
SLOPE, MEAN, SHARED, DIVERGENCE, CLOSURE = range(5)  # what a value was predicted from
NONE, CENTRAL, LIMITED = range(3)  # slopes
AS_OTHERS, PLAIN, DECLARED = range(3)  # the last of the siblings


@dataclass
class Around:
    """What is known beside the values of a chunk. Numbers count cells of the level above, -1: none."""

    dimensions: int
    father: Whole  # of each group
    beside: Whole  # of each group, 2 * dimensions
    fathers: NDArray  # values of the level above
    cells: Callable[[int], NDArray]  # of companions, by number
    above: Callable[[int], NDArray]  # likewise in the level above

    @property
    def sons(self) -> int:
        return 1 << self.dimensions


@dataclass
class Plan:
    slope: int
    last: int
    shared: bool
    divergence: bool
    closure: bool
    across: bool

    @staticmethod
    def of(byte: int, relations: Relations) -> "Plan":
        bits = [bool(byte >> n & 1) for n in (4, 5, 6, 7)]
        plan = Plan(byte & 3, byte >> 2 & 3, *bits)
        face = relations.face
        sound = plan.slope <= LIMITED and plan.last <= DECLARED and (plan.shared or not plan.across)
        sound = sound and not (plan.last == DECLARED and not (relations.mean and not face))
        sound = sound and not (plan.shared and not (face and face.opposite >= 0))
        sound = sound and not (plan.divergence and not (face and face.others))
        if not sound or (plan.closure and not relations.closure):
            raise Error("a stream of a tree's values is predicted in an unknown way; it is damaged", Code.FILE)
        return plan


class Prediction:
    """Of all groups of a chunk, a son after the other. In `sources` stands what each step's values come from, a column
    for each group."""

    def __init__(self, around: Around, relations: Relations, plan: Plan) -> None:
        self.around, self.relations, self.plan = around, relations, plan
        self.groups, self.sons, self.used = len(around.father), around.sons, around.dimensions
        self.values: list[Doubles] = [np.empty(0)] * self.sons
        self._order()
        self.sources = self._sources()
        self.father = around.fathers[around.father].astype(np.float64)
        if relations.factor != 1:
            self.father = self.father * relations.factor
        if plan.closure:
            self.offset = self._terms(relations.closure, around.cells, self.groups * self.sons)
            return
        if plan.divergence:
            self._flow()
        if plan.slope != NONE:
            self._slopes()
        if plan.last != AS_OTHERS:
            self._begin_mean()

    def _order(self) -> None:
        face, sons = self.relations.face, range(self.sons)
        offsets = np.array([[0.25 if s >> a & 1 else -0.25 for a in range(self.used)] for s in sons])
        if face is None:
            self.order, self.members = list(sons), self.sons
        else:
            on_face = [bool(s >> face.axis & 1) == face.high for s in sons]
            self.order = [s for s in sons if on_face[s]] + [s for s in sons if not on_face[s]]
            self.members = self.sons // 2
            offsets[:, face.axis] = [0 if on else 0.5 for on in on_face]
        self.offsets = offsets

    def _across(self) -> Whole:
        """Of each group that whose father is beside its own, at the shared face; -1: none in the chunk."""
        face = self.relations.face
        assert face is not None
        beside = self.around.beside[:, 2 * face.axis + (1 if face.high else 0)]
        group_of = np.full(int(self.around.father.max()) + 2, -1)
        group_of[self.around.father] = np.arange(self.groups)
        return np.where((beside >= 0) & (beside < len(group_of)), group_of[np.clip(beside, 0, len(group_of) - 1)], -1)

    def _sources(self) -> NDArray[np.uint8]:
        plan, face = self.plan, self.relations.face
        found = np.full((self.sons, self.groups), SLOPE, np.uint8)
        across = self._across() if plan.across else None
        for step, son in enumerate(self.order):
            if plan.closure:
                found[step] = CLOSURE
                continue
            if plan.last != AS_OTHERS and step + 1 == self.members:
                found[step] = MEAN
            if plan.divergence and face is not None and (face.opposite >= 0 or step >= self.members):
                found[step] = DIVERGENCE
            if plan.shared and face is not None:
                if bool(son >> face.axis & 1) != face.high:
                    found[step] = SHARED
                elif across is not None:
                    found[step][across >= 0] = SHARED
        self.neighbour = across
        return found

    def _terms(self, terms: list[Term], read: Callable[[int], NDArray], count: int) -> Doubles:
        out = np.zeros(count)
        for term in terms:
            product = np.full(count, term.coefficient)
            for number in term.times:
                product = product * read(number).astype(np.float64)
            for number in term.over:
                product = product / read(number).astype(np.float64)
            out = out + product
        return out

    def _beside(self, face: int) -> Doubles:
        numbers = self.around.beside[:, face]
        return np.where(numbers < 0, 0.0, self.around.fathers[np.maximum(numbers, 0)].astype(np.float64))

    def _slopes(self) -> None:
        face, factor, self.slopes = self.relations.face, self.relations.factor, list[Doubles]()
        for axis in range(self.used):
            low, high = self._beside(2 * axis), self._beside(2 * axis + 1)
            no_low, no_high = self.around.beside[:, 2 * axis] < 0, self.around.beside[:, 2 * axis + 1] < 0
            if face is not None and face.axis == axis:
                there, none = (low, no_low) if face.high else (high, no_high)
                self.slopes.append(np.where(none, 0.0, there * factor - self.father))
                continue
            down = np.where(no_low, 0.0, self.father - low * factor)
            up = np.where(no_high, 0.0, high * factor - self.father)
            if self.plan.slope == CENTRAL:
                slope = np.where(~no_low & ~no_high, 0.5 * (down + up), down + up)
            else:
                slope = np.where(down * up > 0, np.where(np.fabs(down) < np.fabs(up), down, up), 0.0)
            self.slopes.append(slope)

    @property
    def _declared(self) -> bool:
        return self.plan.last == DECLARED and self.relations.mean is not None and self.relations.face is None

    def _begin_mean(self) -> None:
        members = float(self.members)
        self.sum = np.zeros(self.groups)
        mean = self.relations.mean
        if not self._declared or mean is None:
            self.goal = members * self.father
            return
        count, father = self.groups * self.sons, self.around.father
        weight, self.weight = np.ones(self.groups), np.full(count, mean.scale)
        if mean.weight >= 0:
            weight = self.around.above(mean.weight)[father].astype(np.float64)
            self.weight = mean.scale * self.around.cells(mean.weight).astype(np.float64)
        offset = self._terms(mean.offset, lambda number: self.around.above(number)[father], self.groups)
        self.offset = self._terms(mean.offset, self.around.cells, count)
        self.goal = members * (mean.scale * weight * self.father + offset)

    def _flow(self) -> None:
        face = self.relations.face
        assert face is not None
        self.flow, others = np.zeros(self.groups * self.sons), iter(face.others)
        for axis in range(self.used):
            if axis != face.axis:
                low, high = (self.around.cells(next(others)).astype(np.float64) for _ in range(2))
                self.flow = self.flow + 1.0 * (high - low)

    def predict(self, step: int) -> Doubles:
        """Steps are taken from 0 on, and after each `known` is called."""
        son, plan = self.order[step], self.plan
        if plan.closure:
            found = self.offset[son :: self.sons]
        elif plan.last != AS_OTHERS and step + 1 == self.members:
            found = self.goal - self.sum
            if self._declared:
                found = (found - self.offset[son :: self.sons]) / self.weight[son :: self.sons]
        elif plan.slope == NONE:
            found = self.father
        else:
            sloped = self.offsets[son][0] * self.slopes[0]
            for axis in range(1, self.used):
                sloped = sloped + self.offsets[son][axis] * self.slopes[axis]
            found = self.father + sloped
        if plan.divergence and not plan.closure:
            found = self._by_divergence(step, found)
        if plan.shared and not plan.closure:
            found = self._by_shared(son, found)
        return np.where(np.isnan(found), 0.0, found)

    def _by_divergence(self, step: int, found: Doubles) -> Doubles:
        face, son = self.relations.face, self.order[step]
        assert face is not None
        across = son ^ (1 << face.axis)
        if face.opposite >= 0:
            known = self.around.cells(face.opposite)[son :: self.sons].astype(np.float64)
            flow = self.flow[son :: self.sons]
        elif step >= self.members:
            known, flow = self.values[across], self.flow[across :: self.sons]
        else:
            return found
        return known - flow if face.high == (face.opposite >= 0) else known + flow

    def _by_shared(self, son: int, found: Doubles) -> Doubles:
        face = self.relations.face
        assert face is not None
        across, opposite = son ^ (1 << face.axis), self.around.cells(face.opposite).astype(np.float64)
        if bool(son >> face.axis & 1) != face.high:
            return opposite[across :: self.sons]
        if self.neighbour is None:
            return found
        there = opposite[np.maximum(self.neighbour, 0) * self.sons + across]
        return np.where(self.neighbour < 0, found, there)

    def known(self, step: int, values: Doubles) -> None:
        son = self.order[step]
        self.values[son] = values
        if self.plan.last != AS_OTHERS and not self.plan.closure and step + 1 < self.members:
            if self._declared:
                values = self.weight[son :: self.sons] * values + self.offset[son :: self.sons]
            self.sum = self.sum + values
