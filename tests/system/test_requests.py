"""People ask a running session for analyses that are not in its configuration (`sidestream ask`).

Such an analysis has the same bytes as one of the configuration, in every placement. No request changes the results of
the configured analyses, the outcome of an iteration or the end of the run.
"""

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sidestream
from programs import built
from support import MPIRUN, PROGRAM, VARIABLES, wait_for

TOOL = built("SIDESTREAM_TOOL")
LIMIT = 90

RENDER = "render: {slice: {variable: t, axis: z, position: 0.4}, size: [96, 64], file: "
CONFIGURED = f"""\
analyses:
  - statistics: {{variable: t}}
  - {RENDER}"same-{{index:05}}.png"}}
"""


class Simulation:
    """The field program, which runs until it is told to stop."""

    def __init__(
        self, folder, ranks, placement, live="{requests: yes}", analyses=CONFIGURED, variables=VARIABLES, **options
    ):
        self.folder, self.results, self.stop = folder, folder / "results", folder / "stop"
        # Servers that are behind take no request, which on a busy machine they would always be.
        if placement != "inline" and options.pop("waits", True):
            placement = placement[:-1] + ", max_in_flight: 1}"
        live = f"live: {live}\n" if live else ""
        text = f"placement: {placement}\noutput: {{directory: {self.results}}}\n{live}{variables}{analyses}"
        (folder / "run.yaml").write_text(text)
        words = {"steps": 10**8, "pause_ms": 20, "grid": 12, "until": self.stop} | options
        self.servers = None
        self.process = subprocess.Popen(
            [MPIRUN, "-n", str(ranks), PROGRAM, str(folder / "run.yaml"), *(f"{k}={v}" for k, v in words.items())],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def serve(self, command):
        """Starts the servers, as a job of their own: `serve` or `endpoint`."""
        self.servers = subprocess.Popen(
            [MPIRUN, "-n", "2", TOOL, command, str(self.folder / "run.yaml"), "--wait", "60"], start_new_session=True
        )

    def ask(self, *words, wait=60):
        """Returns the status and the answer."""
        command = [TOOL, "ask", *words, "--directory", self.results, "--wait", str(wait)]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT)
        return done.returncode, (done.stdout + done.stderr).strip()

    def record(self):
        return json.loads(self.ask()[1])

    def end(self):
        """Stops it and returns what it printed."""
        self.stop.touch()
        text, _ = self.process.communicate(timeout=LIMIT)
        assert self.process.returncode == 0, text
        assert self.servers is None or self.servers.wait(LIMIT) == 0
        return text

    def rows(self, name="iterations.csv"):
        with (self.results / name).open() as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))


@contextlib.contextmanager
def simulation(*arguments, serve="", **options):
    run = Simulation(*arguments, **options)
    try:
        if serve:
            run.serve(serve)
        wait_for(
            lambda: (run.results / ".sidestream-requests/record").exists() or run.process.poll() is not None,
            "the run's mailbox",
        )
        yield run
    finally:
        for process in filter(None, (run.process, run.servers)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def iteration_in(sentence):
    found = re.fullmatch(r"delivered: iteration (\d+)", sentence)
    assert found, sentence
    return int(found[1])


PLACEMENTS = [
    ("inline", 3),
    ("{mode: cores, buffer: 32 MiB, per_node: 2}", 4),
    ("{mode: nodes, buffer: 32 MiB, servers: 2}", 5),
    ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}", 6),
]


@pytest.mark.keep(2)
@pytest.mark.parametrize("placement, ranks", PLACEMENTS)
def test_the_same_bytes_as_configured(tmp_path, placement, ranks):
    with simulation(tmp_path, ranks, placement) as run:
        for name in ("one", "two"):
            status, said = run.ask(f'{RENDER}"asked/{name}.png"}}')
            assert status == 0, said
            same = run.results / f"same-{iteration_in(said):05}.png"
            wait_for(same.exists, same)
            assert (run.results / f"asked/{name}.png").read_bytes() == same.read_bytes()
        status, said = run.ask("statistics: {variable: p, file: asked/p.csv}")
        assert status == 0 and len((run.results / "asked/p.csv").read_text().splitlines()) >= 3, said
        run.end()
    rows = run.rows()
    assert {row["outcome"] for row in rows} == {"delivered"}
    assert len(run.rows("statistics.csv")) == len(rows)
    assert not (run.results / ".sidestream-requests").exists()
    assert "requests" in {row["task"] for row in run.rows("timings.csv")}


@pytest.mark.keep(1)
@pytest.mark.parametrize("command", ["serve", "endpoint"])
def test_servers_of_their_own(tmp_path, command):
    mode = f"sidecar, per_node: 2, session: ask{os.getpid()}" if command == "serve" else "job"
    stream = f", stream: {{directory: {tmp_path}/streams}}" if command == "endpoint" else ""
    with simulation(tmp_path, 3, f"{{mode: {mode}, buffer: 32 MiB{stream}}}", serve=command) as run:
        for name in ("one", "two"):
            status, said = run.ask(f'{RENDER}"asked/{name}.png"}}')
            assert status == 0, said
            same = run.results / f"same-{iteration_in(said):05}.png"
            wait_for(same.exists, same)
            assert (run.results / f"asked/{name}.png").read_bytes() == same.read_bytes()
        run.end()


HOLDERS = [
    ("{mode: cores, buffer: 32 MiB, per_node: 2}", 4),
    ("{mode: nodes, buffer: 32 MiB, servers: 2}", 5),
    ("{mode: nodes, servers: 2, buffer: 32 MiB, forward: blocks}", 6),
    ("sidecar", 3),
    ("job", 3),
]
STILL = VARIABLES + "  s: {mesh: grid, type: float64, time_varying: false}\n"


@pytest.mark.keep(2)
@pytest.mark.parametrize("placement, ranks", HOLDERS)
def test_the_last_iteration_while_the_simulation_computes(tmp_path, placement, ranks):
    """The simulation stands still in iteration 3, whose values it has published."""
    serve = {"sidecar": "serve", "job": "endpoint"}.get(placement, "")
    if placement == "sidecar":
        placement = f"{{mode: sidecar, per_node: 2, session: held{os.getpid()}, buffer: 32 MiB}}"
    elif placement == "job":
        placement = f"{{mode: job, buffer: 32 MiB, stream: {{directory: {tmp_path}/streams}}}}"
    options = {"gate": tmp_path / "gate", "gate_at": 3, "still": 1, "ghosts": 1, "blocks": 2}
    live = "{requests: yes, hold: [t, s]}"
    # To an endpoint only what is used or held moves.
    more = "  - statistics: {name: used, variable: p, file: used.csv}\n" if serve == "endpoint" else ""
    analyses = CONFIGURED + more
    with simulation(tmp_path, ranks, placement, live, analyses, STILL, serve=serve, **options) as run:
        wait_for((run.results / "same-00002.png").exists, "iteration 2")
        for name in ("one", "two"):
            status, said = run.ask(f'{RENDER}"asked/{name}.png"}}')
            assert (status, said) == (0, "delivered: iteration 2")
            assert (run.results / f"asked/{name}.png").read_bytes() == (run.results / "same-00002.png").read_bytes()
        assert run.ask("statistics: {variable: s, file: asked/s.csv}") == (0, "delivered: iteration 2")
        status, said = run.ask("statistics: {variable: tt, file: asked/t.csv}")
        assert said.startswith("refused:"), said
        status, said = run.ask("statistics: {variable: t, file: asked/t.csv, every: 1}")
        assert said == "accepted: asked-4 runs from iteration 3 on", said
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(run.ask, "statistics: {variable: p, file: asked/p.csv}")  # it is not held
            time.sleep(0.5)
            assert not waiting.done() and not (run.results / "same-00003.png").exists()
            (tmp_path / "gate").touch()
            assert iteration_in(waiting.result()[1]) >= 3
        run.end()
    rows = run.rows()
    assert {row["outcome"] for row in rows} == {"delivered"} and len(run.rows("statistics.csv")) == len(rows)
    assert run.rows("asked/t.csv")[0] == run.rows("statistics.csv")[3]
    (still,) = run.rows("asked/s.csv")
    assert float(still["minimum"]) < float(still["maximum"])


def test_a_held_iteration_answers_again_and_again(tmp_path):
    """The same file may be written anew, and a name with {index} gets a version."""
    options = {"gate": tmp_path / "gate", "gate_at": 2}
    live = "{requests: yes, hold: [t]}"
    with simulation(tmp_path, 4, "{mode: cores, buffer: 32 MiB, per_node: 2}", live, **options) as run:
        wait_for((run.results / "same-00001.png").exists, "iteration 1")
        pictures = []
        for axis in "xyx":
            text = (
                f'render: {{slice: {{variable: t, axis: {axis}, position: 0.4}}, size: [96, 64], file: "asked/a.png"}}'
            )
            assert run.ask(text) == (0, "delivered: iteration 1")
            pictures.append((run.results / "asked/a.png").read_bytes())
        assert pictures[0] == pictures[2] != pictures[1]
        for _ in range(2):
            assert run.ask(f'{RENDER}"asked/b-{{index:05}}.png"}}') == (0, "delivered: iteration 1")
        first, second = sorted((run.results / "asked").glob("b-*.png"))
        assert first.read_bytes() == second.read_bytes() == (run.results / "same-00001.png").read_bytes()
        for n in range(20):  # more than servers keep plans
            assert run.ask(f"histogram: {{variable: t, bins: {n + 2}, file: asked/h-{n}.csv}}")[0] == 0
        (tmp_path / "gate").touch()
        run.end()
    assert {row["outcome"] for row in run.rows()} == {"delivered"}


NOT_HELD = [
    ("{mode: cores, buffer: 32 MiB, per_node: 2}", "{requests: yes, hold: [p]}"),
    (
        "{mode: nodes, servers: 2, buffer: 32 MiB, partitioner: {slice: {origin: [0.5, 0.5, 0.4], normal: [0, 0, 1]}}}",
        "{requests: yes, hold: [t]}",
    ),
]


@pytest.mark.parametrize("placement, live", NOT_HELD)
def test_what_is_not_held_waits_for_the_next_iteration(tmp_path, placement, live):
    with (
        simulation(tmp_path, 4, placement, live, gate=tmp_path / "gate", gate_at=2) as run,
        ThreadPoolExecutor(1) as pool,
    ):
        wait_for((run.results / "same-00001.png").exists, "iteration 1")
        waiting = pool.submit(run.ask, "statistics: {variable: t, file: asked/t.csv}")
        time.sleep(0.5)
        assert not waiting.done()
        (tmp_path / "gate").touch()
        assert iteration_in(waiting.result()[1]) >= 2
        run.end()
        (row,) = run.rows("asked/t.csv")
        assert row in run.rows("statistics.csv")


@pytest.mark.test_all  # it waits for longer than servers are patient with requests that cannot run
def test_a_slow_simulation_refuses_nobody(tmp_path):
    with simulation(tmp_path, 3, "{mode: cores, buffer: 32 MiB}", gate=tmp_path / "gate", gate_at=1) as run:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(run.ask, "statistics: {variable: t, file: asked/t.csv}")
            time.sleep(33)
            assert not waiting.done()
            (tmp_path / "gate").touch()
            iteration_in(waiting.result()[1])
        run.end()


def test_without_a_held_iteration_requests_are_taken_up_at_once(tmp_path):
    options = {"gate": tmp_path / "gate", "gate_at": 1}
    with simulation(tmp_path, 4, "{mode: cores, buffer: 32 MiB, per_node: 2}", **options) as run:
        wait_for((run.results / "same-00000.png").exists, "iteration 0")
        status, said = run.ask("statistics: {variable: tt, file: asked/t.csv}")
        assert status == 1 and said.startswith("refused:"), said
        assert run.ask("statistics: {variable: t, file: asked/t.csv, every: 1}")[0] == 0
        assert run.ask("--end", "asked-1") == (0, "accepted: asked-1 has ended; it ran in 0 iterations")
        (tmp_path / "gate").touch()
        run.end()
    assert {row["outcome"] for row in run.rows()} == {"delivered"}


@pytest.mark.parametrize(
    "live, sentence",
    [("{hold: [t]}", "found 'hold' without 'requests: yes'"), ("{requests: yes, hold: [u]}", "expected a declared")],
)
def test_what_cannot_be_held(tmp_path, live, sentence):
    run = Simulation(tmp_path, 3, "{mode: cores, buffer: 32 MiB}", live, steps=1)
    text, _ = run.process.communicate(timeout=LIMIT)
    assert run.process.returncode != 0 and sentence in text, text


def test_from_now_on_until_it_is_ended(tmp_path):
    with simulation(tmp_path, 3, "{mode: cores, buffer: 32 MiB}") as run:
        status, said = run.ask(f'{RENDER}"asked/{{index:05}}.png", every: 5}}')
        found = re.fullmatch(r"accepted: (asked-\d+) runs from iteration \d+ on", said)
        assert status == 0 and found, said
        assert [one["name"] for one in run.record()["running"]] == [found[1]]
        pictures = lambda: sorted((run.results / "asked").glob("*.png"))  # noqa: E731
        wait_for(lambda: len(pictures()) >= 3, "three pictures")
        status, said = run.ask("--end", found[1])
        count = re.fullmatch(rf"accepted: {found[1]} has ended; it ran in (\d+) iterations(, and missed \d+.*)?", said)
        assert status == 0 and count, said
        assert int(count[1]) == len(pictures())
        all_of_them = pictures()
        assert run.record()["running"] == []
        status, said = run.ask("--end", found[1])
        assert status == 1 and said.startswith(f"refused: no analysis '{found[1]}' goes on"), said
        run.ask("statistics: {variable: t, file: asked/t.csv}")
        assert pictures() == all_of_them
        run.end()
    for picture in all_of_them:
        assert int(picture.stem) % 5 == 0
        assert picture.read_bytes() == (run.results / f"same-{picture.stem}.png").read_bytes()


def test_nothing_to_see_is_said_to_the_person_who_asked(tmp_path):
    with simulation(tmp_path, 3, "{mode: cores, buffer: 32 MiB}") as run:
        for text, sentence in {
            "isosurface: {variable: t, values: [9], file: asked/s.vtp}": "its values reach from",
            'render: {isosurface: {variable: t, values: [9]}, file: "asked/s.png"}': "its values reach from",
        }.items():
            status, said = run.ask(text)
            assert status == 0 and re.match(r"delivered: iteration \d+, but .*", said) and sentence in said, said
        iteration_in(run.ask("slice: {variable: t, axis: z, position: 0.5, file: asked/c.vtp}")[1])
        run.end()


REFUSED = {
    "statistics: {variable: tt, file: asked/a.csv}": "expected a declared variable (t, p)",
    "statistik: {variable: t, file: asked/a.csv}": "did you mean 'statistics'?",
    "statistics: {variable: t, file: a.csv}": "expected one in the folder 'asked'",
    "statistics: {variable: t, file: asked/../statistics.csv}": "expected one in the folder 'asked'",
    "statistics: {variable: t, file: /tmp/asked/a.csv}": "expected one in the folder 'asked'",
    "time_statistics: {variables: [t], window: 3, makes: s}": "its result is a mesh ('makes')",
    "median: {variable: t}": "found the unknown analysis 'median' in a request, expected one of",
    "statistics: {variable: t, file: asked/a.png}": "'.png', expected one of",
    "statistics: {variable: t, file: asked/a.csv, isolate: process}": "found 'isolate' in a request",
    "statistics: {variable: t, file: asked/a.csv, name: mine}": "found 'name' in a request",
    "statistics: {variable: t, file: asked/a.csv, on: dump}": "found 'on' in a request",
    "python: {script: x.py, function: f, variables: [t]}": "it would run any code",
    "hdf5: {variables: [t]}": "a request is an analysis; write the output into the configuration",
    "{statistics: {variable: t": "the request:",
    "statistics: {variable: t, file: asked/a.csv}, histogram: {variable: t}": "the request:",
    "[]": "found a list",
    "statistics": "found no 'variable' for the analysis 'statistics'",
    "\t": "found nothing as an entry of 'analyses'",
    "*alias": "found a reference (*name)",
    "a: " + "[" * 2000: "nested too deeply",
}


def test_files_that_are_not_named_lie_in_the_folder(tmp_path):
    """A default name never refuses a request."""
    with simulation(tmp_path, 2, "inline") as run:
        for text in (
            "statistics: {variable: t}",
            "relevance: {variable: t, file: asked/a.vtu}",
            "relevance: {variable: t, table: asked/b.csv}",
        ):
            iteration_in(run.ask(text)[1])
        names = {path.name for path in (run.results / "asked").iterdir()}
        run.end()
    assert {"statistics.csv", "a.vtu", "relevance.csv", "b.csv"} <= names, names


def test_made_variables_are_not_offered(tmp_path):
    made = CONFIGURED + "  - relevance: {variable: t, makes: mix}\n"
    with simulation(tmp_path, 2, "inline", analyses=made) as run:
        said = run.ask("statistics: {variable: pressure}")[1]
        assert "expected a declared variable (t, p); name one of them" in said, said
        assert "time_statistics" not in run.record()["analyses"] and "python" not in run.record()["analyses"]
        run.end()


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement, ranks", PLACEMENTS[:2])
def test_what_is_refused_gets_a_sentence_and_changes_nothing(tmp_path, placement, ranks):
    with simulation(tmp_path, ranks, placement) as run:
        for text, sentence in REFUSED.items():
            status, said = run.ask(text)
            assert status != 0 and sentence in said, (text, said)
            assert said.startswith("refused:"), (text, said)
        status, said = run.ask("x" * 5000)
        assert status != 0 and "expected at most 4094" in said, said
        status, said = run.ask("statistics: {variable: t, file: asked/a.csv}")
        assert status == 0, said
        text = run.end()
    assert "error" not in text, text
    assert {row["outcome"] for row in run.rows()} == {"delivered"}


def test_failures_stay_with_the_person_who_asked(tmp_path):
    """Nobody else learns of a failure, an analysis that takes too long is ended, and `on_error: stop` sees neither."""
    analyses = CONFIGURED + "on_error: stop\n"
    placement, live = "{mode: cores, per_node: 2}", "{requests: yes, budget: 0.2}"
    with simulation(tmp_path, 4, placement, live, analyses) as run:
        status, said = run.ask("sleep: {variable: t, seconds: 0.5}")  # once: however long it takes
        assert status == 0, said
        iteration_in(said)
        for how in ("error", "odd", "combine"):
            status, said = run.ask(f"fail: {{variable: t, at: -1, how: {how}, every: 1}}")
            assert status == 0, said
        status, said = run.ask("fail: {variable: t, at: -1}")
        assert status == 1 and said == "failed: planned failure", said
        status, said = run.ask("sleep: {variable: t, seconds: 0.5, every: 1}")
        assert status == 0, said
        wait_for(lambda: run.record()["running"] == [], "the end of all of them")
        text = run.end()
    assert "asked-2 has ended: planned failure" in text, text
    assert "asked-4 has ended: planned failure in combine" in text, text
    assert re.search(r"asked-6 has ended: it took 0\.\d+ s in iteration \d+, expected at most 0\.2 s", text), text
    assert {row["outcome"] for row in run.rows()} == {"delivered"}


def test_values_that_cannot_be_assembled_cost_only_the_request(tmp_path):
    """The partitioner refuses p. The iteration is assembled again without it."""
    with simulation(tmp_path, 4, "{mode: nodes, servers: 2, buffer: 32 MiB, partitioner: light}") as run:
        for often in ("", ", every: 1"):
            status, said = run.ask(f"statistics: {{variable: p, file: asked/p.csv{often}}}")
            assert (status, said[:7]) == ((0, "accepte") if often else (1, "failed:")), said
            assert often or "too many values" in said, said
        wait_for(lambda: run.record()["running"] == [], "the end of the one that goes on")
        status, said = run.ask(f'{RENDER}"asked/one.png"}}')
        assert status == 0, said
        same = run.results / f"same-{iteration_in(said):05}.png"
        wait_for(same.exists, same)
        assert (run.results / "asked/one.png").read_bytes() == same.read_bytes()
        text = run.end()
    assert "asked-2 has ended: too many values" in text and "error" not in text, text
    assert {row["outcome"] for row in run.rows()} == {"delivered"}
    assert len(run.rows("statistics.csv")) == len(run.rows())


@pytest.mark.test_all  # it waits for half a minute
def test_a_request_that_cannot_run_is_refused_with_the_reason(tmp_path):
    with simulation(tmp_path, 2, "inline") as run:
        status, said = run.ask("statistics: {variable: t, file: asked/t.csv, start: 100000000}")
        assert status == 1 and said.startswith("refused: in 30 s there was no iteration in which it could run:"), said
        assert said.endswith("no iteration came that its 'every', 'start' and 'end' name"), said
        run.end()


def test_times_and_outcomes_come_while_the_run_goes_on(tmp_path):
    with simulation(tmp_path, 3, "{mode: cores, buffer: 32 MiB}") as run:
        for name, word in ((".timings.csv.rows", b",server,"), (".iterations.csv.rows", b",delivered,")):
            part = run.results / name
            wait_for(lambda part=part, word=word: part.exists() and word in part.read_bytes(), name, 20)
        run.end()
    assert not list(run.results.glob(".*.rows"))
    rows = run.rows()
    assert [int(row["iteration"]) for row in rows] == list(range(len(rows)))


def test_python_asks(tmp_path):
    with simulation(tmp_path, 3, "{mode: cores, buffer: 32 MiB}") as run:
        said = sidestream.ask(run.results, {"histogram": {"variable": "t", "file": "asked/h.csv"}})
        iteration_in(said)
        assert (run.results / "asked/h.csv").exists()
        said = sidestream.ask(run.results, {"histogram": {"variable": "tt", "file": "asked/h.csv"}})
        assert said.startswith("refused: the request:1:"), said
        said = sidestream.ask(run.results, 'statistics: {variable: t, every: 2, file: "asked/s.csv"}')
        assert said.startswith("accepted: asked-"), said
        assert " has ended; it ran in " in sidestream.ask(run.results, f"end {said.split()[1]}")
        run.end()


@pytest.mark.test_all
def test_many_ask_at_the_same_time(tmp_path):
    """Some get a refusal because there are too many, everybody gets an answer, and the limit is for the moment only."""
    with simulation(tmp_path, 3, "inline", pause_ms=100) as run:
        texts = [f"histogram: {{variable: t, file: asked/h{n}.csv}}" for n in range(24)]
        with ThreadPoolExecutor(24) as pool:
            answers = list(pool.map(run.ask, texts))
        for n, (status, said) in enumerate(answers):
            if status == 0:
                iteration_in(said)
            else:
                assert "16 analyses have been asked for already" in said, said
            assert (run.results / f"asked/h{n}.csv").exists() == (status == 0)
        assert sum(status == 0 for status, _ in answers) >= 16
        status, said = run.ask(texts[0])
        assert status == 0, said
        run.end()


def test_the_run_ends_before_the_answer(tmp_path):
    with simulation(tmp_path, 2, "inline") as run, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(run.ask, "statistics: {variable: t, file: asked/t.csv, start: 100000000}")
        time.sleep(1)
        run.end()
        status, said = waiting.result()
    assert status == 1 and said == "refused: the run is ending; no iteration comes any more", said


def test_busy_servers_put_requests_off(tmp_path):
    analyses = "analyses: [sleep: {variable: t, seconds: 0.02}]\n"
    placement = "{mode: cores, buffer: 8 MiB}"
    with (
        simulation(tmp_path, 2, placement, analyses=analyses, pause_ms=0, waits=False) as run,
        ThreadPoolExecutor(1) as pool,
    ):
        waiting = pool.submit(run.ask, "statistics: {variable: t, file: asked/t.csv}")
        time.sleep(1)
        assert not (run.results / "asked/t.csv").exists()
        run.end()
        _, said = waiting.result()
    # The last iterations have no others behind them, so that there may be spare time.
    assert said.startswith(("delivered:", "refused: the run is ending")), said


def test_nobody_can_ask_unless_it_is_allowed(tmp_path):
    run = Simulation(tmp_path, 2, "inline", live="", steps=5)
    text, _ = run.process.communicate(timeout=LIMIT)
    assert run.process.returncode == 0, text
    status, said = run.ask("statistics: {variable: t, file: asked/t.csv}")
    assert status == 1 and "no session that takes requests runs in" in said and "live: {requests: yes}" in said, said


def test_requests_and_partials_exclude_each_other(tmp_path):
    run = Simulation(tmp_path, 3, "{mode: nodes, servers: 1, forward: partials}", steps=5)
    text, _ = run.process.communicate(timeout=LIMIT)
    assert run.process.returncode != 0 and "found 'requests: yes' with 'forward: partials'" in text, text
