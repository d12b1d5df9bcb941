"""With `on_error: stop` a failure comes back when an iteration ends, on each rank in one of its own choosing: every
mini-app ends on all ranks, with one sentence."""

import os

import pytest
from mini_app import run, write
from pairs import pairs

FAILING = """
placement: {placement}
output: {{directory: {directory}, existing: replace}}
analyses:
  - statistics: {{variable: %s, file: 'blocked/{{cycle}}.csv'}}
on_error: stop
"""
# What is built of these. Each runs for much longer than a failure takes to come back, and a variable.
PROGRAMS = {
    "advection": (["gaussian", "--cells", 16, "--levels", 2, "--end", 1e6], "density"),
    "blast": (["sedov", "--least", 2, "--most", 3, "--end", 1e6], "density"),
    "universe": (["--particles", 8, "--steps", 100000], "density"),
}


@pytest.mark.parametrize(
    ("name", "placement", "ranks"),
    pairs(PROGRAMS, [("inline", 3), ("cores", 5), ("{mode: nodes, servers: 2}", 6)], strength=1),
)
def test_all_ranks_end(tmp_path, name, placement, ranks):
    if name.upper() not in os.environ:
        pytest.skip(f"NOT TESTED: {name} is not built")
    arguments, variable = PROGRAMS[name]
    file = write(tmp_path, FAILING % variable, placement)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "blocked").touch()
    done = run(ranks, *arguments, "--sidestream", file, program=os.environ[name.upper()])
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith(f"{name}:")]
    assert len(said) == 1 and "blocked" in said[0], done.stderr
