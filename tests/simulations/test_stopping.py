"""With `on_error: stop` a failure is reported at the end of an iteration, which may be another one on each rank.
Every mini-app ends on all ranks, with one sentence."""

import os

import pytest
from mini_app import run, write
from pairs import few

FAILING = """
placement: {placement}
output: {{directory: {directory}, existing: replace}}
analyses:
  - statistics: {{variable: %s, file: 'blocked/{{cycle}}.csv'}}
on_error: stop
"""
# The first one is always built, the others if their libraries are available. Each has a variable, and arguments with
# which it runs much longer than a failure takes to be reported.
PROGRAMS = {
    "advection": (["gaussian", "--cells", 16, "--levels", 2, "--end", 1e6], "density"),
    "blast": (["sedov", "--least", 2, "--most", 3, "--end", 1e6], "density"),
    "universe": (["--particles", 8, "--steps", 100000], "density"),
}
PLACEMENTS = [("inline", 3), ("cores", 5), ("{mode: nodes, buffer: 32 MiB, servers: 2}", 6)]


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("name", "placement", "ranks"),
    few(["advection"], PLACEMENTS, keep=0)
    + few(["blast"], PLACEMENTS[1:] + PLACEMENTS[:1])
    + few(["universe"], PLACEMENTS[2:] + PLACEMENTS[:2]),
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
