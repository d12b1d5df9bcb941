"""The prediction of benchmarks/cosmology_placements for runs whose time is known in closed form."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks" / "support"))

import cosmology_model as model
import cosmology_table


def test_in_situ_all_is_done_one_after_the_other():
    assert model.in_situ(30, 5, step=2, analysis=3) == 30 * 2 + 7 * 3


@pytest.mark.parametrize(("every", "analysis"), [(1, 0.5), (5, 3), (5, 9.99)])
def test_analyses_hide_behind_steps_where_there_are_cores_for_all(every, analysis):
    """If n tau_c >= tau_a, a run takes the time of all steps and of the last analysis."""
    assert model.in_transit(30, every, 2, analysis, 3, 2, cores=5) == pytest.approx(30 * 2 + analysis)


@pytest.mark.parametrize(("every", "analysis"), [(1, 2.5), (5, 12)])
def test_analyses_that_take_longer_follow_each_other(every, analysis):
    assert model.in_transit(30, every, 2, analysis, 1, 4, cores=8) == pytest.approx((1 + 30 // every) * analysis)


@pytest.mark.parametrize(("clients", "servers"), [(1, 1), (3, 1), (1, 3)])
def test_on_one_core_nothing_is_won(clients, servers):
    """The amount of work is fixed, so that a single core is never idle."""
    expected = model.in_situ(20, 4, step=2, analysis=3)
    assert model.in_transit(20, 4, 2, 3, clients, servers, cores=1) == pytest.approx(expected)


def test_ranks_beyond_the_cores_slow_each_other_down():
    alone = model.in_transit(20, 1, 2, 2, 2, 2, cores=4)
    assert alone < model.in_transit(20, 1, 2, 2, 2, 2, cores=3) < model.in_situ(20, 1, 2, 2) * 1.01


def test_a_run_without_analyses_is_made_once_for_each_interval():
    class Case:
        def __init__(self, placement):
            self.placement = placement

    cases = [Case("off"), Case("inline")]
    made = list(cosmology_table.combinations({"halos": "", "statistics": ""}, [1, 5], cases))
    assert len(made) == 6 and sum(case.placement == "off" for _, _, case in made) == 2
