"""Two servers and one disk: what `stagger` of the output `database` changes for the time that a server writes.

The disk is a model (support/slow_disk.c): a rate that all share, and a moment lost where another process goes on
than the one before. Prints, with and without, how many writes there were, how often another server wrote than the
one before, and the seconds that servers spent in writes, all together: waiting for each other included.

With --on FOLDER... it measures file systems instead, each by a folder in it: the median over iterations of the seconds
until the last server is done, its waiting for turns included. The last line of each is how much longer
all take at once than one after the other (`output: {writers: 1}`). A second file system beside memory:

    truncate -s 2G /tmp/disk.img && mkfs.ext4 -q /tmp/disk.img
    mkdir -p /mnt/disk && mount -o loop /tmp/disk.img /mnt/disk
    benchmarks/staggered_writes.py --on /mnt/disk /dev/shm
"""

import argparse
import csv
import os
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INPUT = ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"
CONFIGURATION = """
placement: {{mode: cores, per_node: 2, buffer: 512 MiB}}
output: {{directory: {folder}/out, writers: {writers}}}
meshes:
  grid: {{type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables:
  field: {{mesh: grid, type: float64, centering: cell}}
outputs:
  - database: {{directory: data, fsync: {fsync}, hdf5: false, contributors_per_file: 1, stagger: {stagger}}}
"""


def build_shim(folder):
    library = folder / "slow_disk.so"
    source = Path(__file__).with_name("support") / "slow_disk.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def configure(folder, stagger=False, writers=0, fsync=False):
    file = folder / "run.yaml"
    words = {"stagger": str(stagger).lower(), "fsync": str(fsync).lower()}
    file.write_text(CONFIGURATION.format(folder=folder, writers=writers, **words))
    return file


def run(folder, file, settings, options):
    program = options.build / "simulations" / "oscillators" / "oscillators"
    line = ["mpirun", "-n", "4", "--oversubscribe"]
    for name, value in settings.items():
        line += ["-x", f"{name}={value}"]
    line += [str(program), str(INPUT), "--grid", *map(str, [options.grid] * 3), "--steps", str(options.steps)]
    line += ["--compute-repeat", str(options.compute_repeat), "--sidestream", str(file)]
    subprocess.run(line, check=True, timeout=300, env=os.environ, stdout=subprocess.DEVNULL)


def simulate(folder, shim, stagger, options):
    state = folder / "disk"
    settings = {
        "LD_PRELOAD": str(shim),
        "SLOW_DISK_STATE": str(state),
        "SLOW_DISK_RATE": str(options.rate),
        "SLOW_DISK_SWITCH": str(options.switch),
    }
    run(folder, configure(folder, stagger), settings, options)
    _, _, _, writes, switches, seconds = struct.unpack("<iidqqd", state.read_bytes())
    return writes, switches, seconds


def output_seconds(folder):
    """The median over iterations of the longest time of a server in the output."""
    longest = {}
    with (folder / "out" / "timings.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if row["task"] == "database":
                seconds = float(row["seconds"])
                longest[row["iteration"]] = max(seconds, longest.get(row["iteration"], 0.0))
    return statistics.median(longest.values())


def measure(place, options):
    ways = {"all at once": {}, "stagger": {"stagger": True}, "writers: 1": {"writers": 1}}
    taken = {way: [] for way in ways}
    for _ in range(options.repeats):
        for way, words in ways.items():
            with tempfile.TemporaryDirectory(dir=place) as name:
                folder = Path(name)
                run(folder, configure(folder, fsync=True, **words), {}, options)
                taken[way].append(output_seconds(folder))
    print(f"{place}: seconds of the output in an iteration, {options.repeats} runs")
    for way, seconds in taken.items():
        print(f"  {way:12} {min(seconds):8.4f} to {max(seconds):8.4f}")
    ratio = statistics.median(taken["all at once"]) / statistics.median(taken["writers: 1"])
    print(f"  all at once / writers: 1   {ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--grid", type=int, default=96)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument(
        "--compute-repeat", type=int, default=12, help="how often a step is computed: time between writes"
    )
    parser.add_argument("--rate", type=float, default=2e8, help="bytes a second")
    parser.add_argument("--switch", type=float, default=0.008, help="seconds from one writer to another")
    parser.add_argument("--on", type=Path, nargs="+", default=[], help="folders in the file systems to be measured")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each way, with --on")
    options = parser.parse_args()
    for place in options.on:
        measure(place, options)
    if options.on:
        return 0
    print(f"{'stagger':8} {'writes':>8} {'switches':>9} {'seconds in writes':>18}")
    for stagger in (False, True):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            writes, switches, seconds = simulate(folder, build_shim(folder), stagger, options)
            print(f"{stagger!s:8} {writes:8} {switches:9} {seconds:18.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
