"""Promise 1: the same results, bitwise, in every placement, for all numbers of clients, servers and blocks."""

import pytest
from pairs import few
from support import check_delivered, results_of, run

STEPS = 2


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One client, one block, inline."""
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    files = results_of(done)
    assert {"statistics.csv", "nodes.csv", "histogram.csv"} <= set(files)
    for kind in ("slice", "node-slice", "surface", "node-surface"):
        assert len(files[f"{kind}-00001.vtp"]) > 2000, f"{kind} is (nearly) empty"
    assert len(files["frame-00001.png"]) > 1000
    return files


def check(done, clients, reference):
    check_delivered(done, clients, STEPS, results_of(done), reference)


@pytest.mark.parametrize("clients", few([1, 2, 3, 5, 8], kept=[3, 8]))
def test_inline(tmp_path, reference, clients):
    done = run(tmp_path, clients, "inline", options=[f"steps={STEPS}", "blocks=2"])
    check(done, clients, reference)


@pytest.mark.parametrize(
    ("clients", "servers"), few([(1, 1), (2, 1), (3, 2), (5, 3), (8, 2), (1, 3)], kept=[(5, 3), (1, 3)])
)
def test_cores(tmp_path, reference, clients, servers):
    done = run(
        tmp_path,
        clients + servers,
        f"{{mode: cores, per_node: {servers}, buffer: 8 MiB}}",
        options=[f"steps={STEPS}", "ghosts=2"],
    )
    check(done, clients, reference)


@pytest.mark.parametrize(
    ("clients", "servers"), few([(1, 1), (2, 2), (3, 1), (5, 3), (8, 3), (1, 3)], kept=[(5, 3), (1, 3)])
)
def test_nodes(tmp_path, reference, clients, servers):
    done = run(
        tmp_path,
        clients + servers,
        f"{{mode: nodes, servers: {servers}, buffer: 8 MiB}}",
        options=[f"steps={STEPS}", "blocks=3", "ghosts=1"],
    )
    check(done, clients, reference)


@pytest.mark.keep(2)
@pytest.mark.parametrize(
    "placement", ["inline", "{mode: cores, buffer: 32 MiB, per_node: 2}", "{mode: nodes, servers: 2}"]
)
def test_a_client_without_blocks(tmp_path, reference, placement):
    dedicated = 0 if placement == "inline" else 2
    done = run(tmp_path, 3 + dedicated, placement, options=[f"steps={STEPS}", "empty=1", "blocks=2"])
    check(done, 3, reference)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    "placement", ["inline", "{mode: cores, buffer: 32 MiB, per_node: 1}", "{mode: nodes, servers: 2}"]
)
def test_empty_blocks(tmp_path, reference, placement):
    """A mesh of 20 cells has 24 slabs, some without cells."""
    dedicated = {"inline": 0, "{mode: cores, buffer: 32 MiB, per_node: 1}": 1, "{mode: nodes, servers: 2}": 2}[
        placement
    ]
    done = run(tmp_path, 3 + dedicated, placement, options=[f"steps={STEPS}", "blocks=8"])
    check(done, 3, reference)


@pytest.mark.keep(2)
@pytest.mark.parametrize(
    "placement", ["inline", "{mode: cores, buffer: 32 MiB, per_node: 1}", "{mode: nodes, servers: 1}"]
)
def test_in_place(tmp_path, reference, placement):
    done = run(tmp_path, 2 + (placement != "inline"), placement, options=[f"steps={STEPS}", "in_place=1", "ghosts=1"])
    check(done, 2, reference)


@pytest.mark.keep(1)
@pytest.mark.parametrize("nodes", [2, 3])
def test_pretended_nodes(tmp_path, reference, nodes):
    done = run(
        tmp_path, 6, f"{{mode: cores, buffer: 32 MiB, per_node: 1, pretend_nodes: {nodes}}}", options=[f"steps={STEPS}"]
    )
    check(done, 6 - nodes, reference)


def test_off_leaves_nothing(tmp_path):
    done = run(tmp_path, 2, "off", options=["steps=3"])
    assert done.status == 0, done.text
    assert not done.results.exists()
