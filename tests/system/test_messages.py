"""The file of messages has what standard error has, in every placement, and costs nothing if it cannot be written."""

import contextlib
import re
import subprocess

import pytest
from job_support import endpoint, simulation, write_configuration
from sidecar_support import Sidecar
from support import Run, needs_small_disks, prepare, run, small_disk, wait_for

PLACEMENTS = {
    "inline": ("inline", 2, {"client"}),
    "cores": ("{mode: cores, buffer: 32 MiB, per_node: 2}", 4, {"server"}),
    "nodes": ("{mode: nodes, buffer: 32 MiB, servers: 2}", 4, {"server"}),
    "partials": ("{mode: nodes, servers: 1, buffer: 32 MiB, forward: partials}", 4, {"server", "forwarder"}),
}
# An error, and warnings of a thread that watches over limits, and at the end.
TASKS = """\
analyses:
  - fail: {variable: t, at: 1}
  - statistics: {variable: t, limit: 0.000001 s}
"""
# Other programs do not know what this one has registered.
ANYWHERE = "analyses:\n  - statistics: {variable: t, limit: 0.000001 s}\n"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|note) (client|server|forwarder) (\d+): (.*)")


def messages(path):
    found = [LINE.fullmatch(line) for line in path.read_text().splitlines()]
    assert all(found), path.read_text()
    return [match.groups() for match in found]


def printed(text):
    """Level and sentence of each message on standard error, in any order."""
    return sorted(re.findall(r"^sidestream: (error|warning|note): (.*)$", text, re.M))


def same(done, *files):
    found = [message for file in files for message in messages(done.results / file)]
    assert sorted((level, text) for level, _, _, text in found) == printed(done.text)
    return found


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_the_file_has_what_standard_error_has(tmp_path, placement):
    mode, ranks, roles = PLACEMENTS[placement]
    done = run(tmp_path, ranks, mode, tasks=TASKS, options=["steps=3", "grid=8"])
    assert done.status == 0, done.text
    found = same(done, "messages.txt")
    assert any(level == "error" and "iteration 1: fail" in text for level, _, _, text in found), found
    assert any(level == "warning" and "limit" in text for level, _, _, text in found), found
    assert {role for level, role, _, text in found if level == "error"} <= roles


def test_resumed_runs_add_lines_and_others_replace_them(tmp_path):
    options = ["steps=2", "grid=8"]
    first = run(tmp_path, 2, "inline", tasks=TASKS, options=options)
    before = (first.results / "messages.txt").read_text()
    output = f"output: {{directory: {tmp_path}/results, existing: EXISTING}}\n"
    again = output.replace("EXISTING", "resume")
    later = run(tmp_path, 2, "inline", TASKS, [*options, "first=2"], again)
    assert later.status == 0, later.text
    both = (first.results / "messages.txt").read_text()
    assert both.startswith(before) and printed(later.text)
    new = [LINE.fullmatch(line).groups() for line in both.removeprefix(before).splitlines()]
    assert sorted((level, text) for level, _, _, text in new) == printed(later.text)
    same(run(tmp_path, 2, "inline", TASKS, options, output.replace("EXISTING", "replace")), "messages.txt")


def test_a_name_that_is_taken_costs_no_iteration(tmp_path):
    (tmp_path / "results" / "messages.txt").mkdir(parents=True)
    output = f"output: {{directory: {tmp_path}/results, existing: resume}}\n"
    done = run(tmp_path, 2, "inline", tasks=TASKS, options=["steps=3", "grid=8"], extra=output)
    assert done.status == 0, done.text
    assert [account["delivered"] for account in done.accounts] == [3, 3]
    assert "messages.txt' lacks messages, which are on standard error only" in done.text
    assert "iteration 1: fail" in done.text


@needs_small_disks
def test_a_full_disk_costs_no_iteration(tmp_path):
    """The disk has become full when the first message comes."""
    with small_disk(tmp_path / "disk", "1m") as disk:
        gate = tmp_path / "gate"
        output = f"output: {{directory: {disk}/results, timings: false}}\n"
        task = "analyses:\n  - fail: {variable: t, at: 1}\n"
        options = ["steps=3", "grid=8", "gate_at=1", f"gate={gate}"]
        command, _ = prepare(tmp_path / "run", 2, "inline", task, options, output)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                wait_for(lambda: (disk / "results" / "run.yaml").exists(), "the start")
                with contextlib.suppress(OSError), (disk / "full").open("wb", buffering=0) as file:
                    while True:
                        file.write(bytes(4096))
                gate.touch()
                text, _ = process.communicate(timeout=60)
            finally:
                process.kill()
        done = Run(process.returncode, text, disk / "results")
        assert done.status == 0, text
        assert [account["delivered"] for account in done.accounts] == [3, 3], text
        assert "messages.txt' lacks messages, which are on standard error only: No space left" in text
        assert "iteration 1: fail" in text


@pytest.mark.test_all
def test_servers_beside_the_simulation_have_a_file_of_their_own(tmp_path):
    beside = Sidecar(tmp_path, ANYWHERE)
    simulation, servers = beside.start(2, "steps=3", "grid=8"), beside.serve()
    assert simulation.wait() == 0 and servers.wait() == 0, simulation.text() + servers.text()
    results = tmp_path / "results"
    for job, file, role in ((simulation, "messages-clients.txt", "client"), (servers, "messages.txt", "server")):
        found = messages(results / file)
        said = [one for one in printed(job.text()) if "waiting for" not in one[1]]
        assert sorted((level, text) for level, _, _, text in found if "waiting for" not in text) == said
        assert said and {one[1] for one in found} == {role}


@pytest.mark.test_all
def test_an_endpoint_has_a_file_of_its_own(tmp_path):
    write_configuration(tmp_path, "engine: files", tasks=ANYWHERE)
    with simulation(tmp_path, 2, ["steps=3", "grid=8"]) as job, endpoint(tmp_path, 2) as reader:
        texts = [one.finish() for one in (reader, job)]
    for (status, text), file in zip(texts, ("endpoint-messages.txt", "messages.txt"), strict=True):
        assert status == 0, texts
        found = messages(tmp_path / "results" / file)
        said = [one for one in printed(text) if "waiting for" not in one[1]]
        assert said and sorted((level, text) for level, _, _, text in found if "waiting for" not in text) == said
