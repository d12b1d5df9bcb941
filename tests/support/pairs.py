"""Parameters of tests: `make test` takes a few combinations, and `make test-all` takes all.

A case with the mark `test_all` runs only if the environment has SIDESTREAM_TEST_ALL=1, as in `make test-all`. At the
end of a run tests/conftest.py tells how many were left out.

    @pytest.mark.parametrize(("mode", "groups", "when_full"), pairs(MODES, [1, 2], ["wait", "skip"]))

has all cases of the full product, with the same names in both.
"""

import itertools
import os
from collections import Counter

import pytest


def pairs(*lists, strength=2, where=None):
    """All combinations of one value from each list. Those outside a small set that has every pair of values are marked.

    A value that is a tuple stands for several parameters. `where` is true for combinations that exist, if not all do.
    With `strength` 1 the set has every value, with 3 every triple.
    """
    values = [list(one) for one in lists]
    there = [
        chosen
        for chosen in itertools.product(*(range(len(one)) for one in values))
        if where is None or where(*_values(values, chosen))
    ]
    kept = _covering(there, strength)
    return [_case(_values(values, chosen), chosen in kept) for chosen in there]


def few(*lists, keep=1, kept=()):
    """All combinations of one value from each list; those after the first `keep` are marked.

    With `kept`, all but these are: cases that tell most, each a tuple of its parameters.
    """
    values = [list(one) for one in lists]
    there = [_values(values, chosen) for chosen in itertools.product(*(range(len(one)) for one in values))]
    wanted = [list(one) if isinstance(one, tuple) else [one] for one in kept]
    for one in wanted:
        assert one in there, f"there is no combination {one} to keep"
    return [_case(case, case in wanted if kept else n < keep) for n, case in enumerate(there)]


def without(later, cases):
    """The cases of a loop in a test: in `make test` those that are not among `later`, which all exist."""
    cases = list(cases)
    for one in later:
        assert one in cases, f"there is no case {one} to leave to `make test-all`"
    return cases if os.environ.get("SIDESTREAM_TEST_ALL") == "1" else [one for one in cases if one not in later]


def _case(values, kept):
    return pytest.param(*values, marks=[] if kept else [pytest.mark.test_all])


def _values(lists, chosen):
    """The parameters that a choice stands for."""
    found = [one[n] for one, n in zip(lists, chosen, strict=True)]
    return [part for value in found for part in (value if isinstance(value, tuple) else (value,))]


def _parts(chosen, strength):
    """The combinations of `strength` values, with their places, that a choice has."""
    return set(itertools.combinations(enumerate(chosen), min(strength, len(chosen))))


def _covering(there, strength):
    """A set of choices that covers all parts of all choices. The choice with most new parts comes first, and so on.

    Among equally good choices it takes one whose values were taken least, so that each value comes about as often.
    Among these it takes one whose larger parts were taken least, so that short lists do not run in step. Then it takes
    the first, so that the set is always the same.
    """
    parts = {chosen: _parts(chosen, strength) for chosen in there}
    larger = {chosen: _parts(chosen, strength + 1) for chosen in there}
    missing = set().union(*parts.values())
    kept, taken = set(), Counter()

    def good(chosen):
        new = len(parts[chosen] & missing)
        return new, -sum(taken[one] for one in enumerate(chosen)), -sum(taken[part] for part in larger[chosen])

    while missing:
        best = max(there, key=good)
        kept.add(best)
        taken.update([*enumerate(best), *larger[best]])
        missing -= parts[best]
    return kept
