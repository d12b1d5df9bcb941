"""Time until a person has a slice of the last iteration while the simulation computes (`live: {hold: ...}`).

The oscillators run on two clients and a dedicated server, with steps that take seconds. Prints for each of several
requests the seconds from asking to the answer, with the picture on disk, and if the iteration was the held one; then
the median, and at the end its ratio to a second. Fails if no request found a held iteration.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INPUT = ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"
CONFIGURATION = """
placement: {{mode: cores, per_node: 1, buffer: 1 GiB}}
output: {{directory: "{folder}"}}
meshes:
  grid: {{type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables:
  field: {{mesh: grid, type: float64, centering: cell}}
analyses:
  - statistics: {{variable: field}}
live: {{requests: yes, hold: [field]}}
"""
SLICE = "render: {slice: {variable: field, axis: z, position: 0.5}, size: [512, 512], file: asked/slice.png}"


def iterations(results):
    table = results / "statistics.csv"
    return max(0, table.read_text().count("\n") - 1) if table.exists() else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--grid", type=int, default=256)
    parser.add_argument("--requests", type=int, default=9)
    parser.add_argument("--repeat", type=int, default=20, help="evaluations of a step, which make it longer")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "bindings" / "python"))
    import sidestream  # of this build

    with tempfile.TemporaryDirectory() as folder:
        results, file = Path(folder) / "results", Path(folder) / "run.yaml"
        file.write_text(CONFIGURATION.format(folder=results))
        program = options.build / "simulations" / "oscillators" / "oscillators"
        line = ["mpirun", "-n", "3", "--oversubscribe", program, INPUT]
        line += ["--grid", options.grid, "--steps", 10**6, "--compute-repeat", options.repeat, "--sidestream", file]
        run = subprocess.Popen(list(map(str, line)), stdout=subprocess.DEVNULL, env=os.environ)
        try:
            taken, held = [], 0
            while len(taken) < options.requests:
                done = iterations(results)
                while iterations(results) == done:  # a new iteration has just been worked on
                    if run.poll() is not None:
                        sys.exit("the run ended")
                    time.sleep(0.01)
                start = time.perf_counter()
                answer = sidestream.ask(results, SLICE)
                taken.append(time.perf_counter() - start)
                iteration = re.fullmatch(r"delivered: iteration (\d+)", answer)
                if not iteration:
                    sys.exit(answer)
                held += int(iteration[1]) <= done
                print(f"{taken[-1]:.3f} s, {answer}, {'held' if int(iteration[1]) <= done else 'the next'}")
        finally:
            run.terminate()
            run.wait()
    if not held:
        sys.exit("no request found a held iteration")
    median = statistics.median(taken)
    print(f"{held} of {len(taken)} from the held iteration; median {median:.3f} s")
    print(f"ratio to a second: {median:.3f}")


if __name__ == "__main__":
    main()
