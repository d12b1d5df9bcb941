"""Runs that are told to end: all ranks leave their loops after the same iteration, whose checkpoint is written although
it is not due, and a run that goes on from there gives the bits of one that was never told.

Ranks need their neighbours' values in each step. So ranks that ended at different iterations would hang, and the time
limits of runs are part of the check.
"""

import csv
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from launched import run_in_job
from pairs import few
from programs import built

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "storage"))
import database_reader

PROGRAM = built("SIDESTREAM_ENDING_PROGRAM")
LIMIT = 60

CONFIGURATION = """\
placement: {PLACEMENT}
output: {{directory: {FOLDER}/results, existing: {EXISTING}}}
meshes: {{grid: {{type: uniform, size: [$n]}}}}
variables: {{u: {{mesh: grid}}}}
analyses:
  - statistics: {{variable: u}}
  - histogram: {{variable: u, bins: 7, every: 2}}
outputs:
  - database: {{variables: [u], every: 1000, directory: "checkpoints"}}
  - database: {{name: kept, kind: post, variables: [u], every: 1000, directory: "posts"}}
"""
ENDING = "ending: {signals: [USR1, TERM], margin: 1 h}\n"

# Placements with the number of ranks that are not clients.
DEDICATED = {
    "inline": 0,
    "{mode: cores, buffer: 32 MiB}": 1,
    "{mode: cores, buffer: 32 MiB, per_node: 2, max_in_flight: 2}": 2,
    "{mode: cores, buffer: 32 MiB, pretend_nodes: 2}": 2,
    "{mode: cores, buffer: 32 MiB, per_node: 2, groups: {a: 1, b: 1}}": 2,
    "{mode: nodes, buffer: 32 MiB, servers: 2}": 2,
    "{mode: nodes, buffer: 32 MiB, servers: 3, progress: calls}": 3,
    "{mode: nodes, servers: 1, buffer: 32 MiB, forward: blocks}": 2,
}
INLINE, CORES, CORES_2, NODES_2, GROUPS, NODES, CALLS, BLOCKS = DEDICATED


@dataclass
class Done:
    status: int
    text: str
    results: Path

    def __getattr__(self, name):
        """A number that rank 0 prints."""
        return int(re.search(rf"\b{name}=(-?\d+)", self.text)[1])

    def table(self, name="statistics.csv"):
        return (self.results / name).read_text().splitlines()

    def contexts(self, folder="checkpoints"):
        """The contexts of a database, by cycle."""
        place = self.results / folder
        return {int(c.entry["cycle"]): c for c in database_reader.contexts(place).values()} if place.exists() else {}


def run(folder, ranks, placement, ending=ENDING, existing="refuse", slow="", **options):
    folder.mkdir(parents=True, exist_ok=True)
    text = CONFIGURATION.format(PLACEMENT=placement, FOLDER=folder, EXISTING=existing)
    if "groups" in placement:
        text = text.replace('every: 1000, directory: "c', 'every: 1000, group: b, directory: "c')
        text = text.replace("bins: 7", "bins: 7, group: b")
    (folder / "run.yaml").write_text(text.replace("outputs:", slow + "outputs:") + ending)
    words = [f"{key}={value}" for key, value in options.items()]
    done = Done(
        *run_in_job(PROGRAM, ranks, folder / "printed", [folder / "run.yaml", *words], LIMIT), folder / "results"
    )
    assert done.status == 0, done.text
    assert "error" not in done.text, done.text
    return done


def rows(done, name="statistics.csv"):
    """The iterations in a table."""
    return [int(line.split(",")[0]) for line in done.table(name)[1:]]


def check_ended(done, at, latest):
    """Checks that the run ended soon after iteration `at`, complete, with a checkpoint of its last iteration."""
    assert at <= done.last <= latest, done.text
    assert done.iterations == done.delivered == done.last + 1, done.text
    assert rows(done) == list(range(done.last + 1))
    assert list(done.contexts()) == sorted({0, done.last})
    assert list(done.contexts("posts")) == [0]  # a database of the kind `post` keeps its schedule


def check_same(done, folder):
    """Checks that the results have the bytes of a run that ended there by itself."""
    undisturbed = run(folder, 1, INLINE, ending="", most=done.last + 1)
    assert undisturbed.last == -1
    for name in ("statistics.csv", "histogram.csv"):
        assert done.table(name) == undisturbed.table(name), name


def who(of, ranks, dedicated):
    """The ranks that get the signal. Servers come last in all placements, but for the pretended nodes."""
    clients = ranks - dedicated
    return {"all": range(ranks), "one": [clients - 1], "servers": range(clients, ranks)}[of]


@pytest.mark.parametrize(
    ("placement", "clients", "of"),
    few(
        [one for one in DEDICATED if one != NODES_2],
        [1, 2, 3, 5],
        ["all", "one", "servers"],
        kept=[
            (INLINE, 3, "one"),
            (CORES, 3, "servers"),
            (GROUPS, 2, "one"),
            (NODES, 3, "one"),
            (CALLS, 2, "all"),
            (BLOCKS, 2, "one"),
        ],
    ),
)
def test_all_ranks_end_together(tmp_path, placement, clients, of):
    if of == "servers" and placement == INLINE:
        pytest.skip("no ranks are servers only")
    if of == "servers" and placement == BLOCKS:
        of = "all"  # one of the two is a forwarder
    ranks = clients + DEDICATED[placement]
    chosen = ",".join(map(str, who(of, ranks, DEDICATED[placement])))
    done = run(tmp_path / "told", ranks, placement, at=6, who=chosen, pause_us=2000)
    # Clients that were not told themselves may be ahead of their servers.
    check_ended(done, 6, 7 if placement == INLINE else 6 + 3 + 8)
    check_same(done, tmp_path / "alone")


def test_a_rank_without_blocks(tmp_path):
    done = run(tmp_path / "told", 5, CORES, at=3, who=0, cells=2)
    check_ended(done, 3, 14)


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", [NODES, INLINE, CORES])
def test_a_run_goes_on_from_the_checkpoint(tmp_path, placement):
    """Together both runs have the rows of one that was never told."""
    ranks = 2 + DEDICATED[placement]
    done = run(tmp_path / "told", ranks, placement, at=4, who=1)
    check_ended(done, 4, 15)
    goes_on = run(
        tmp_path / "told",
        ranks + 1,
        placement,
        existing="resume",
        restart=tmp_path / "told" / "results" / "checkpoints",
        most=30,
    )
    assert goes_on.last == -1
    alone = run(tmp_path / "alone", 1, INLINE, ending="", most=30)
    without_index = [[row.split(",", 1)[1] for row in one.table()] for one in (goes_on, alone)]
    assert without_index[0] == without_index[1]


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", [NODES, INLINE, CORES])
def test_a_signal_before_the_first_iteration(tmp_path, placement):
    done = run(tmp_path, 2 + DEDICATED[placement], placement, when="open", who="0")
    check_ended(done, 0, 10)


def test_two_signals_and_one_while_closing(tmp_path):
    done = run(tmp_path / "twice", 3, CORES, at=5, who="0,1,2", twice=1)
    check_ended(done, 5, 16)
    late = run(tmp_path / "late", 3, CORES, when="close", who="0,1,2", most=4)
    assert (late.last, late.delivered) == (-1, 4), late.text


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_the_programs_own_handler_runs(tmp_path, number):
    """The program itself checks that its disposition is back after close."""
    for handles in (0, 1):
        done = run(tmp_path / str(handles), 3, CORES, at=5, who="0,1,2", signal=int(number), handler=handles, twice=1)
        check_ended(done, 5, 16)
        assert done.handled in ((1, 2) if handles else (0,)), done.text  # two pending signals may become one


def test_without_the_section_nothing_is_caught(tmp_path):
    done = run(tmp_path, 3, CORES, ending="", at=5, who="0,1", handler=1, most=12)
    assert (done.last, done.iterations, done.handled) == (-1, 12, 1), done.text


def test_a_program_that_goes_on(tmp_path):
    done = run(tmp_path, 3, CORES, at=5, who="0,1,2", goes_on=1, most=40)
    assert 5 <= done.last < 20 and done.iterations == done.delivered == 40, done.text
    assert list(done.contexts()) == [0, done.last]


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", [NODES, INLINE, CORES])
def test_a_time_limit(tmp_path, placement):
    """The time is over at once, but for the margin."""
    limited = ENDING.replace("signals: [USR1, TERM], ", "time_limit: 3600.2 s, ")
    done = run(tmp_path, 2 + DEDICATED[placement], placement, ending=limited, pause_us=20000)
    check_ended(done, 0, 1000)


def test_off_and_a_missing_limit(tmp_path, monkeypatch):
    done = run(tmp_path / "off", 2, "'off'", at=3, who=0, handler=1, most=6)
    assert (done.last, done.handled) == (-1, 1)
    folder = tmp_path / "job"
    job = "ending: {time_limit: job, margin: 1 min}\n"
    with pytest.raises(AssertionError, match=r"time_limit: job' .* SLURM_JOB_END_TIME is not set, expected a number"):
        run(folder, 2, INLINE, ending=job, most=3)
    monkeypatch.setenv("SLURM_JOB_END_TIME", "0")
    with pytest.raises(AssertionError, match=r"SLURM_JOB_END_TIME is '0', a time that has passed, expected"):
        run(folder, 2, INLINE, ending=job, most=3)


def reasons(done):
    """Outcome and reason of each iteration."""
    with (done.results / "iterations.csv").open() as file:
        return {int(row["iteration"]): (row["outcome"], row["reason"]) for row in csv.DictReader(file)}


SLOW = "  - sleep: {variable: u, seconds: 0.1}\n"


@pytest.mark.keep(1)
@pytest.mark.parametrize("placement", [CORES, NODES])
def test_servers_that_are_behind_drop_what_they_have_not_begun(tmp_path, placement):
    """Servers have eight iterations to do, for which they would need longer than half of the margin."""
    short = ENDING.replace("1 h", "600 ms")
    done = run(tmp_path, 2 + DEDICATED[placement], placement, ending=short, slow=SLOW, at=8, who="0,1", most=50)
    assert 8 < done.last < 30 and done.refused > 0 and done.unknown == 0, done.text
    assert done.delivered + done.refused == done.iterations == done.last + 1, done.text
    assert list(done.contexts()) == [0, done.last]
    late = {n: reason for n, (outcome, reason) in reasons(done).items() if outcome == "refused"}
    assert len(late) == done.refused and done.last not in late
    for reason in late.values():
        assert "the time to end was over before the servers began it" in reason or "drain_limit was over" in reason
        assert "statistics left out" in reason and "sleep left out" in reason
    said = re.search(r"iterations (\d+) to (\d+): not all was done, .*; left out: (.*)", done.text)
    assert int(said[1]) == min(late) and int(said[2]) in (max(late), done.last), done.text
    assert re.search(r"statistics \d+ times", said[3]), done.text
    assert set(rows(done)) == {n for n, (outcome, _) in reasons(done).items() if outcome == "delivered"} - {
        done.last
    } or (done.last in rows(done))


@pytest.mark.parametrize("placement", ["{mode: cores, buffer: 32 MiB, when_full: skip, max_in_flight: 2}"])
def test_the_last_iteration_has_room_when_others_are_skipped(tmp_path, placement):
    done = run(tmp_path, 3, placement, slow=SLOW, at=8, who="0", pause_us=5000, most=200)
    assert 8 <= done.last < 200 and done.refused > 0, done.text
    assert rows(done)[-1] == done.last == list(done.contexts())[-1]


def test_closing_keeps_to_the_time(tmp_path):
    """The signal comes in the last iteration of a loop that nobody leaves early, so the backlog is there at close."""
    short = ENDING.replace("1 h", "600 ms")
    done = run(tmp_path, 3, CORES, ending=short, slow=SLOW, at=8, who="0,1", most=9)
    assert done.last == -1 and done.dropped > 0, done.text
    assert done.delivered + done.refused == done.iterations == 9, done.text
