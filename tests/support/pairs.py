"""Parameters of tests of which `make test` takes a few and `make test-all` takes all.

A case with the mark `test_all` runs only where the environment says SIDESTREAM_TEST_ALL=1, as `make test-all` does;
tests/conftest.py says at the end of a run how many were left out.

    @pytest.mark.parametrize(("mode", "groups", "when_full"), pairs(MODES, [1, 2], ["wait", "skip"]))

has the cases of the full product in both, under the same names.
"""

import itertools

import pytest


def pairs(*lists, strength=2, where=None):
    """All combinations of one value from each list; those outside a small set that has every pair of values are marked.

    A value that is a tuple stands for several parameters. `where` says which combinations there are, if not all.
    With `strength` 1 the set has every value, with 3 every triple.
    """
    values = [list(one) for one in lists]
    there = [
        chosen
        for chosen in itertools.product(*(range(len(one)) for one in values))
        if where is None or where(*_flat(one[n] for one, n in zip(values, chosen, strict=True)))
    ]
    kept = _covering(there, strength)
    return [
        pytest.param(
            *_flat(one[n] for one, n in zip(values, chosen, strict=True)),
            marks=[] if chosen in kept else [pytest.mark.test_all],
        )
        for chosen in there
    ]


def few(values, keep=1):
    """All values, of which all but the first `keep` are marked."""
    return [
        pytest.param(*_flat([value]), marks=[] if n < keep else [pytest.mark.test_all])
        for n, value in enumerate(values)
    ]


def _flat(values):
    return [part for value in values for part in (value if isinstance(value, tuple) else (value,))]


def _parts(chosen, strength):
    """The combinations of `strength` values, with their places, that a choice has."""
    return set(itertools.combinations(enumerate(chosen), min(strength, len(chosen))))


def _covering(there, strength):
    """A set of choices that has all parts of all of them: the one with most new parts first, and so on. The earlier one
    of two that are as good, so that the set is always the same."""
    parts = {chosen: _parts(chosen, strength) for chosen in there}
    missing = set().union(*parts.values())
    kept = set()
    while missing:
        best = max(there, key=lambda chosen: len(parts[chosen] & missing))
        kept.add(best)
        missing -= parts[best]
    return kept
