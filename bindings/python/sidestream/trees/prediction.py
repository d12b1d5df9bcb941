"""Predicts the values of groups of siblings: modules/amr_codec/stream-format.md.

All arithmetic is in float64, in exactly the order of the encoder.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from .relations import Face, Relations, Term

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]
SLOPE, MEAN, SHARED, DIVERGENCE, CLOSURE = range(5)  # sources of predictions
NONE, CENTRAL, LIMITED = range(3)  # kinds of slopes
AS_OTHERS, PLAIN, DECLARED = range(3)  # rules for the last sibling
TILE = 128
PAIR_TERMS, AXIS_TERMS = 7, 10  # first terms of corrections by pairs of axes, and by axes


@dataclass
class Around:
    """Values that are known when a chunk is decoded. Numbers count cells of the next coarser level; -1: none."""

    dimensions: int
    parent: Whole  # parent of each group
    beside: Whole  # the 2 * dimensions neighbours of each group's parent
    parents: NDArray  # values of the next coarser level
    cells: Callable[[int], NDArray]  # values of companions, by number
    above: Callable[[int], NDArray]  # the same in the next coarser level

    @property
    def children(self) -> int:
        return 1 << self.dimensions

    def groups_at(self, side: int) -> Whole:
        """Returns for each group the group in the chunk whose parent is the neighbour of its own at a side; -1:
        none."""
        group_of = np.full(int(self.parent.max(initial=0)) + 2, -1)
        group_of[self.parent] = np.arange(len(self.parent))
        beside = self.beside[:, side]
        known = (beside >= 0) & (beside < len(group_of))
        return np.where(known, group_of[np.where(known, beside, 0)], -1)


@dataclass
class Plan:
    slope: int
    last: int
    shared: bool
    divergence: bool
    closure: bool
    across: bool
    faces: bool
    factor: bool
    corrected: bool  # predictions by slopes are corrected
    weights: dict[tuple[int, int], float] = field(default_factory=dict)  # weights of corrections, by step and term

    @staticmethod
    def of(bits: int, relations: Relations) -> "Plan":
        plan = Plan(bits & 3, bits >> 2 & 3, *(bool(bits >> n & 1) for n in (*range(4, 10), 11)))
        face = relations.face
        sound = plan.slope <= LIMITED and plan.last <= DECLARED and bits >> 12 == 0 and not bits >> 10 & 1
        sound = sound and not (plan.corrected and (plan.faces or plan.closure))
        sound = sound and (plan.shared or plan.divergence or not plan.across)
        sound = sound and not (plan.last == DECLARED and (relations.mean is None or plan.faces))
        sound = sound and not ((plan.shared or plan.divergence) and not plan.faces)
        sound = sound and not (plan.faces and face is None)
        sound = sound and not (plan.shared and not (face and face.opposite >= 0))
        sound = sound and not (plan.divergence and not (face and face.others))
        if not sound or (plan.closure and not relations.closure):
            raise Error("a stream of a tree's values is predicted in an unknown way; it is damaged", Code.FILE)
        return plan

    def corrections(self, step: int, dimensions: int) -> list[int]:
        """Returns the terms of the corrections for the child of a step."""
        found = list(range(step))
        if self.slope != NONE:
            found += range(PAIR_TERMS, PAIR_TERMS + dimensions * (dimensions - 1) // 2)
            found += range(AXIS_TERMS, AXIS_TERMS + dimensions)
        return found

    @property
    def needs_beside(self) -> bool:
        return not self.closure and (self.slope != NONE or self.across)

    def companions(self, relations: Relations) -> int:
        """Returns a bit for each companion that the plan reads."""
        numbers: list[int] = []
        if self.closure:
            numbers = [n for term in relations.closure for n in (*term.times, *term.over)]
            return _bits(numbers)
        if self.last == DECLARED and relations.mean is not None:
            numbers += [relations.mean.weight, *(n for t in relations.mean.offset for n in (*t.times, *t.over))]
        if self.faces and relations.face is not None:
            numbers += [relations.face.opposite] if self.shared or self.divergence else []
            numbers += relations.face.others if self.divergence else []
        return _bits(numbers)


def _bits(numbers: list[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number if number >= 0 else 0
    return found


class Layout:
    """The order in which groups are decoded, and their division into tiles and waves."""

    def __init__(self, around: Around, relations: Relations, plan: Plan) -> None:
        self.relations, self.plan, self.children, count = relations, plan, around.children, len(around.parent)
        self.around, self.sequence, ends = around, np.arange(count), [count]
        face = relations.face
        if plan.divergence and plan.across and face is not None and face.opposite < 0:
            ends = self._in_waves(around.groups_at(2 * face.axis + (1 if face.high else 0)), not face.high)
            self.around = self._arranged(around)
        self.waves = [(first, past) for first, past in pairwise([0, *ends]) if first < past]
        self.tiles = [(a, min(a + TILE, past)) for first, past in self.waves for a in range(first, past, TILE)]
        self.members = self.children
        self.order = list(range(self.children))
        if plan.faces and face is not None:
            on_face = [bool(s >> face.axis & 1) == face.high for s in self.order]
            self.order = [s for s in self.order if on_face[s]] + [s for s in self.order if not on_face[s]]
            self.members = self.children // 2
        self.neighbour = None  # for each group the one across the variable's face
        if plan.across and face is not None:
            self.neighbour = self.around.groups_at(2 * face.axis + (1 if face.high else 0))

    def _in_waves(self, neighbour: Whole, upwards: bool) -> list[int]:
        wave = np.zeros(len(neighbour), np.int64)
        for group in range(len(neighbour)) if upwards else reversed(range(len(neighbour))):
            other = neighbour[group]
            if other >= 0 and (other < group if upwards else other > group):
                wave[group] = wave[other] + 1
        self.sequence = np.argsort(wave, kind="stable")
        return np.cumsum(np.bincount(wave)).tolist()

    def _arranged(self, around: Around) -> Around:
        def cells(number: int) -> NDArray:
            return around.cells(number).reshape(-1, around.children)[self.sequence].reshape(-1)

        parent, beside = around.parent[self.sequence], around.beside[self.sequence]
        return Around(around.dimensions, parent, beside, around.parents, cells, around.above)

    @property
    def face(self) -> Face:
        assert self.relations.face is not None
        return self.relations.face

    def sources(self) -> NDArray[np.uint8]:
        """Returns the source of each prediction; axes are steps and groups."""
        plan, groups = self.plan, len(self.sequence)
        found = np.full((self.children, groups), SLOPE, np.uint8)
        start_of = np.concatenate([np.full(b - a, a) for a, b in self.tiles] or [np.empty(0, np.int64)])
        for step, child in enumerate(self.order):
            if plan.closure:
                found[step] = CLOSURE
                continue
            if plan.last != AS_OTHERS and step + 1 == self.members:
                found[step] = MEAN
            if plan.divergence and (self.face.opposite >= 0 or step >= self.members):
                found[step] = DIVERGENCE
            elif plan.divergence and self.neighbour is not None:
                found[step][(self.neighbour >= 0) & (self.neighbour < start_of)] = DIVERGENCE
            if plan.shared and bool(child >> self.face.axis & 1) != self.face.high:
                found[step] = SHARED
            elif plan.shared and self.neighbour is not None:
                found[step][self.neighbour >= 0] = SHARED
        return found


class Prediction:
    """Predicts a wave of groups, child by child. `own`: values of all groups and children, final for earlier waves."""

    def __init__(self, layout: Layout, own: Doubles, first: int, past: int) -> None:
        self.layout, self.plan, self.relations = layout, layout.plan, layout.relations
        self.own, self.first, self.past, self.children = own, first, past, layout.children
        around, self.groups = layout.around, past - first
        self.used = around.dimensions
        self.numbers, self.beside = around.parent[first:past], around.beside[first:past]
        self.sloped, self.terms = dict[int, Doubles](), dict[int, Doubles]()
        self.factor = layout.relations.factor if self.plan.factor else 1.0
        if self.plan.closure:
            self.offset = self._terms(self.relations.closure, self._cells, self.groups * self.children)
            return
        self.parent = around.parents[self.numbers].astype(np.float64)
        if self.plan.factor:
            self.parent = self.parent * self.factor
        if self.plan.divergence:
            self.flow = self._flow(self._cells)
        self.change: Doubles | None = None
        if self.plan.slope != NONE:
            self._slopes()
        if self.plan.corrected and self.plan.slope != NONE:
            self._curvature()
        if self.plan.last != AS_OTHERS:
            self._begin_mean()

    def _cells(self, number: int) -> Doubles:
        values = self.layout.around.cells(number)
        return values[self.first * self.children : self.past * self.children].astype(np.float64)

    def _terms(self, terms: list[Term], read: Callable[[int], NDArray], count: int) -> Doubles:
        out = np.zeros(count)
        for term in terms:
            product = np.full(count, term.coefficient)
            for number in term.times:
                product = product * read(number)
            for number in term.over:
                product = product / read(number)
            out = out + product
        return out

    def _beside(self, side: int) -> Doubles:
        numbers = self.beside[:, side]
        return np.where(numbers < 0, 0.0, self.layout.around.parents[np.maximum(numbers, 0)].astype(np.float64))

    def _slopes(self) -> None:
        self.slopes, factor, change = list[Doubles](), self.factor, np.zeros(self.groups)
        for axis in range(self.used):
            low, high = self._beside(2 * axis), self._beside(2 * axis + 1)
            no_low, no_high = self.beside[:, 2 * axis] < 0, self.beside[:, 2 * axis + 1] < 0
            if self.plan.faces and self.layout.face.axis == axis:
                there, none = (low, no_low) if self.layout.face.high else (high, no_high)
                slope = np.where(none, 0.0, there * factor - self.parent)
                change = change + 0.5 * np.fabs(slope)
            else:
                down = np.where(no_low, 0.0, self.parent - low * factor)
                up = np.where(no_high, 0.0, high * factor - self.parent)
                change = change + (np.fabs(up - down) + 0.25 * np.fabs(down + up))
                if self.plan.slope == CENTRAL:
                    slope = np.where(no_low | no_high, 1.0, 0.5) * (down + up)
                else:
                    down, up = np.where(np.isnan(down), 0.0, down), np.where(np.isnan(up), 0.0, up)
                    flatter = np.where(np.fabs(down) < np.fabs(up), down, up)
                    slope = np.where(np.signbit(down) != np.signbit(up), 0.0, flatter)
            self.slopes.append(slope)
        self.change = np.where(np.isnan(change), 0.0, change)

    def _curvature(self) -> None:
        """Computes the changes of slopes between neighbouring parents. Only valid if all groups are predicted at
        once."""
        here = np.arange(self.groups)
        for axis in range(self.used):
            lower, upper = (self.layout.around.groups_at(2 * axis + side) for side in (0, 1))
            below, above = np.where(lower < 0, here, lower), np.where(upper < 0, here, upper)
            own = self.slopes[axis]
            self.terms[AXIS_TERMS + axis] = 0.125 * ((own[below] + own[above]) - 2 * own)
            for other in range(axis + 1, self.used):
                slope = self.slopes[other]
                self.terms[PAIR_TERMS + axis + other - 1] = 0.125 * (slope[above] - slope[below])

    def _begin_mean(self) -> None:
        members, mean = float(self.layout.members), self.relations.mean
        self.sum = np.zeros(self.groups)
        if self.plan.last != DECLARED or mean is None:
            self.goal = members * self.parent
            return
        count, above = self.groups * self.children, self.layout.around.above
        weight, self.weight = np.ones(self.groups), np.full(count, mean.scale)
        if mean.weight >= 0:
            weight = above(mean.weight)[self.numbers].astype(np.float64)
            self.weight = mean.scale * self._cells(mean.weight)
        offset = self._terms(mean.offset, lambda n: above(n)[self.numbers].astype(np.float64), self.groups)
        self.offset = self._terms(mean.offset, self._cells, count)
        self.goal = members * (mean.scale * weight * self.parent + offset)

    def _flow(self, read: Callable[[int], Doubles]) -> Doubles:
        flow, others = np.zeros(1), iter(self.layout.face.others)
        for axis in range(self.used):
            if axis != self.layout.face.axis:
                low, high = read(next(others)), read(next(others))
                lengths = self.layout.face.lengths or [1.0] * self.used
                flow = flow + lengths[self.layout.face.axis] / lengths[axis] * (high - low)
        return flow

    def predict(self, step: int) -> Doubles:
        """Predicts the children of a step. Steps ascend from 0; `known` must be called after each."""
        child, plan = self.layout.order[step], self.plan
        if plan.closure:
            found = self.offset[child :: self.children]
        elif plan.last != AS_OTHERS and step + 1 == self.layout.members:
            found = self.goal - self.sum
            if plan.last == DECLARED:
                found = (found - self.offset[child :: self.children]) / self.weight[child :: self.children]
        else:
            found = self.parent if plan.slope == NONE else self._by_slope(child)
            if plan.corrected:
                found = self._corrected(step, found)
        if plan.divergence and not plan.closure:
            found = self._by_divergence(step, found)
        if plan.shared and not plan.closure:
            found = self._by_shared(child, found)
        return np.where(np.isnan(found), 0.0, found)

    def _corrected(self, step: int, found: Doubles) -> Doubles:
        self.sloped[step] = found
        if step + 1 < self.children:
            for term in self.plan.corrections(step, self.used):
                if weight := self.plan.weights[step, term]:
                    found = found + weight * self.terms[term]
        return found

    def _by_slope(self, child: int) -> Doubles:
        distance = [0.25 if child >> axis & 1 else -0.25 for axis in range(self.used)]
        if self.plan.faces:
            on_face = bool(child >> self.layout.face.axis & 1) == self.layout.face.high
            distance[self.layout.face.axis] = 0.0 if on_face else 0.5
        sloped = distance[0] * self.slopes[0]
        for axis in range(1, self.used):
            sloped = sloped + distance[axis] * self.slopes[axis]
        return self.parent + sloped

    def _by_divergence(self, step: int, found: Doubles) -> Doubles:
        face, child = self.layout.face, self.layout.order[step]
        across = child ^ (1 << face.axis)
        if face.opposite >= 0:
            known, flow = self._cells(face.opposite)[child :: self.children], self.flow[child :: self.children]
        elif step >= self.layout.members:
            known, flow = self.own[self.first : self.past, across], self.flow[across :: self.children]
        elif self.layout.neighbour is not None:
            return self._by_neighbour(across, found)
        else:
            return found
        return known - flow if face.high == (face.opposite >= 0) else known + flow

    def _by_neighbour(self, across: int, found: Doubles) -> Doubles:
        """Predicts by the divergence of the neighbouring cell in another group, whose opposite face is known."""
        assert self.layout.neighbour is not None
        neighbour = self.layout.neighbour[self.first : self.past]
        there = (neighbour >= 0) & (neighbour < self.first)
        cells = np.where(there, neighbour, 0) * self.children + across
        flow = self._flow(lambda number: self.layout.around.cells(number)[cells].astype(np.float64))
        known = self.own.reshape(-1)[cells]
        return np.where(there, known + flow if self.layout.face.high else known - flow, found)

    def _by_shared(self, child: int, found: Doubles) -> Doubles:
        face = self.layout.face
        across = child ^ (1 << face.axis)
        if bool(child >> face.axis & 1) != face.high:
            return self._cells(face.opposite)[across :: self.children]
        if self.layout.neighbour is None:
            return found
        neighbour = self.layout.neighbour[self.first : self.past]
        opposite = self.layout.around.cells(face.opposite).astype(np.float64)
        return np.where(neighbour < 0, found, opposite[np.maximum(neighbour, 0) * self.children + across])

    def known(self, step: int, values: Doubles) -> None:
        child = self.layout.order[step]
        self.own[self.first : self.past, child] = values
        if self.plan.corrected and step + 2 < self.children:
            self.terms[step] = values - self.sloped[step]
        if self.plan.last != AS_OTHERS and not self.plan.closure and step + 1 < self.layout.members:
            if self.plan.last == DECLARED:
                values = self.weight[child :: self.children] * values + self.offset[child :: self.children]
            self.sum = self.sum + values
