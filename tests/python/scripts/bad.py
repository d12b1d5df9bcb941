"""Analyses that fail, each in another way."""

import sys
import time

import numpy as np

KEPT = []


def raises(block, at=1):
    if block.data.index == at and block.id == 0:
        return {"a": 1 / 0}
    return {"a": 1}


def leaves(block):
    sys.exit("gone")


def keeps(block):
    KEPT.append(block["t"][0, 1:3])
    return {"a": 1}


def keeps_in_cycle(block):
    """The array is no longer in use once Python has collected the cycle."""
    cycle = [block["t"]]
    cycle.append(cycle)
    return {"a": block["t"].max()}


def writes(block):
    block["t"][...] = 0


def ragged(block):
    return {"a": [1, 2], "b": [1, 2, 3]}


def odd(block):
    return 3


def differs(block):
    return {f"a{block.id}": 1}


def wide(block):
    return {"a": block.with_halo("t", 1).sum()}


def missing(block):
    return {"a": block["temperature"].sum()}


def columns(whole):
    return {"a": np.zeros((2, 2))}


def two(whole):
    return {"a": 1}, {"b": 2}


class Base:
    def local(self, data):
        return None

    def combine(self, partials, servers):
        return None


class InCombine(Base):
    """One server raises while the others wait for it."""

    def combine(self, partials, servers):
        if servers.rank == servers.size - 1:
            raise ValueError("planned in combine")
        servers.barrier()
        return {"a": 1}


class Unequal(Base):
    def combine(self, partials, servers):
        if servers.rank:
            servers.barrier()
        return {"a": 1}


class Uneven(Base):
    def combine(self, partials, servers):
        return {"a": servers.sum(np.zeros(1 + servers.rank, int))}


class Reals(Base):
    def combine(self, partials, servers):
        return {"a": servers.sum(0.5)}


class Unpicklable(Base):
    def local(self, data):
        return lambda: 0


class Kept(Base):
    """The block outlives the call, but gives no values then."""

    def local(self, data):
        self.blocks = data.blocks()
        return None

    def combine(self, partials, servers):
        if self.blocks:
            self.blocks[0]["t"]


class Fails:
    def __init__(self):
        raise RuntimeError("planned in making")

    def local(self, data): ...

    def combine(self, partials, servers): ...


class Half:
    def local(self, data): ...


class NoPasses(Base):
    passes = 0


def slow(block):
    time.sleep(0.01)


not_callable = 3
