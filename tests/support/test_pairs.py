"""`pairs`, `few` and `without`: the cases of `make test` have every pair, and the others are marked, not removed."""

import itertools
import re

import pytest
from pairs import few, pairs, without

pytest_plugins = "pytester"
LISTS = ["abcd", [1, 2, 3], [True, False], "xyz"]


def split(params):
    """Values of the cases without and with the mark."""
    marked = [[mark.name for mark in param.marks] == ["test_all"] for param in params]
    values = [tuple(param.values) for param in params]
    return (
        [v for v, later in zip(values, marked, strict=True) if not later],
        [v for v, later in zip(values, marked, strict=True) if later],
    )


def parts(cases, strength):
    return {part for case in cases for part in itertools.combinations(enumerate(case), strength)}


@pytest.mark.parametrize("strength", [1, 2, 3, 4])
def test_every_part_is_covered_and_nothing_is_lost(strength):
    now, later = split(pairs(*LISTS, strength=strength))
    product = set(itertools.product(*LISTS))
    assert len(now) + len(later) == len(product)
    assert set(now) | set(later) == product
    assert parts(now, strength) == parts(product, strength)


def test_the_set_is_small():
    now, _ = split(pairs(*LISTS))
    assert len(now) <= 14  # at least 4 * 3, of 72 cases
    now, _ = split(pairs(*LISTS, strength=1))
    assert len(now) == 4
    now, _ = split(pairs(*[range(2)] * 10))
    assert len(now) <= 10  # of 1024 cases


def test_each_value_comes_about_as_often():
    now, _ = split(pairs(range(10), "ab", strength=1))
    assert len(now) == 10
    assert [letter for _, letter in now].count("a") == 5


def test_short_lists_do_not_run_in_step():
    """If each value comes once, all pairs of the short lists come, too."""
    now, _ = split(pairs(range(5), "ab", "xy", strength=1))
    assert len(now) == 5 and len({case[1:] for case in now}) == 4
    now, _ = split(pairs("ab", [1, 2], range(8), strength=1))
    assert len(now) == 8 and len({case[:2] for case in now}) == 4


def test_the_same_set_and_order_always():
    one, other = pairs(*LISTS), pairs(*LISTS)
    assert [split([a]) for a in one] == [split([b]) for b in other]
    assert [tuple(param.values) for param in one] == list(itertools.product(*LISTS))


def test_tuples_stand_for_several_parameters():
    now, later = split(pairs([("inline", 1), ("cores", 2)], "ab"))
    assert now == [("inline", 1, "a"), ("inline", 1, "b"), ("cores", 2, "a"), ("cores", 2, "b")]
    assert later == []


def test_combinations_that_are_not_there():
    """Pairs that no combination has are not required."""
    now, later = split(pairs("abc", [1, 2], "xy", where=lambda letter, number, _: (letter, number) != ("a", 2)))
    assert parts(now, 2) == parts(now + later, 2)
    assert all(case[:2] != ("a", 2) for case in now + later)
    assert len(now) + len(later) == 10


def test_one_list_and_none():
    assert split(pairs("abc")) == ([("a",), ("b",), ("c",)], [])
    assert pairs([]) == []


def test_few():
    assert split(few([3, 4, 5])) == ([(3,)], [(4,), (5,)])
    assert split(few([("a", 1), ("b", 2)], keep=2)) == ([("a", 1), ("b", 2)], [])
    assert split(few([1, 2], [("a", (3, 4))])) == ([(1, "a", (3, 4))], [(2, "a", (3, 4))])


def test_few_that_are_named():
    """In the order of the product; a name that no case has is a mistake."""
    assert split(few([3, 4, 5], kept=[5, 4])) == ([(4,), (5,)], [(3,)])
    cases = few([("a", 1), ("b", 2)], "xy", kept=[("b", 2, "x"), ("a", 1, "y")])
    assert split(cases) == ([("a", 1, "y"), ("b", 2, "x")], [("a", 1, "x"), ("b", 2, "y")])
    with pytest.raises(AssertionError, match="there is no combination"):
        few([("a", 1), ("b", 2)], "xy", kept=[("a", 2, "x")])


@pytest.mark.parametrize(("every", "wanted", "passed", "left"), [("", "", 1, 2), ("1", "", 3, 0), ("", "not 2", 1, 1)])
def test_marked_cases_run_where_all_are_wanted(pytester, monkeypatch, every, wanted, passed, left):
    """Otherwise a line tells how many of the chosen cases were left out."""
    pytester.makepyfile("""
        import pytest
        from pairs import few
        @pytest.mark.parametrize("n", few([1, 2, 3]))
        def test_number(n):
            assert n
    """)
    pytester.makeconftest("""
        import left_out
        def pytest_configure(config):
            config.pluginmanager.register(left_out)
    """)
    monkeypatch.setenv("SIDESTREAM_TEST_ALL", every)
    done = pytester.runpytest_inprocess("-p", "no:zarr", "--strict-markers", "-k", wanted)
    done.assert_outcomes(passed=passed, deselected=3 - passed)
    for count, cases in ((1, "1 case runs"), (2, "2 cases run")):
        assert (f"{cases} in `make test-all` only" in done.stdout.str()) == (left == count)


@pytest.mark.parametrize(("every", "expected"), [("", ["0", "4", "9"]), ("1", [str(n) for n in range(10)])])
def test_some_cases_are_kept_spread_over_all(pytester, monkeypatch, every, expected):
    """Each function keeps cases of its own, chosen before other marks are looked at."""
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.keep(3)
        @pytest.mark.parametrize("n", range(10))
        def test_number(n):
            print(f"case {n}.")
        @pytest.mark.keep(1)
        @pytest.mark.parametrize("n", [20, 21])
        def test_first(n):
            assert n == 20 or KEEPS_ALL
        @pytest.mark.keep(5)
        def test_alone():
            pass
    """.replace("KEEPS_ALL", str(bool(every)))
    )
    pytester.makeconftest("""
        import left_out
        def pytest_configure(config):
            config.pluginmanager.register(left_out)
    """)
    monkeypatch.setenv("SIDESTREAM_TEST_ALL", every)
    done = pytester.runpytest_inprocess("-p", "no:zarr", "--strict-markers", "-s")
    done.assert_outcomes(passed=len(expected) + (3 if every else 2), deselected=0 if every else 8)
    assert re.findall(r"case (\d+)\.", done.stdout.str()) == expected


def test_cases_of_a_loop_are_left_to_later(monkeypatch):
    monkeypatch.delenv("SIDESTREAM_TEST_ALL", raising=False)
    assert without([2, 3], [1, 2, 3, 5]) == [1, 5]
    with pytest.raises(AssertionError, match="there is no case 4"):
        without([4], [1, 2])
    monkeypatch.setenv("SIDESTREAM_TEST_ALL", "1")
    assert without([2, 3], [1, 2, 3, 5]) == [1, 2, 3, 5]
