"""Two servers and one disk: what `stagger` of the output `database` changes for the time that a server writes.

The disk is a model (support/slow_disk.c): a rate that all share, and a moment lost where another process goes on
than the one before. Prints, with and without, how many writes there were, how often another server wrote than the
one before, and the seconds that servers spent in writes, all together: waiting for each other included.
"""

import argparse
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INPUT = ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"
CONFIGURATION = """
placement: {{mode: cores, per_node: 2, buffer: 512 MiB}}
output: {{directory: {folder}/out}}
meshes:
  grid: {{type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables:
  field: {{mesh: grid, type: float64, centering: cell}}
outputs:
  - database: {{directory: data, fsync: false, hdf5: false, contributors_per_file: 1, stagger: {stagger}}}
"""


def build_shim(folder):
    library = folder / "slow_disk.so"
    source = Path(__file__).with_name("support") / "slow_disk.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def simulate(folder, shim, stagger, options):
    file = folder / "run.yaml"
    file.write_text(CONFIGURATION.format(folder=folder, stagger=str(stagger).lower()))
    state = folder / "disk"
    program = options.build / "simulations" / "oscillators" / "oscillators"
    settings = {
        "LD_PRELOAD": str(shim),
        "SLOW_DISK_STATE": str(state),
        "SLOW_DISK_RATE": str(options.rate),
        "SLOW_DISK_SWITCH": str(options.switch),
    }
    line = ["mpirun", "-n", "4", "--oversubscribe"]
    for name, value in settings.items():
        line += ["-x", f"{name}={value}"]
    line += [str(program), str(INPUT), "--grid", *map(str, [options.grid] * 3), "--steps", str(options.steps)]
    line += ["--compute-repeat", str(options.compute_repeat), "--sidestream", str(file)]
    subprocess.run(line, check=True, timeout=300, env=os.environ, stdout=subprocess.DEVNULL)
    _, _, _, writes, switches, seconds = struct.unpack("<iidqqd", state.read_bytes())
    return writes, switches, seconds


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
    options = parser.parse_args()
    print(f"{'stagger':8} {'writes':>8} {'switches':>9} {'seconds in writes':>18}")
    for stagger in (False, True):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            writes, switches, seconds = simulate(folder, build_shim(folder), stagger, options)
            print(f"{stagger!s:8} {writes:8} {switches:9} {seconds:18.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
