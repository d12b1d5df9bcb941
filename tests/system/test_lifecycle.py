"""Whole runs with schedules, events, existing results and settings in the environment."""

import json

import pytest
from pairs import pairs
from sidecar_support import Job
from support import prepare, run, wait_for

PLACEMENTS = {"inline": 2, "{mode: cores, buffer: 32 MiB, per_node: 1}": 3, "{mode: nodes, servers: 2}": 4}
STATISTICS = "analyses:\n  - statistics: {variable: t}\n"


def iterations(done, name="statistics.csv"):
    lines = (done.results / name).read_text().splitlines()
    return [int(line.split(",")[0]) for line in lines[1:]]


SCHEDULES = [
    ("every: 3", [0, 3, 6, 9]),
    ("every: 20 cycles", [0, 2, 4, 6, 8]),
    ("every: 0.3 time", [0, 3, 6, 9]),
    ("every: 2, start: 3, end: 8", [3, 5, 7]),
    ("on: burst", [5]),
    ("every: 100 s", [0]),
]


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "schedule", "expected"), pairs(PLACEMENTS, SCHEDULES, strength=1))
def test_schedules(tmp_path, placement, schedule, expected):
    tasks = f"analyses:\n  - statistics: {{variable: t, {schedule}}}\n  - histogram: {{variable: t, on: burst}}\n"
    done = run(tmp_path, PLACEMENTS[placement], placement, tasks=tasks, options=["steps=10", "signal_at=5"])
    assert done.status == 0, done.text
    assert iterations(done) == expected


def test_an_earlier_run_is_not_overwritten(tmp_path):
    assert run(tmp_path, 2, "cores", tasks=STATISTICS).status == 0
    before = (tmp_path / "results/statistics.csv").read_bytes()
    again = run(
        tmp_path, 2, "cores", tasks=STATISTICS, extra=f"output: {{directory: {tmp_path}/results, existing: refuse}}\n"
    )
    assert again.status != 0 and len(again.errors) == 2
    assert "earlier run" in again.errors[0] and "output.existing" in again.errors[0]
    assert (tmp_path / "results/statistics.csv").read_bytes() == before
    replaced = run(
        tmp_path,
        2,
        "cores",
        tasks=STATISTICS,
        options=["steps=2"],
        extra=f"output: {{directory: {tmp_path}/results, existing: replace}}\n",
    )
    assert replaced.status == 0 and iterations(replaced) == [0, 1]


def test_a_run_that_fails_to_start_does_not_count_as_an_earlier_run(tmp_path):
    extra = f"output: {{directory: {tmp_path}/results}}\n"
    failed = run(tmp_path, 2, "{mode: cores, buffer: 64 KiB}", tasks=STATISTICS, extra=extra)
    assert failed.status != 0 and "placement.buffer" in failed.errors[0]
    mended = run(tmp_path, 2, "cores", tasks=STATISTICS, extra=extra + "# existing: nothing to replace\n")
    assert mended.status == 0, mended.text


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_resumed_run_continues_tables_and_series(tmp_path, placement):
    tasks = (
        STATISTICS
        + """\
  - slice: {variable: t, axis: z, position: 0.5, file: "s-{cycle:03}.vtp"}
outputs:
  - hdf5: {variables: [t], file: "f-{cycle:03}.h5"}
"""
    )
    ranks = PLACEMENTS[placement]
    assert run(tmp_path, ranks, placement, tasks=tasks, options=["steps=3"]).status == 0
    again = run(
        tmp_path,
        ranks,
        placement,
        tasks=tasks,
        options=["steps=2", "first=3"],
        extra=f"output: {{directory: {tmp_path}/results, existing: resume}}\n",
    )
    assert again.status == 0, again.text
    rows = (again.results / "statistics.csv").read_text().splitlines()
    assert [row.split(",")[1] for row in rows[1:]] == ["0", "10", "20", "30", "40"]
    for series in ("s.vtp.series", "f.h5.series"):
        names = [entry["name"] for entry in json.loads((again.results / series).read_text())["files"]]
        assert [name.split(".")[0][2:] for name in names] == ["000", "010", "020", "030", "040"]
    replaced = run(
        tmp_path,
        ranks,
        placement,
        tasks=tasks,
        options=["steps=1"],
        extra=f"output: {{directory: {tmp_path}/results, existing: replace}}\n",
    )
    assert replaced.status == 0, replaced.text
    for series in ("s.vtp.series", "f.h5.series"):
        assert len(json.loads((again.results / series).read_text())["files"]) == 1


@pytest.mark.keep(2)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_timings_of_every_rank_and_iteration(tmp_path, placement):
    ranks = PLACEMENTS[placement]
    done = run(tmp_path, ranks, placement, tasks=STATISTICS, options=["steps=4"])
    lines = [line.split(",") for line in (done.results / "timings.csv").read_text().splitlines()]
    header, body = lines[0], lines[1:]
    assert header == ["rank", "role", "iteration", "start", "compute", "publish", "wait", "end", "task", "seconds"]
    clients = {(int(r[0]), int(r[2])) for r in body if r[1] == "client"}
    assert clients == {(rank, i) for rank in range(2) for i in range(4)}
    analysed = {int(r[2]) for r in body if r[1] == "server" and r[8] == "statistics"}
    assert analysed == {0, 1, 2, 3}
    assert all(float(x) >= 0 for r in body for x in r[3:8] + r[9:] if x)


def test_the_environment_overrides_the_path(tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(
        "placement: off\n" + "meshes: {grid: {type: uniform, size: [$n, $n, $n]}}\n"
        "variables: {t: {mesh: grid}, p: {mesh: grid, type: float32, centering: node, components: 2, order: row}}\n"
    )
    done = run(tmp_path, 2, "cores", tasks=STATISTICS, environment={"SIDESTREAM_CONFIG": str(other)})
    assert done.status == 0, done.text
    assert len(done.accounts) == 2 and not done.results.exists()


@pytest.mark.parametrize(
    ("placement", "tasks", "words"),
    [
        ("{mode: coers}", STATISTICS, ["run.yaml:1:", "cores"]),
        ("{mode: cores, buffer: 32 MiB, per_node: 3}", STATISTICS, ["run.yaml:1:", "per_node", "rank"]),
        ("{mode: nodes, buffer: 32 MiB, servers: 9}", STATISTICS, ["run.yaml:1:", "servers"]),
        ("inline", "analyses:\n  - statistics: {variable: tt}\n", ["run.yaml:7:", "tt"]),
        ("inline", "analyses:\n  - statistic: {variable: t}\n", ["run.yaml:7:", "statistics"]),
        ("cores", "analyses:\n  - histogram: {variable: t, bnis: 3}\n", ["run.yaml:7:", "bins"]),
        ("cores", "analyses:\n  - histogram: {variable: t, bins: $m}\n", ["run.yaml:7:", "$m"]),
        ("cores", "plugins: [/nowhere/lib.so]\n", ["/nowhere/lib.so"]),
    ],
)
def test_bad_configurations_are_one_sentence_on_every_rank(tmp_path, placement, tasks, words):
    done = run(tmp_path, 3, placement, tasks=tasks)
    assert done.status != 0
    assert len(done.errors) == 3, done.text
    assert len(set(done.errors)) == 1
    for word in words:
        assert word in done.errors[0]


def test_a_missing_file(tmp_path):
    done = run(
        tmp_path,
        3,
        "cores",
        tasks=STATISTICS,
        environment={"SIDESTREAM_CONFIG": f"{tmp_path}/nowhere.yaml"},
    )
    assert done.status != 0 and len(done.errors) == 3 and len(set(done.errors)) == 1
    assert "nowhere.yaml" in done.errors[0]


def test_series_list_every_extract(tmp_path):
    tasks = 'analyses:\n  - slice: {variable: t, axis: z, position: 0.5, file: "s-{index:03}.vtp", every: 2}\n'
    done = run(tmp_path, 2, "cores", tasks=tasks, options=["steps=5"])
    series = json.loads((done.results / "s.vtp.series").read_text())
    assert [entry["name"] for entry in series["files"]] == ["s-000.vtp", "s-002.vtp", "s-004.vtp"]
    assert [round(entry["time"], 6) for entry in series["files"]] == [0, 0.2, 0.4]


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", ["cores", "{mode: nodes, servers: 2, buffer: 8 MiB}"])
def test_servers_say_that_the_simulation_does_not_start(tmp_path, placement):
    """A barrier on MPI_COMM_WORLD in the simulation would wait for the servers, which wait for the simulation."""
    command, _ = prepare(tmp_path, PLACEMENTS.get(placement, 4), placement, STATISTICS, ["world=1"])
    with Job(command, tmp_path / "said.txt") as job:
        wait_for(lambda: "MPI_COMM_WORLD" in job.text() or job.process.poll() is not None, "a word of the servers")
        said = job.text()
    assert "has not started its session" in said and "sidestream_comm" in said
