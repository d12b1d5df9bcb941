"""Advice from timings of earlier runs. Records are written here from formulas, so that the best split is known."""

import csv
import math
import random
import re
import subprocess

import pytest
import yaml
from programs import built
from sidecar_support import TOOL
from support import MPIRUN

WAITING = built("SIDESTREAM_WAITING_PROGRAM")
ITERATIONS = 40
COLUMNS = "rank,role,iteration,start,compute,publish,wait,end,task,seconds"


class Load:
    """Seconds of a step on n clients and of tasks on n servers: constant + shared / n + doubling * log2(n)."""

    def __init__(self, step, tasks):
        self.step, self.tasks = step, tasks

    @staticmethod
    def cost(terms, n):
        return terms[0] + terms[1] / n + terms[2] * math.log2(n)

    def work(self, servers, tasks=None):
        return sum(self.cost(self.tasks[name], servers) for name in tasks or self.tasks)

    def whole(self, mode, clients, servers):
        """Seconds of an iteration. Servers and clients work at the same time, but for the last iteration's tasks."""
        step, work = self.cost(self.step, clients), self.work(servers)
        if mode == "inline":
            return step + work
        return max(step, work) + min(step, work) / ITERATIONS


def splits_of(ranks, nodes):
    """All splits without groups: mode, clients, servers."""
    yield "inline", ranks, ranks
    for each in range(1, ranks // nodes):
        yield "cores", ranks - each * nodes, each * nodes
    for servers in range(1, ranks):
        yield "nodes", ranks - servers, servers


def record(folder, load, split, nodes=1, configuration=None):
    """Writes what a run of the load leaves behind."""
    mode, clients, servers = split
    folder.mkdir(parents=True)
    text = configuration or f"placement: {mode}\nanalyses:\n" + "".join(f"  - {name}: {{}}\n" for name in load.tasks)
    facts = {"sidestream": "0.1.0", "placement": mode, "clients": clients, "servers": servers, "nodes": nodes}
    (folder / "run.yaml").write_text(yaml.safe_dump(facts | {"configuration": text}, sort_keys=False))
    rows, whole, step = [COLUMNS], load.whole(mode, clients, servers), load.cost(load.step, clients)
    for iteration in range(ITERATIONS):
        start = (
            iteration * (whole * ITERATIONS - load.work(servers)) / ITERATIONS
            if mode != "inline"
            else iteration * whole
        )
        wait = 0 if mode == "inline" else whole - step
        rows += [f"{rank},client,{iteration},{start},{step},0,{wait},0,," for rank in range(min(clients, 3))]
        at = start + step
        for rank in range(servers):
            first = at
            for name, terms in load.tasks.items():
                seconds = load.cost(terms, servers)
                rows.append(f"{rank},server,{iteration},{first},{terms[1] / servers},,,,{name},{seconds}")
                first += seconds
    (folder / "timings.csv").write_text("\n".join(rows) + "\n")
    return folder


def advise(*words):
    done = subprocess.run([TOOL, "advise", *map(str, words)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def chosen(folder, load, measured, ranks, nodes=1):
    """The first row of the table of all splits, from records of the splits `measured`."""
    runs = [record(folder / f"run-{n}", load, split, nodes) for n, split in enumerate(measured)]
    table = folder / "splits.csv"
    status, text = advise(*runs, "--ranks", ranks, "--nodes", nodes, "--iterations", ITERATIONS, "--table", table)
    assert status == 0, text
    with table.open(newline="") as rows:
        return next(row for row in csv.DictReader(rows) if "groups" not in row["options"])


def random_load(source):
    """Steps and tasks of very different weight, so that no split suits all: what does not scale wants few servers, work
    that scales well wants all ranks in turn."""
    step = (source.choice([0, 0.2, 0.5]), source.uniform(1, 4), source.choice([0, 0.02]))
    constant = source.choice([0.001, 0.2, 0.6])
    return Load(step, {"halos": (constant, source.choice([0.05, 0.5, 2, 6]), source.choice([0, 0.05]))})


@pytest.mark.parametrize(("ranks", "nodes"), [(8, 1), (12, 3), (48, 4)])
def test_the_best_split_is_found(tmp_path, ranks, nodes):
    """Against all splits tried with the formulas. An adviser that always says the same would often be wrong."""
    source = random.Random(ranks)
    cases, right = 24 if ranks == 8 else 6, {}
    for case in range(cases):
        load = random_load(source)
        times = {split: load.whole(*split) for split in splits_of(ranks, nodes)}
        best = min(times.values())
        measured = [
            ("inline", ranks, ranks),
            ("cores", ranks - nodes, nodes),
            ("nodes", ranks // 2, ranks - ranks // 2),
        ]
        row = chosen(tmp_path / str(case), load, measured, ranks, nodes)
        servers = int(row["servers"]) or ranks
        found = times[row["placement"], int(row["clients"]), servers]
        assert found <= 1.02 * best, (load.step, load.tasks, row)
        assert float(row["seconds"]) == pytest.approx(found, rel=0.02)
        for split, time in times.items():
            right[split] = right.get(split, 0) + (time <= 1.1 * best)
    assert ranks != 8 or max(right.values()) <= cases * 2 / 3


def test_large_jobs(tmp_path):
    """Steps of a sixteenth find a split that is as good, as a brute force over all of them says."""
    load = Load((0.01, 400, 0.001), {"halos": (0.05, 60, 0.005), "spectra": (0.1, 30, 0.01)})
    measured = [("inline", 512, 512), ("cores", 504, 8), ("nodes", 448, 64)]
    row = chosen(tmp_path, load, measured, 512, 4)
    best = min(load.whole(*split) for split in splits_of(512, 4))
    assert load.whole(row["placement"], int(row["clients"]), int(row["servers"]) or 512) <= 1.02 * best
    status, text = advise(*(tmp_path / f"run-{n}" for n in range(3)), "--ranks", 65536, "--nodes", 512)
    assert status == 0 and "placement: " in text, text


def test_a_run_predicts_runs_like_it(tmp_path):
    """From one run, with what each server did by itself; what was assumed is said."""
    load = Load((0, 1.0, 0), {"halos": (0.1, 0.8, 0)})
    run = record(tmp_path / "run", load, ("cores", 6, 2))
    status, text = advise(run, "--ranks", 8)
    assert status == 0, text
    assert "one number of clients" in text and "one number of servers" in text and "next: measure" in text
    row = chosen(tmp_path / "again", load, [("cores", 6, 2)], 8)
    best = min((load.whole(*split), split) for split in splits_of(8, 1))
    assert (int(row["clients"]), int(row["servers"])) == best[1][1:]


def test_intervals_and_buffers_in_numbers(tmp_path):
    """With inline the interval that leaves analyses 5 %; with servers the room for iterations, and its bytes."""
    runs = [record(tmp_path / "inline", Load((0, 1, 0), {"halos": (0.3, 0, 0)}), ("inline", 2, 2))]
    status, text = advise(*runs, "--ranks", 2)
    assert status == 0 and "placement: inline" in text
    assert "analyses take 38 %; with `every: 12` for all tasks they would take 5 %" in text
    load = Load((1, 0, 0), {"halos": (0.9, 0, 0)})
    run = record(tmp_path / "nodes", load, ("nodes", 7, 1))
    status, text = advise(run, "--ranks", 8)
    assert status == 0 and "buffer: room for 2 iterations" in text and "a run with `nodes` tells the bytes" in text
    rows = [f"0,server,{n},4,{3 << 20},0" for n in range(ITERATIONS)]
    (run / "movement.csv").write_text("\n".join(["rank,role,iteration,blocks,bytes,layer_bytes", *rows]) + "\n")
    status, text = advise(run, "--ranks", 8)
    assert status == 0 and "at least `buffer: 8 MiB`, by what servers got" in text, text


CONFIGURATION = """\
# Two analyses.
placement:   # of the first run
  mode: inline
  buffer: 64 MiB

meshes: {line: {type: uniform, size: [16]}}
variables: {t: {mesh: line}}
analyses:
  - statistics: {variable: t}   # quick
  - histogram:
      variable: t
      bins: 4
outputs:
  - vtk: {variables: [t]}
"""


def test_the_configuration_to_run(tmp_path):
    """Groups for tasks of different weight: comments and other sections stay, `check` accepts it."""
    load = Load((0.2, 4.0, 0), {"statistics": (0, 0.1, 0), "histogram": (0.5, 1.2, 0), "vtk": (0.3, 0, 0)})
    runs = [
        record(tmp_path / "inline", load, ("inline", 8, 8), configuration=CONFIGURATION),
        record(tmp_path / "cores", load, ("cores", 6, 2), configuration=CONFIGURATION),
        record(tmp_path / "more", load, ("cores", 4, 4), configuration=CONFIGURATION),
    ]
    status, text = advise(*runs, "--ranks", 8, "--output", tmp_path / "new.yaml")
    assert status == 0, text
    written = (tmp_path / "new.yaml").read_text()
    read = yaml.safe_load(written)
    assert "# Two analyses." in written and "# quick" in written
    assert read["placement"]["groups"] and read["placement"]["mode"] == "cores", text
    assert set(read["placement"]["groups"]) == {
        next(iter(task.values()))["group"] for task in read["analyses"] + read["outputs"]
    }
    sizes = read["placement"]["groups"].values()
    assert read.pop("output") == {"directory": "-".join(map(str, ["run-cores", *sizes]))}
    del read["placement"]
    for task in read["analyses"] + read["outputs"]:
        del next(iter(task.values()))["group"]
    before = yaml.safe_load(CONFIGURATION)
    del before["placement"]
    assert read == before
    checked = subprocess.run(
        [TOOL, "check", str(tmp_path / "new.yaml"), "--ranks", "8"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("old", ["{group: old, variable: c_t}", "{variable: c_t, group: old}", "{variable: c_t}"])
def test_users_of_made_meshes_stay_with_the_maker(tmp_path, old):
    """They have no times of their own; the group of the recorded run is gone."""
    text = f"""\
placement: {{mode: cores, groups: {{old: 1}}}}
meshes: {{line: {{size: [16]}}}}
variables: {{t: {{mesh: line}}}}
analyses:
  - resample: {{variables: [t], size: [4], makes: c, group: old}}
  - statistics: {old}
  - statistics: {{variable: t, file: all.csv}}
outputs:
  - vtk: {{variables: [t]}}
"""
    load = Load((0.2, 4.0, 0), {"resample": (0.3, 0, 0), "statistics-2": (0, 0.1, 0), "vtk": (0.5, 1.2, 0)})
    runs = [
        record(tmp_path / str(n), load, split, configuration=text)
        for n, split in enumerate([("inline", 8, 8), ("cores", 6, 2), ("cores", 4, 4)])
    ]
    new = tmp_path / "new.yaml"
    status, said = advise(*runs, "--ranks", 8, "--output", new)
    assert status == 0 and "groups" in said, said
    tasks = [next(iter(task.values())) for task in yaml.safe_load(new.read_text())["analyses"]]
    assert tasks[0]["group"] != "old" and tasks[1] == {"variable": "c_t"}
    checked = subprocess.run([TOOL, "check", str(new), "--ranks", "8"], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("directory", "becomes"),
    [
        ("output: {existing: replace, directory: a}", "a{}"),
        ("output:\n  directory: 'a b/'  # here", "a b{}/"),
        ("output: {directory: .}", "./run{}"),
        ("output:\n  existing: replace", "run{}"),
        ("placement2: 0", "run{}"),
    ],
)
def test_results_go_to_another_directory(tmp_path, directory, becomes):
    """The configuration to run neither replaces nor continues the recorded run, and does not spill where none can."""
    text = f"{directory}\nplacement: {{mode: cores, when_full: spill, buffer: 1 MiB}}\nanalyses:\n  - halos: {{}}\n"
    load = Load((0.2, 4.0, 0), {"halos": (0.5, 0.1, 0)})
    run = record(tmp_path / "run", load, ("nodes", 7, 1), configuration=text)
    status, said = advise(run, "--ranks", 8, "--output", tmp_path / "new.yaml")
    assert status == 0, said
    read = yaml.safe_load((tmp_path / "new.yaml").read_text())
    placement = read["placement"]
    assert placement["buffer"] == "1 MiB"
    assert (placement["mode"] == "nodes") == ("when_full" not in placement)
    assert read["output"]["directory"] == becomes.format(f"-{placement['mode']}-{placement.get('servers', 1)}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing", "--ranks", "4"], "nothing"),
        (["run", "--ranks", "5", "--nodes", "2"], "expected a multiple of the nodes"),
        (["empty", "--ranks", "4"], "found no iteration"),
        (["off", "--ranks", "4"], "found no tasks"),
        (["damaged", "--ranks", "4"], "timings.csv:3: found '1e999' in the column 'seconds', expected seconds"),
    ],
)
def test_what_tells_nothing_is_refused(tmp_path, words, said):
    load = Load((0, 1, 0), {"halos": (0, 1, 0)})
    record(tmp_path / "run", load, ("cores", 3, 1))
    (record(tmp_path / "empty", load, ("cores", 3, 1)) / "timings.csv").write_text(COLUMNS + "\n")
    off = record(tmp_path / "off", load, ("cores", 3, 1)) / "timings.csv"
    off.write_text("\n".join(line for line in off.read_text().splitlines() if ",server," not in line) + "\n")
    damaged = record(tmp_path / "damaged", load, ("cores", 3, 1)) / "timings.csv"
    lines = damaged.read_text().splitlines()
    lines[2] = re.sub(r"[^,]*$", "1e999", lines[2])
    damaged.write_text("\n".join(lines) + "\n")
    status, text = advise(tmp_path / words[0], *words[1:])
    assert status in (1, 2) and said in text and "Traceback" not in text


WAITS = """\
output: {directory: out, existing: replace}
meshes: {line: {type: uniform, size: [$n]}}
variables: {t: {mesh: line}}
analyses:
  - heavy: {variables: [t]}
  - light: {variables: [t]}
"""


def waiting_run(folder, configuration, steps=8):
    """A run of the program that waits, on 5 ranks."""
    folder.mkdir()
    (folder / "case.yaml").write_text(configuration)
    words = ["5", "40", "heavy", "2", "60", "1", "light", "1", "5", "0"]
    job = [MPIRUN, "-n", "5", WAITING, "case.yaml", str(steps), *words]
    done = subprocess.run(job, cwd=folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / yaml.safe_load(configuration)["output"]["directory"]


def test_records_of_real_runs(tmp_path):
    """The advice of three runs is a configuration that runs, and is measured then."""
    placements = ["inline", "{mode: cores, per_node: 2}", "{mode: nodes, servers: 1}"]
    runs = [waiting_run(tmp_path / f"run-{n}", f"placement: {one}\n{WAITS}") for n, one in enumerate(placements)]
    new = tmp_path / "new.yaml"
    status, text = advise(*runs, "--ranks", 5, "--output", new)
    assert status == 0, text
    again = waiting_run(tmp_path / "advised", new.read_text())
    # Where it stands among all splits depends on the machine.
    splits = tmp_path / "splits.csv"
    status, text = advise(*runs, again, "--ranks", 5, "--table", splits)
    assert status == 0, text
    (placement,) = re.findall(r"^placement: (.*)$", new.read_text(), re.MULTILINE)
    rows = list(csv.DictReader(splits.open()))
    assert {row["options"] for row in rows if row["measured"] == "1"} == {*placements, placement}
