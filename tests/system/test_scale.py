"""Large jobs by the model: it has to predict small runs first, and its curves have the shapes of published figures."""

import csv
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from sidecar_support import TOOL
from test_advice import Load, record

STUDIES = Path(__file__).resolve().parents[2] / "benchmarks" / "scale_studies"
LOAD = Load((0.01, 4.0, 0.02), {"halos": (0.05, 1.5, 0.01), "spectra": (0.2, 0.4, 0)})
SPLITS = [("inline", 1, 1), ("nodes", 2, 1), ("nodes", 3, 2), ("cores", 4, 4), ("nodes", 7, 1), ("inline", 8, 8)]


def simulate(file, *words):
    done = subprocess.run(
        [TOOL, "simulate-scale", str(file), *map(str, words)], capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


def curves(folder, name):
    """Points by curve: value by number of ranks."""
    found = defaultdict(dict)
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            found[row["curve"]][int(float(row["at"]))] = float(row["value"])
    return found


def published(folder, study):
    status, text = simulate(STUDIES / f"{study}.yaml", "--tables", folder)
    assert status == 0, text
    assert "not checked" in text
    return folder


def records(folder, slower=1.0, bytes_moved=8000):
    """Runs of 1 to 8 ranks from formulas; the last one is `slower`. With `nodes` 1000 cells moved, five blocks a
    client."""
    for n, split in enumerate(SPLITS):
        run = record(folder / f"run-{n}", LOAD, split)
        if n + 1 == len(SPLITS) and slower != 1:
            lines = (run / "timings.csv").read_text().splitlines()
            cells = [line.split(",") for line in lines[1:]]
            for row in cells:
                row[3] = str(slower * float(row[3]))
                row[4] = str(slower * float(row[4])) if row[1] == "client" else row[4]
            (run / "timings.csv").write_text("\n".join([lines[0], *map(",".join, cells)]) + "\n")
        if split[0] == "nodes":
            halves = [(0, 2 * split[1]), (1, 3 * split[1])]
            rows = [f"{rank},server,{n},{blocks},{bytes_moved // 2},7" for n in range(3) for rank, blocks in halves]
            rows.append("0,client,0,99,99,0")
            (run / "movement.csv").write_text("\n".join(["rank,role,iteration,blocks,bytes,layer_bytes", *rows]) + "\n")
    names = ", ".join(f"run-{n}" for n in range(len(SPLITS)))
    text = f"records: {{runs: [{names}], cells: 1000, within: 0.1, pieces: 5}}\nprogram: {{steps: 40}}\n"
    text += "splits:\n  - {name: all, grid: 10, ranks: [8, 16], every: 1}\n"
    (folder / "scale.yaml").write_text(text)
    return folder / "scale.yaml"


def test_small_runs_are_predicted(tmp_path):
    """From the other runs, and curves go through what the formulas have for more ranks."""
    status, text = simulate(records(tmp_path), "--tables", tmp_path / "tables")
    assert status == 0, text
    assert "8000 bytes an iteration, model 8000" in text and "35 blocks, model 35" in text
    found = curves(tmp_path / "tables", "all-16-ranks")
    assert found["n τc, CS"][1] == pytest.approx(LOAD.cost(LOAD.step, 16), rel=1e-6)
    assert found["τa, in situ"][1] == pytest.approx(LOAD.work(16), rel=1e-6)
    assert found["in situ, whole run"][1] == pytest.approx(40 * LOAD.whole("inline", 16, 16), rel=1e-6)


def test_steps_between_and_after_analyses(tmp_path):
    """25 steps with an analysis after every 10: two analyses, and five steps more; after every 30: one, at the end."""
    text = "program: {steps: 25, step: {cell: 1}, tasks: [{name: a, constant: 7}]}\n"
    study = "splits: [{name: a, grid: 2, ranks: 8, servers: 1, every: [10, 30]}]\n"
    study += "outputs: [{name: b, grid: 2, ranks: 8, every: [10, 30]}]\n"
    (tmp_path / "scale.yaml").write_text(text + study)
    status, said = simulate(tmp_path / "scale.yaml", "--tables", tmp_path)
    assert status == 0, said
    for every, analyses in ((10, 2), (30, 1)):
        found = curves(tmp_path, f"a-8-ranks-every-{every}")
        assert found["in situ, whole run"][1] == pytest.approx(25 + 7 * analyses)
        assert found["without analyses"][1] == pytest.approx(25)
    written = curves(tmp_path, "b-intervals-run-time")
    assert written["no output"] == {10: 25, 30: 25}


@pytest.mark.parametrize("wrong", [{"slower": 1.5}, {"bytes_moved": 7600}])
def test_a_model_that_does_not_hold_says_nothing(tmp_path, wrong):
    """A time that is off by a half, or bytes by 5 %: status 1, and no curve."""
    status, text = simulate(records(tmp_path, **wrong), "--tables", tmp_path / "tables")
    assert status == 1 and "NOT WHAT THE MODEL HAS" in text, text
    assert not (tmp_path / "tables").exists()


def test_ranks_that_share_cores(tmp_path):
    """Runs with more ranks than cores give no costs, but are predicted: all work over the number of cores."""
    file = records(tmp_path)
    text = file.read_text().replace("within: 0.1", "within: 0.1, cores: 5")
    file.write_text(text)
    status, said = simulate(file)
    assert status == 1 and said.count("NOT WHAT THE MODEL HAS") >= 2, said  # records have a core for each rank


def test_boxes_that_do_not_come_out_even(tmp_path):
    """The example of Friesen et al. (2016), section 5.3: one of 2048 processes less takes half as long again."""
    text = "program: {step: {cell: 1}, boxes: 4096, tasks: [{name: a}]}\n"
    (tmp_path / "scale.yaml").write_text(text + "splits: [{name: a, grid: 16, ranks: 2048, servers: 1}]\n")
    status, said = simulate(tmp_path / "scale.yaml", "--tables", tmp_path)
    assert status == 0, said
    found = curves(tmp_path, "a-2048-ranks")
    assert found["n τc, CT"][1] == pytest.approx(1.5 * found["n τc, CS"][1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("machine: {hops: 1}\n", "hop"),
        ("splits:\n  - {name: a, grid: 8, ranks: 8}\n", "expected the costs of a step"),
        ("program: {step: {cell: 1}}\nsplits:\n  - {name: a, grid: 8, ranks: 8, tasks: [halo]}\n", "'halo'"),
        ("program: {step: {cell: 1}}\noutputs:\n  - {name: a, ranks: 8}\n", "`grid`"),
        (
            "program: {step: {cell: 1}}\noutputs: [{name: a, ranks: 8, grid: 2}, {name: a, ranks: 8, grid: 3}]\n",
            "again",
        ),
        ("program: {step: {cell: -1}}\n", "at least 0"),
        ("records: {runs: [nothing], cells: 8}\n", "nothing"),
        ("program: 3\n", "program"),
    ],
)
def test_mistakes_in_the_file(tmp_path, text, said):
    file = tmp_path / "scale.yaml"
    file.write_text(text)
    status, answer = simulate(file)
    assert status in (1, 2) and said in answer, answer
    assert "Traceback" not in answer and "terminate" not in answer


def test_halos_and_spectra_in_situ_and_in_transit(tmp_path):
    """Friesen et al. (2016), section 5.4, by what its text says of figures 8 and 9."""
    published(tmp_path, "edison")
    halos = curves(tmp_path, "figure-8-halos-512-2048-ranks")
    analysis, steps = halos["τa, in transit"], halos["n τc, CS"]
    assert analysis[64] > steps[64] and analysis[256] <= steps[256]
    assert halos["τa, in situ"][512] > max(analysis[512], analysis[1024])  # too many processes for the problem
    whole, total = halos["CS, whole run"], halos["CT, whole run"]
    assert whole[16] > 2 * whole[128] and whole[1024] == pytest.approx(whole[256], rel=0.1)  # flat
    assert total[1024] > 1.1 * min(total.values())  # too few simulate
    situ = halos["in situ, whole run"][1]
    assert 0.5 < whole[256] / situ < 0.8 and min(total.values()) < situ
    spectra = curves(tmp_path, "figure-9-statistics-512-2048-ranks")["τa, in transit"]
    assert spectra[512] > spectra[256] and spectra[1024] < spectra[512]  # planes, then only distributions
    assert {path.name[:9] for path in tmp_path.glob("figure-1*")} == {"figure-10", "figure-11"}


def test_ways_to_write(tmp_path):
    """Dorier et al. (2016), figures 8, 11 and 17 to 19; Ziegeler et al. (2013), figure 3."""
    published(tmp_path, "kraken")
    run = curves(tmp_path, "figure-8-kraken-run-time")
    alone, own, one = (run[name] for name in ("no output", "file per process", "one file"))
    beside = run["dedicated cores, 1"]
    assert beside[9216] < 1.25 * alone[9216] and own[9216] > 1.3 * beside[9216] and one[9216] > 2.4 * beside[9216]
    rates = curves(tmp_path, "figure-8-kraken-throughput")
    assert rates["dedicated cores, 1"][9216] / rates["file per process"][9216] == pytest.approx(6, rel=0.2)
    assert rates["dedicated cores, 1"][9216] / rates["one file"][9216] == pytest.approx(15, rel=0.4)
    published(tmp_path, "stremi")
    rates, spare = (curves(tmp_path, f"figure-17-stremi-{name}") for name in ("throughput", "spare"))
    order = [f"dedicated cores, {n}" for n in (1, 2, 3)] + [
        "dedicated nodes, 9:1",
        "dedicated nodes, 14:1",
        "file per process",
    ]
    assert [rates[name][720] for name in order] == sorted((rates[name][720] for name in order), reverse=True)
    assert spare["dedicated cores, 1"][720] == pytest.approx(90, abs=3)
    for study, best, speedup in (("rennes", "dedicated cores, 1", 5), ("nancy", "dedicated nodes, 7:1", 2.7)):
        published(tmp_path, study)
        run = curves(tmp_path, f"figure-19-{study}-intervals-run-time")
        way = min((name for name in run if name != "no output"), key=lambda name: run[name][10])
        assert way == best and run["file per process"][10] / run[best][10] > speedup
        assert all(run["file per process"][a] > run["file per process"][b] for a, b in ((10, 20), (20, 30)))
    published(tmp_path, "garnet")
    rates = curves(tmp_path, "figure-3-garnet-throughput")
    own, few, one = rates["file per process"], rates["aggregated"], rates["one file"]
    assert own[10240] > own[1728] and own[150000] < one[150000] < few[150000] and own[10240] > one[10240]
    assert max(own, key=own.get) == 10240 and few[46656] > own[46656]


def test_endpoints(tmp_path):
    """Loring et al. (2020), figure 6."""
    published(tmp_path, "cori")
    moved, run, cost = (curves(tmp_path, f"figure-6-isosurface-{name}") for name in ("moved", "run-time", "cost"))
    every, needed = moved["all blocks"], moved["needed blocks"]
    assert every[128] == pytest.approx(2 * every[256]) and every[4096] == pytest.approx(2 * every[8192])
    assert needed[128] == pytest.approx(2 * needed[256]) and needed[2048] == needed[8192]  # 2048 blocks are needed
    assert (
        run["all blocks"][128] > 3 * run["all blocks"][1024]
        and run["needed blocks"][128] < 1.2 * run["needed blocks"][1024]
    )
    assert min(cost["all blocks"], key=cost["all blocks"].get) == 512
    slices = curves(tmp_path, "figure-6-slice-cost")["needed blocks"]
    assert min(slices, key=slices.get) == 128


def test_the_chart(tmp_path):
    """A table becomes a picture; curves are in its legend."""
    pytest.importorskip("matplotlib")
    published(tmp_path, "cori")
    picture = tmp_path / "cost.svg"
    table = tmp_path / "figure-6-slice-cost.csv"
    done = subprocess.run([TOOL, "plot", str(table), "-o", str(picture)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert picture.stat().st_size > 2000
