"""`when`: tasks run exactly in the iterations in which their conditions hold, in every placement. The conditions are
computed here from the statistics of all iterations."""

import csv

import pytest
from support import results_of, run

STEPS = 14
CONDITIONS = {
    "rising": "change(max(t)) > 0",
    "turning": "max(t) > previous(max(t)) and iteration > 3 or change(mean(t)) < 0.003",
    "second": "min(p) < -1.695 and max(p, 1) == 120 and not cycle == 30",
    "steady": "abs(change(sum(t))) < 40",
    "both": "max(t) + max(p) > 3.488",
    "never": "max(t) > 1e9",
    "late": "time >= 0.7",
}
TASKS = "analyses:\n  - statistics: {variable: t, file: t.csv}\n  - statistics: {variable: p, file: p.csv}\n" + "".join(
    f'  - statistics: {{name: {name}, variable: t, file: {name}.csv, when: "{when}"}}\n'
    for name, when in CONDITIONS.items()
)
DEDICATED = {
    "inline": 0,
    "{mode: cores, buffer: 32 MiB, per_node: 2}": 2,
    "{mode: nodes, buffer: 32 MiB, servers: 2}": 2,
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: blocks}": 2,
    "{mode: nodes, servers: 2, buffer: 32 MiB, forward: partials}": 3,
}


def rows(file):
    with file.open() as text:
        return list(csv.DictReader(text))


def statistics(results):
    """Statistics of t and of components 0 and 1 of p in each iteration: a dictionary of floats, or None."""
    known = [[None, None, None] for _ in range(STEPS)]
    for row in rows(results / "t.csv"):
        known[int(row["iteration"])][0] = {k: float(v) for k, v in row.items()}
    for row in rows(results / "p.csv"):
        known[int(row["iteration"])][1 + int(row["component"])] = {k: float(v) for k, v in row.items()}
    return known


def expected(known):
    """The iterations in which each condition holds. `was` is that of the last iteration in which t was published."""
    hold = {name: [] for name in CONDITIONS}
    was = None
    for n, (t, p0, p1) in enumerate(known):
        truth = {
            "rising": was is not None and t["maximum"] > was["maximum"],
            "turning": was is not None
            and ((t["maximum"] > was["maximum"] and n > 3) or t["mean"] - was["mean"] < 0.003),
            "second": p0 is not None and p0["minimum"] < -1.695 and p1["maximum"] == 120 and n != 3,
            "steady": was is not None and abs(t["sum"] - was["sum"]) < 40,
            "both": p0 is not None and t["maximum"] + p0["maximum"] > 3.488,
            "never": False,
            "late": n >= 7,
        }
        for name, holds in truth.items():
            if holds:
                hold[name].append(n)
        was = t
    return hold


def ran(results, name):
    file = results / f"{name}.csv"
    return [int(row["iteration"]) for row in rows(file)] if file.exists() else []


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A run with one client, inline. Checks that most conditions hold sometimes and not always."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", TASKS, [f"steps={STEPS}"])
    assert done.status == 0, done.text
    hold = expected(statistics(done.results))
    varied = [name for name, where in hold.items() if 0 < len(where) < STEPS - 1]
    assert len(varied) >= 5, hold
    for name, where in hold.items():
        assert ran(done.results, name) == where, f"{name}: {CONDITIONS[name]}"
    return results_of(done)


@pytest.mark.keep(3)
@pytest.mark.parametrize("placement", DEDICATED)
def test_the_same_iterations_everywhere(tmp_path, reference, placement):
    ranks = 3 + DEDICATED[placement]
    done = run(tmp_path, ranks, placement, TASKS, [f"steps={STEPS}", "blocks=2", "ghosts=1"])
    assert done.status == 0, done.text
    assert results_of(done) == reference


@pytest.mark.keep(2)
@pytest.mark.parametrize("placement", ["inline", "{mode: cores, buffer: 32 MiB}", "{mode: nodes, servers: 2}"])
def test_a_variable_that_is_missing_once(tmp_path, placement):
    done = run(tmp_path, 4, placement, TASKS, [f"steps={STEPS}", "without_p_at=5"])
    assert done.status == 0, done.text
    known = statistics(done.results)
    assert known[5][1] is None and known[6][1] is not None
    for name, where in expected(known).items():
        assert ran(done.results, name) == where, f"{name}: {CONDITIONS[name]}"


def test_with_every_and_on(tmp_path):
    tasks = (
        "analyses:\n"
        "  - statistics: {variable: t, file: some.csv, every: 3, when: iteration > 4}\n"
        "  - statistics: {name: cells, variable: t, file: cells.csv, every: 0.5 time, when: cycle != 50}\n"
        "  - statistics: {name: signalled, variable: t, file: signalled.csv, on: burst, when: max(t) > 1e9}\n"
        "outputs:\n  - vtk: {variables: [t], file: 'fields-{index}.pvti', every: 2, when: iteration < 5}\n"
    )
    done = run(tmp_path, 2, "{mode: cores, buffer: 32 MiB}", tasks, ["steps=12", "signal_at=4"])
    assert done.status == 0, done.text
    assert ran(done.results, "some") == [6, 9]
    assert ran(done.results, "cells") == [0, 6, 10]  # the interval from 0.5 on begins in its second iteration
    assert ran(done.results, "signalled") == []
    assert sorted(path.name for path in done.results.glob("fields-?.pvti")) == [f"fields-{n}.pvti" for n in (0, 2, 4)]


def test_a_mistake_has_a_place(tmp_path):
    tasks = "analyses:\n  - statistics: {variable: t, when: max(u) > 1}\n"
    done = run(tmp_path, 2, "inline", tasks)
    assert done.status != 0
    assert "run.yaml:" in done.text and "found the unknown variable 'u' for 'when'" in done.text, done.text
