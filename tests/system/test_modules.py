"""Modules are found automatically, and loaded when a configuration names one of their analyses. They are refused if
they belong to another build."""

import os
import subprocess
from pathlib import Path

import pytest
from support import run

TOOL = os.environ["SIDESTREAM_TOOL"]
SLICE = "analyses:\n  - slice: {variable: t, axis: z, position: 0.5, file: slice.vtp}\n"
HALOS = "analyses:\n  - halos: {variable: t, boundary: 1, halo: 1, file: halos.csv}\n"
STATISTICS = "analyses:\n  - statistics: {variable: t}\n"
CORES = "{mode: cores, buffer: 32 MiB, per_node: 1}"
PLACEMENTS = {
    "inline": 2,
    CORES: 3,
    "{mode: nodes, buffer: 32 MiB, servers: 1}": 3,
}


def tool(*arguments, **environment):
    return subprocess.run(
        [TOOL, *arguments], capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environment}
    )


@pytest.mark.keep(2)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_an_analysis_of_a_module_is_found(tmp_path, placement):
    done = run(tmp_path, PLACEMENTS[placement], placement, tasks=HALOS, options=["steps=2"])
    assert done.status == 0, done.text
    assert (done.results / "halos.csv").read_text().startswith("iteration,")


@pytest.mark.test_all
def test_in_a_process_of_its_own(tmp_path):
    """The worker gets the files that the session found, although the environment names them by a relative path."""
    own = HALOS.replace("halo: 1,", "halo: 1, isolate: process,")
    folder = Path(os.environ["SIDESTREAM_FIELD_PROGRAM"]).parents[2] / "src/modules"
    environment = {"SIDESTREAM_MODULES": os.path.relpath(folder)}
    done = run(tmp_path, 3, CORES, tasks=own, options=["steps=2"], environment=environment)
    assert done.status == 0, done.text
    assert (done.results / "halos.csv").read_text().startswith("iteration,")


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_missing_module_is_named(tmp_path, placement):
    (tmp_path / "nothing").mkdir()
    environment = {"SIDESTREAM_MODULES": str(tmp_path / "nothing")}
    done = run(tmp_path, PLACEMENTS[placement], placement, tasks=SLICE, options=["steps=2"], environment=environment)
    assert done.status != 0
    assert "found 'slice', which the module sidestream_visualisation has" in done.text, done.text
    assert f"no such module in {tmp_path / 'nothing'}" in done.text, done.text


@pytest.mark.test_all
def test_a_missing_folder_of_modules_is_said(tmp_path):
    environment = {"SIDESTREAM_MODULES": str(tmp_path / "nowhere")}
    done = run(tmp_path, 2, "inline", tasks=HALOS, options=["steps=2"], environment=environment)
    assert done.status != 0
    assert f"SIDESTREAM_MODULES names '{tmp_path / 'nowhere'}', expected a folder" in done.text, done.text


def test_a_run_that_needs_no_module_opens_none(tmp_path):
    """The file is not a library, so that the run would fail if it opened the file."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "sidestream_cosmology.so").write_text("no library")
    environment = {"SIDESTREAM_MODULES": str(folder)}
    # The program registers the second analysis after it has opened the session.
    tasks = STATISTICS + "  - fail: {variable: t, at: 100, how: error}\n"
    done = run(tmp_path, 2, "inline", tasks=tasks, options=["steps=2"], environment=environment)
    assert done.status == 0, done.text
    other = tmp_path / "other"
    other.mkdir()
    done = run(other, 2, "inline", tasks=HALOS, options=["steps=2"], environment=environment)
    assert done.status != 0
    assert "sidestream_cosmology.so" in done.text and "cannot be loaded" in done.text, done.text


def test_a_run_opens_only_the_modules_that_it_needs(tmp_path):
    """A link leads to the module with slices; the other file, which is not a library, is not opened."""
    folder = tmp_path / "modules"
    folder.mkdir()
    built = Path(os.environ["SIDESTREAM_FIELD_PROGRAM"]).parents[2] / "src/modules"
    (folder / "sidestream_visualisation.so").symlink_to(built / "sidestream_visualisation.so")
    (folder / "sidestream_cosmology.so").write_text("no library")
    environment = {"SIDESTREAM_MODULES": str(folder)}
    done = run(tmp_path, 2, "inline", tasks=SLICE, options=["steps=2"], environment=environment)
    assert done.status == 0, done.text
    assert (done.results / "slice.vtp").is_file(), done.text


def test_the_command_knows_modules(tmp_path):
    shown = tool("reference", "halos")
    assert shown.returncode == 0 and shown.stderr == ""
    assert shown.stdout.startswith("### halos"), shown.stdout[:200]
    (tmp_path / "nothing").mkdir()
    shown = tool("reference", SIDESTREAM_MODULES=str(tmp_path / "nothing"))
    assert shown.returncode == 0 and "### statistics" in shown.stdout and "### halos" not in shown.stdout
    (tmp_path / "nothing/sidestream_broken.so").write_text("no library")
    shown = tool("reference", "statistics", SIDESTREAM_MODULES=str(tmp_path / "nothing"))
    assert shown.returncode == 0 and "sidestream_broken.so" in shown.stderr and "### statistics" in shown.stdout


@pytest.mark.parametrize(
    ("tasks", "kind", "module"),
    [
        (HALOS, "halos", "cosmology"),
        ("outputs:\n  - netcdf: {}\n", "netcdf", "climate"),
        ("outputs:\n  - bp: {}\n", "bp", "bp"),
        ("outputs:\n  - stream: {}\n", "stream", "staging"),
    ],
)
def test_check_names_a_missing_module(tmp_path, tasks, kind, module):
    if f"without  the module {module} " in tool("--version").stdout:
        pytest.skip(f"the module {module} is switched off: its absence is NOT TESTED")
    file = Path(tmp_path) / "run.yaml"
    mesh = "meshes: {grid: {type: uniform, size: [4, 4, 4]}}\nvariables: {t: {mesh: grid, type: float64}}\n"
    file.write_text("placement: inline\n" + mesh + tasks)
    assert tool("check", str(file)).returncode == 0 or kind == "bp"  # this build may lack ADIOS2
    (tmp_path / "nothing").mkdir()
    done = tool("check", str(file), SIDESTREAM_MODULES=str(tmp_path / "nothing"))
    assert done.returncode != 0
    assert f"run.yaml:5:5: found '{kind}', which the module sidestream_{module} has" in done.stdout + done.stderr


def test_placement_job_needs_a_module(tmp_path):
    (tmp_path / "nothing").mkdir()
    environment = {"SIDESTREAM_MODULES": str(tmp_path / "nothing")}
    missing = "which the module sidestream_staging has, and found no such module in " + str(tmp_path / "nothing")
    done = run(tmp_path, 3, "{mode: job, per_node: 1}", tasks=STATISTICS, options=["steps=2"], environment=environment)
    assert done.status != 0
    assert "found 'job', " + missing in done.text, done.text
    done = tool("check", str(tmp_path / "run.yaml"), **environment)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "run.yaml:1:1: found 'job', " + missing in said and said.count(missing) == 1, said
    assert "SIDESTREAM_WITH_STAGING=ON" in said
    done = tool("endpoint", str(tmp_path / "run.yaml"), **environment)
    assert done.returncode != 0
    assert "found 'stream', " + missing in done.stdout + done.stderr


def test_servers_of_a_sidecar_send_no_stream(tmp_path):
    """`check` says what a run says, and the clients end before they wait for servers."""
    if "without  the module staging " in tool("--version").stdout:
        pytest.skip("the module staging is switched off: its output is NOT TESTED")
    said = "found the output 'stream', which the servers of a sidecar cannot send; remove it"
    tasks = "outputs:\n  - stream: {directory: streams}\n"
    done = run(tmp_path, 2, "{mode: sidecar, buffer: 32 MiB}", tasks=tasks, options=["steps=2"])
    assert done.status != 0
    assert said in done.text, done.text
    done = tool("check", str(tmp_path / "run.yaml"))
    assert done.returncode == 1
    assert said in done.stdout + done.stderr


def test_the_library_links_nothing_of_modules():
    """ADIOS2 is needed by modules only, so that runs without them do not load it."""
    library = Path(os.environ["SIDESTREAM_FIELD_PROGRAM"]).parents[2] / "src/libsidestream.so"
    said = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "libmpi" in said
    assert "adios2" not in said
