"""People ask a running session for analyses of expressions that its configuration lacks: the same bits as configured
derived variables have, in every placement, and without a trace in what the run does."""

import os

import pytest
from support import VARIABLES, wait_for
from test_requests import PLACEMENTS, STILL, iteration_in, simulation

# It needs neighbours, and so values of other servers.
EXPRESSION = "sqrt(magnitude(gradient(t))^2 + t^2)"
DERIVED = VARIABLES + f"derived: {{e: {EXPRESSION}}}\n"
ANALYSES = """\
analyses:
  - statistics: {name: plain, variable: t}
  - statistics: {variable: e, file: configured.csv}
  - histogram: {variable: e, bins: 9, range: [0, 30], file: "same-{index:05}.csv"}
"""
HISTOGRAM = f'histogram: {{variable: "{EXPRESSION}", bins: 9, range: [0, 30], file: "asked/'


def rows(run, name):
    path = run.results / name
    return {line.split(",")[0]: line for line in path.read_text().splitlines()[1:]} if path.exists() else {}


def ask_for_all(run):
    """Asks once and from now on, and compares with what the configuration has."""
    for name in ("one", "two"):
        status, said = run.ask(f'{HISTOGRAM}{name}-{{index:05}}.csv"}}')
        assert status == 0, said
        index = iteration_in(said)
        same = run.results / f"same-{index:05}.csv"
        wait_for(same.exists, same)
        assert (run.results / f"asked/{name}-{index:05}.csv").read_bytes() == same.read_bytes()
    status, said = run.ask(f'statistics: {{variable: "{EXPRESSION}", every: 1, file: asked/all.csv}}')
    assert status == 0 and said.startswith("accepted"), said
    wait_for(lambda: len(rows(run, "asked/all.csv")) >= 3, "rows")


def check_all(run):
    """After the end of the run."""
    asked, configured = rows(run, "asked/all.csv"), rows(run, "configured.csv")
    assert asked and asked == {index: configured[index] for index in asked}
    assert {row["outcome"] for row in run.rows()} == {"delivered"}
    assert len(rows(run, "statistics.csv")) == len(run.rows())


@pytest.mark.keep(2)
@pytest.mark.parametrize("placement, ranks", PLACEMENTS)
def test_the_same_bytes_as_configured(tmp_path, placement, ranks):
    with simulation(tmp_path, ranks, placement, variables=DERIVED, analyses=ANALYSES, ghosts=1, blocks=2) as run:
        ask_for_all(run)
        assert EXPRESSION in [one["name"] for one in run.record()["variables"]]
        run.end()
    check_all(run)


@pytest.mark.test_all
@pytest.mark.parametrize("command", ["serve", "endpoint"])
def test_servers_of_their_own(tmp_path, command):
    mode = f"sidecar, per_node: 2, session: expr{os.getpid()}" if command == "serve" else "job"
    stream = f", stream: {{directory: {tmp_path}/streams}}" if command == "endpoint" else ""
    placement = f"{{mode: {mode}, buffer: 32 MiB{stream}}}"
    with simulation(tmp_path, 3, placement, serve=command, variables=DERIVED, analyses=ANALYSES) as run:
        ask_for_all(run)
        run.end()


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement, ranks", PLACEMENTS[1:])
def test_the_last_iteration_while_the_simulation_computes(tmp_path, placement, ranks):
    """The simulation stands still, and the values of an expression come from what servers hold."""
    options = {"gate": tmp_path / "gate", "gate_at": 3, "ghosts": 1, "blocks": 2}
    live = "{requests: yes, hold: [t]}"
    variables = DERIVED.replace("derived:", STILL.splitlines()[-1] + "\nderived:")
    with simulation(tmp_path, ranks, placement, live, ANALYSES, variables, **options) as run:
        wait_for((run.results / "same-00002.csv").exists, "iteration 2")
        for name in ("one", "two"):
            status, said = run.ask(f'{HISTOGRAM}{name}-{{index:05}}.csv"}}')
            assert status == 0 and iteration_in(said) == 2, said
            found = run.results / f"asked/{name}-00002.csv"
            assert found.read_bytes() == (run.results / "same-00002.csv").read_bytes()
        (tmp_path / "gate").touch()
        ask_for_all(run)
        run.end()
    check_all(run)


def test_what_is_refused_leaves_no_variable(tmp_path):
    analyses = ANALYSES.replace("variable: t}", "variable: t, isolate: process}")
    with simulation(tmp_path, 3, "inline", variables=DERIVED, analyses=analyses) as run:
        for words, said in (
            ('statistics: {variable: "2 * nothing", file: asked/a.csv}', "nothing"),
            ('statistics: {variable: "2 * t +", file: asked/a.csv}', "2 * t +"),
            ('statistics: {variable: "2 * t", file: a.csv}', "asked/a.csv"),
            ('statistics: {variable: "2 * t", name: x, file: asked/a.csv}', "name"),
        ):
            status, answer = run.ask(words)
            assert status != 0 and answer.startswith("refused") and said in answer, answer
        assert not [one["name"] for one in run.record()["variables"] if "2" in one["name"]]
        status, said = run.ask('statistics: {variable: "2 * t", file: asked/a.csv}')
        assert status == 0, said
        index = str(iteration_in(said))
        twice = [float(value) for value in rows(run, "asked/a.csv")[index].split(",")[3:]]
        wait_for(lambda: index in rows(run, "statistics.csv"), "the configured row")
        once = [float(value) for value in rows(run, "statistics.csv")[index].split(",")[3:]]
        columns = (run.results / "statistics.csv").read_text().splitlines()[0].split(",")[3:]
        for column in ("minimum", "maximum"):
            assert twice[columns.index(column)] == 2 * once[columns.index(column)]
        run.end()
    assert {row["outcome"] for row in run.rows()} == {"delivered"}


@pytest.mark.test_all
def test_a_run_takes_64_different_expressions(tmp_path):
    with simulation(tmp_path, 1, "inline", variables=DERIVED, analyses=ANALYSES, pause_ms=1) as run:
        for number in range(64):
            status, said = run.ask(f'statistics: {{variable: "t + {number}", file: asked/a-{number}.csv}}')
            assert status == 0, said
        status, said = run.ask('statistics: {variable: "t + 64", file: asked/b.csv}')
        assert status != 0 and "64 other ones were asked for in this run" in said, said
        status, said = run.ask('statistics: {variable: "t + 63", file: asked/c.csv}')
        assert status == 0, said
        run.end()
