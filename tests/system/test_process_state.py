"""The state of the program's process changes no result, in every placement. It includes locale, rounding mode,
traps, working directory and standard streams, changed before or after the session opens. A limit on the size of
files is tested, too."""

import filecmp
import os
import re
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest
from programs import built
from sidecar_support import Job
from support import MPIRUN

RANKS = 4
OWN = {"run.yaml", "timings.csv", "movement.csv", "iterations.csv", "messages.txt", "provenance.txt"}
OWN |= {
    "endpoint.yaml",
    "endpoint-timings.csv",
    "endpoint-movement.csv",
    "endpoint-iterations.csv",
    "endpoint-messages.txt",
}
OWN |= {"run-clients.yaml", "timings-clients.csv", "iterations-clients.csv", "messages-clients.txt"}
PLACEMENTS = {
    "inline": "inline",
    "cores": "{mode: cores, buffer: 32 MiB, per_node: 1, when_full: spill, spill: {directory: spilled}}",
    "nodes": "{mode: nodes, buffer: 32 MiB, servers: 1}",
}
# Numbers with fractions in all places, and a derived variable that is computed with zeros before values come.
CONFIGURATION = """\
placement: {placement}
meshes: {{grid: {{type: uniform, size: [16, 16, 16], spacing: [0.3, 0.3, $h]}}}}
parameters: {{h: 0.3}}
variables:
  a: {{mesh: grid, type: float64, centering: cell, unit: "m³/s"}}
derived: {{inverse: {{expression: 1.5 / a}}}}
steering: {{strength: {{type: real, default: 0.7}}}}
drain_limit: 59.5
analyses:
  - statistics: {{variable: a}}
  - statistics: {{variable: inverse, file: inverse.csv, every: 0.25 time, when: max(a) > 0.5}}
  - histogram: {{variable: a, bins: 7, file: histogram.csv, isolate: process, limit: 60.5 s}}
  - slice: {{variable: a, axis: z, position: 1.7, file: "slice-{{cycle:03}}.vtp"}}
  - render: {{slice: {{variable: inverse, axis: z, position: 1.7}}, size: [200, 150], file: "frame-{{cycle:03}}.png"}}
{scripts}outputs:
  - hdf5: {{variables: [a], file: "a-{{cycle:03}}.h5"}}
  - database: {{directory: data, fsync: false}}
output: {{directory: {output}}}
"""
SCRIPT = """\
def rows(whole):
    return {"first": [float(whole["a"].ravel()[0])]}
"""


def locale(folder):
    """Makes de_DE.UTF-8 only for the tests' programs, and returns an environment that has it."""
    if not shutil.which("localedef"):
        pytest.fail("localedef is missing, which makes a locale with decimal commas: install libc-bin and locales")
    made = folder / "locales" / "de_DE.UTF-8"
    made.parent.mkdir()
    command = ["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if not (made / "LC_NUMERIC").exists():  # the folder is made in any case
        pytest.skip(f"no locale with decimal commas can be made: they are NOT TESTED ({done.stderr.strip()})")
    return {"LOCPATH": str(made.parent)}


def write(folder, name, placement):
    scripts = ""
    if os.environ.get("SIDESTREAM_ANALYSES_IN_PYTHON"):
        (folder / "rows.py").write_text(SCRIPT)
        scripts = "  - python: {variables: a, script: ./rows.py, call: rows, whole: true, file: rows.csv}\n"
    text = CONFIGURATION.format(placement=placement, output=f"results-{name}", scripts=scripts)
    (folder / f"{name}.yaml").write_text(text)
    return f"{name}.yaml"


def program(folder, *sessions):
    return [MPIRUN, "-n", str(RANKS), built("SIDESTREAM_STATE_PROGRAM"), str(folder / "state"), *sessions]


def reports(folder):
    return [(folder / f"state-{rank}").read_text().splitlines() for rank in range(RANKS)]


def results(folder):
    """The files in a folder, without records of the run and without the servers' own files."""
    names = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - OWN
    return {n for n in names if not re.fullmatch(r"a-\d+-\d+\.h5|data/segment-.*", n)}


def same(folder, plain):
    names = results(plain)
    assert {"statistics.csv", "inverse.csv", "frame-010.png", "a-010.h5", "data/contexts"} <= names
    assert results(folder) == names, folder
    # The database and the servers' own files depend on the division of blocks among servers.
    alike = sorted(n for n in names if Path(n).suffix in {".csv", ".vtp", ".png"})
    assert filecmp.cmpfiles(folder, plain, alike, shallow=False) == (alike, [], []), folder


def delivered(lines):
    for line in lines:
        assert line.endswith(" delivered=2 failed=0"), line


def test_in_one_job(tmp_path):
    """Placements whose servers are ranks of the simulation, all in one launch."""
    sessions = []
    for name, placement in PLACEMENTS.items():
        for when in ("never", "before", "after"):
            file = write(tmp_path, f"{name}-{when}", placement)
            sessions.append(f"{when}:{tmp_path / file}" if when == "before" else f"{when}:{file}")
    environment = {**os.environ, **locale(tmp_path)}
    done = subprocess.run(
        program(tmp_path, *sessions),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for lines in reports(tmp_path):
        assert [line.split()[0].split(":")[0] for line in lines] == ["never", "before", "after"] * 3
        # Only clients have an account of deliveries.
        assert not [line for line in lines if "error" in line or "changed" in line or "no-locale" in line], lines
    delivered(reports(tmp_path)[0])
    plain = tmp_path / "results-inline-never"
    for name in PLACEMENTS:
        same(tmp_path / f"results-{name}-never", plain)
        same(tmp_path / f"results-{name}-after", plain)
        same(tmp_path / "elsewhere" / "0" / f"results-{name}-before", plain)
    # No files are anywhere else, even from other ranks, which change to their own folders.
    left = {p.name for rank in range(RANKS) for p in (tmp_path / "elsewhere" / str(rank)).iterdir()}
    assert left == {"spilled", *(f"results-{name}-before" for name in PLACEMENTS)}
    assert all(not results(tmp_path / "elsewhere" / str(rank)) for rank in range(1, RANKS))


@pytest.mark.test_all
def test_servers_of_another_job(tmp_path):
    """Tests an endpoint, and servers beside the simulation."""
    environment = {**os.environ, **locale(tmp_path)}
    write(tmp_path, "plain", "inline")
    write(tmp_path, "job", "{mode: job, buffer: 32 MiB, stream: {name: s, directory: streams}}")
    session = f"state-{uuid.uuid4().hex[:12]}"
    file = write(tmp_path, "sidecar", f"{{mode: sidecar, buffer: 32 MiB, session: {session}}}")
    run = program(tmp_path, "never:plain.yaml", "after:job.yaml", f"after:{file}")
    # Both wait for the simulation, which uses one after the other.
    serve = [MPIRUN, "-n", "1", built("SIDESTREAM_TOOL"), "serve", "--wait", "200", str(tmp_path / file)]
    with (
        Job(serve, tmp_path / "serve.txt", folder=tmp_path) as servers,
        Job(endpoint_command(tmp_path), tmp_path / "endpoint.txt", folder=tmp_path) as reader,
    ):
        done = subprocess.run(
            run, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert reader.wait(100) == 0, reader.text()
        assert servers.wait(100) == 0, servers.text()
    for lines in reports(tmp_path):
        assert not [line for line in lines if "error" in line or "changed" in line or "no-locale" in line], lines
    delivered(reports(tmp_path)[0])
    for name in ("job", "sidecar"):
        same(tmp_path / f"results-{name}", tmp_path / "results-plain")
    assert not [p for p in (tmp_path / "elsewhere").rglob("*") if p.is_file()]


def endpoint_command(folder):
    return [MPIRUN, "-n", "1", built("SIDESTREAM_TOOL"), "endpoint", "--wait", "200", str(folder / "job.yaml")]


def test_a_limit_on_the_size_of_files_is_an_error(tmp_path):
    """SIGXFSZ ends no process. Each iteration fails with a sentence, and small files are written."""
    large = "outputs:\n  - hdf5: {variables: [a], file: 'a-{cycle:03}.h5'}\n"
    sessions = []
    for name, placement in {**PLACEMENTS, "cores": "{mode: cores, buffer: 32 MiB, per_node: 1}"}.items():
        text = (
            f"placement: {placement}\nmeshes: {{grid: {{type: uniform, size: [16, 16, 16]}}}}\n"
            "variables: {a: {mesh: grid, type: float64, centering: cell}}\n"
            f"analyses:\n  - lower: {{variable: a}}\n  - statistics: {{variable: a}}\n{large}"
            f"output: {{directory: results-{name}, fsync: false, timings: false}}\n"
        )
        (tmp_path / f"{name}.yaml").write_text(text)
        sessions.append(f"never:{name}.yaml")
    done = subprocess.run(
        program(tmp_path, *sessions), cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in reports(tmp_path)[0]:
        assert " failed=2" in line and "changed" not in line, line
    for name in PLACEMENTS:
        folder = tmp_path / f"results-{name}"
        assert "ulimit -f" in (folder / "run.yaml").read_text(), name
        assert len((folder / "statistics.csv").read_text().splitlines()) == 3, name
        assert not list(folder.glob("a-*.h5")), name
