"""Changes during a run, in every placement: blocks appear, vanish and go to other clients, and variables do not vary
with time. Other divisions of the same mesh must give the same bytes."""

import pytest
from pairs import pairs
from support import ANALYSES, results_of, run

STEPS = 7

STILL = """\
  s: {mesh: grid, type: float64, centering: cell, time_varying: false}
"""
OF_STILL = """\
  - statistics: {name: still, variable: s, file: "still.csv"}
  - slice: {name: still-slice, variable: s, axis: z, position: 0.7, file: "still-slice-{index:05}.vtp"}
  - isosurface: {name: still-surface, variable: s, values: [0.5], every: 2, file: "still-surface-{index:05}.vtp"}
"""
TASKS = STILL + ANALYSES + OF_STILL

# The number of ranks besides the clients, by placement.
PLACEMENTS = {
    "inline": 0,
    "{mode: cores, per_node: 1, buffer: 8 MiB}": 1,
    "{mode: cores, per_node: 2, buffer: 8 MiB}": 2,
    "{mode: cores, per_node: 1, pretend_nodes: 2, buffer: 8 MiB}": 2,
    "{mode: nodes, servers: 2, buffer: 8 MiB}": 2,
    "{mode: nodes, servers: 2, progress: calls, buffer: 8 MiB}": 2,
    "{mode: nodes, servers: 2, forward: blocks, buffer: 8 MiB}": 3,
    "{mode: nodes, servers: 2, forward: partials, buffer: 8 MiB}": 3,
}
CHANGES = {"moving": ["still=1"], "moving with a gap": ["still=1", "gap=1"]}


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """A run with one client and, as far as possible, one block, inline."""
    files = {}
    for name, options in CHANGES.items():
        done = run(tmp_path_factory.mktemp("reference"), 1, "inline", TASKS, options=[f"steps={STEPS}", *options])
        assert done.status == 0, done.text
        files[name] = results_of(done)
        still = files[name]["still.csv"].decode().splitlines()
        assert len(still) == STEPS + 1, "kept values were there in every iteration"
        assert len({line.split(",", 3)[3] for line in still[1:]}) >= 3, "and were replaced"
    return files


@pytest.mark.keep(1)
@pytest.mark.parametrize(("change", "clients", "placement"), pairs(CHANGES, [2, 5], PLACEMENTS, strength=1))
def test_the_same_results_whatever_changes_hands(tmp_path, references, placement, clients, change):
    if "pretend_nodes" in placement:
        clients += 1  # for an even number of ranks
    options = [f"steps={STEPS}", "moving=1", "ghosts=1", *CHANGES[change]]
    done = run(tmp_path, clients + PLACEMENTS[placement], placement, TASKS, options=options)
    assert done.status == 0, done.text
    assert len(done.accounts) == clients
    for account in done.accounts:
        assert account["delivered"] == account["iterations"] == STEPS, done.text
        assert account["failed"] == account["absent"] == 0
    files = results_of(done)
    assert sorted(files) == sorted(references[change])
    for name, content in references[change].items():
        assert files[name] == content, f"{name} differs"
