"""Clients that contradict each other, in every placement: the contradiction is refused or reported, and data are
never mixed."""

import subprocess

import h5py
import pytest
from pairs import few
from programs import built
from sidecar_support import Sidecar
from support import MPIRUN, run

# The number of ranks besides the clients, by placement.
PLACEMENTS = {
    "inline": 0,
    "{mode: cores, per_node: 1, buffer: 8 MiB}": 1,
    "{mode: cores, per_node: 2, buffer: 8 MiB}": 2,
    "{mode: nodes, servers: 2, buffer: 8 MiB}": 2,
    "{mode: nodes, servers: 1, progress: calls, buffer: 8 MiB}": 1,
    "{mode: nodes, servers: 2, forward: blocks, buffer: 8 MiB}": 3,
    "{mode: nodes, servers: 1, forward: partials, buffer: 8 MiB}": 2,
    "sidecar": 0,
}
TASKS = "analyses:\n  - statistics: {variable: t}\n"
STILL = """\
  s: {mesh: grid, type: float64, centering: cell, time_varying: false}
analyses:
  - statistics: {name: still, variable: s, file: "still.csv"}
"""

STILL_DECLARED = "  s: {mesh: grid, type: float64, centering: cell, time_varying: false}\n"


def run_anywhere(folder, clients, placement, tasks, options, alone=False):
    """Like `run`, also for a simulation with servers in another job."""
    if placement != "sidecar":
        return run(folder, clients + PLACEMENTS[placement], placement, tasks, options=options, alone=alone)
    with Sidecar(folder, tasks, attach_limit=30) as sidecar:
        sidecar.start(clients, *options)
        servers = sidecar.serve()
        done = sidecar.finish()
        assert servers.wait() == 0, servers.text()
        done.text += servers.text()
        return done


def rows(done, name="statistics.csv"):
    lines = (done.results / name).read_text().splitlines()
    names = lines[0].split(",")
    return [dict(zip(names, line.split(","), strict=True)) for line in lines[1:]]


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_times_that_differ_in_the_last_bit_are_the_first_clients(tmp_path, placement):
    done = run_anywhere(tmp_path, 3, placement, TASKS, ["steps=4", "nudge=1"])
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == 4 and account["refused"] == 0, done.text
    assert [float(row["time"]) for row in rows(done)] == [0.1 * step for step in range(4)]
    assert done.text.count("gave different times") == 1, done.text
    assert "0 on client 0 and 5e-324 on client " in done.text


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_block_that_two_clients_declare_is_refused_while_they_do(tmp_path, placement):
    done = run_anywhere(tmp_path, 3, placement, TASKS, ["steps=6", "repeat_at=2"])
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == 4 and account["refused"] == 2, done.text
    assert [row["iteration"] for row in rows(done)] == ["0", "1", "4", "5"]
    assert {row["count"] for row in rows(done)} == {"8000"}
    assert "clients 0 and 1 both declare block 1000 of the mesh 'grid'" in done.text


@pytest.mark.keep(4)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_an_update_that_failed_on_one_client_is_never_mixed_with_that_of_others(tmp_path, placement):
    # Values are replaced in steps 2 and 5. In step 5 the second client fails, and it publishes them in step 7.
    alone = run(tmp_path / "alone", 1, "inline", STILL, options=["steps=9", "still=1"])
    whole = {row["iteration"]: row for row in rows(alone, "still.csv")}
    done = run_anywhere(tmp_path / "clients", 2, placement, STILL, ["steps=9", "still=1", "still_fails_at=5"])
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == 7 and account["refused"] == 2, done.text
    found = rows(done, "still.csv")
    assert [row["iteration"] for row in found] == ["0", "1", "2", "3", "4", "7", "8"]
    assert found == [whole[row["iteration"]] for row in found]


@pytest.mark.parametrize("placement", few(PLACEMENTS, keep=2))
def test_a_session_that_is_never_closed_ends_in_finalize(tmp_path, placement):
    done = run_anywhere(tmp_path, 2, placement, TASKS, ["steps=3", "forget=1"], alone=True)
    assert done.status == 0, done.text
    assert done.text.count("forgets to close") == 2
    assert done.text.count("MPI_Finalize was called on rank 0 while a session was open") == 1, done.text
    assert "sidestream_close" in done.text
    assert [row["iteration"] for row in rows(done)] == ["0", "1", "2"]
    assert "delivered: 3" in (done.results / "run.yaml").read_text()


@pytest.mark.parametrize("placement", few(["{mode: nodes, servers: 1}", "inline", "{mode: cores, buffer: 32 MiB}"]))
def test_a_session_that_a_c_program_never_closes_ends_in_finalize(tmp_path, placement):
    (tmp_path / "run.yaml").write_text(
        f"placement: {placement}\n"
        "meshes: {m: {type: uniform, size: [8, 8, 4], refinement: ['2', 2x2x1], periodic: x}}\n"
        "variables: {t: {mesh: m}, n: {mesh: m, centering: node}}\n"
        f"analyses:\n  - statistics: {{variable: t}}\noutput: {{directory: {tmp_path}/results}}\n"
    )
    program = built("SIDESTREAM_KINDS_PROGRAM")
    command = [MPIRUN, "-n", "3", program, str(tmp_path / "run.yaml"), "kind=levels", "steps=3", "forget=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert text.count("forgets to close") == (3 if placement == "inline" else 2), text
    assert text.count("MPI_Finalize was called on rank 0 while a session was open") == 1, text
    assert len((tmp_path / "results/statistics.csv").read_text().splitlines()) == 1 + 3


BOTH = (
    TASKS
    + """\
  - statistics: {name: nodes, variable: p, file: "nodes.csv"}
outputs:
  - hdf5: {variables: [t, p], file: "fields-{index:03}.h5"}
"""
)


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_variable_that_nobody_publishes_in_one_iteration(tmp_path, placement):
    done = run_anywhere(tmp_path, 2, placement, BOTH, ["steps=3", "without_p_at=1"])
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == 3 and account["refused"] == account["failed"] == account["absent"] == 0, (
            done.text
        )
    assert [row["iteration"] for row in rows(done)] == ["0", "1", "2"]
    assert {row["iteration"] for row in rows(done, "nodes.csv")} == {"0", "2"}
    for index in range(3):
        with h5py.File(done.results / f"fields-{index:03}.h5") as file:
            assert set(file["variables"]) == ({"t"} if index == 1 else {"t", "p"})
    found = rows(done, "iterations.csv")
    assert [row["outcome"] for row in found] == ["delivered"] * 3
    assert [row["reason"] for row in found] == ["", "nodes left out; hdf5 incomplete", ""]
    assert (
        "of 3 iterations 3 were delivered: 1 times an analysis or a writer was due without its variables" in done.text
    )
    assert "hdf5: written 1 times without what nobody had published then: 'p'" in done.text
    assert "nodes: left out: it was due 1 times when nobody had published 'p'" in done.text


@pytest.mark.keep(4)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_iteration_has_a_row_and_losses_are_said_at_the_end(tmp_path, placement):
    fails = placement != "sidecar"  # servers of `sidecar` do not have the program's analyses
    tasks = TASKS + "  - fail: {variable: t, at: 1}\n" * fails
    done = run_anywhere(tmp_path, 2, placement, STILL_DECLARED + tasks, ["steps=4", "still=1", "still_fails_at=2"])
    assert done.status == 0, done.text
    found = rows(done, "iterations.csv")
    assert [row["iteration"] for row in found] == ["0", "1", "2", "3"]
    assert [row["cycle"] for row in found] == ["0", "10", "20", "30"]
    assert [float(row["time"]) for row in found] == [0.1 * step for step in range(4)]
    second = "failed" if fails else "delivered"
    assert [row["outcome"] for row in found] == ["delivered", second, "refused", "refused"]
    assert found[1]["reason"] == ("failed: fail" if fails else "")
    assert found[2]["reason"] == "a call failed; an array that does not vary in time is missing; client 1"
    assert found[3]["reason"] == "an array that does not vary in time is missing; client 1"
    failed = ", 1 had an analysis or a writer that failed" * fails
    assert f"of 4 iterations 2 were delivered: 2 were refused{failed}" in done.text


SLOW = "analyses:\n  - sleep: {variable: t, seconds: 0.4}\n"


@pytest.mark.parametrize("placement", few([p for p in PLACEMENTS if p not in ("inline", "sidecar")]))
def test_what_closing_cuts_off_is_said(tmp_path, placement):
    done = run(tmp_path, 2 + PLACEMENTS[placement], placement, SLOW, options=["steps=8"], extra="drain_limit: 0.5\n")
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] + account["refused"] + account["unknown"] == 8
        assert account["dropped"] > 0, done.text
    assert "drain_limit" in done.text and "of 8 iterations" in done.text
    assert [row for row in rows(done, "iterations.csv") if "drain_limit was over" in row["reason"]]


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", ["{mode: cores, buffer: 32 MiB}", "{mode: nodes, servers: 1}"])
def test_a_limit_longer_than_any_clock_is_not_over_at_once(tmp_path, placement):
    done = run(tmp_path, 3, placement, SLOW, options=["steps=3"], extra="drain_limit: 1e18\n")
    assert done.status == 0, done.text
    assert {account["delivered"] for account in done.accounts} == {3}, done.text
