"""The cost of watching for a run: 100 watchers attach to `sidestream watch` and leave, some in the middle of an event.

Pairs of runs of the oscillators on two clients and a dedicated server, which renders each fifth step; one of each pair
is watched. Prints the processor time of the run's own processes in each, the number of watchers, and at the end the
median ratio. Fails if a result of a watched run differs in a byte.
"""

import argparse
import http.client
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
INPUT = ROOT / "simulations" / "oscillators" / "inputs" / "eight.osc"
CONFIGURATION = """
placement: {{mode: cores, per_node: 1, buffer: 128 MiB}}
output: {{directory: "{folder}"}}
meshes:
  grid: {{type: uniform, size: [$nx, $ny, $nz], spacing: [$hx, $hy, $hz]}}
variables:
  field: {{mesh: grid, type: float64, centering: cell}}
analyses:
  - statistics: {{variable: field}}
  - render: {{isosurface: {{variable: field, values: [-0.4, 0.4]}}, size: [640, 480], every: 5,
             file: "frame-{{index:05}}.png"}}
live: {{requests: yes}}
"""
ATTACHMENTS = 100


class Watchers(threading.Thread):
    """The page of a directory, and watchers who come and go until told to stop."""

    def __init__(self, folder, pause, environment):
        super().__init__()
        command = [sys.executable, "-m", "sidestream", "watch", str(folder)]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        lines = iter(self.server.stdout.readline, "")
        self.url = urlsplit(next(line for line in lines if "http://" in line).strip())
        self.pause, self.attached, self.over = pause, 0, threading.Event()
        self.start()

    def run(self):
        cookie = self.get("/?" + self.url.query, {}).getheader("set-cookie").split(";")[0]
        while self.attached < ATTACHMENTS and not self.over.wait(self.pause):
            events = self.get("/events", {"Cookie": cookie})
            events.read(1 + 97 * self.attached)  # leaves in the middle of an event
            events.close()
            self.attached += 1

    def get(self, path, headers):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=20)
        connection.request("GET", path, headers=headers)
        return connection.getresponse()

    def end(self):
        self.over.set()
        self.join()
        self.server.kill()
        self.server.wait()


def simulate(folder, options, watched, environment):
    """Runs once. Returns the processor time of the run's own processes, and the number of watchers."""
    results = folder / "results"
    results.mkdir(parents=True)
    file = folder / "run.yaml"
    file.write_text(CONFIGURATION.format(folder=results))
    program = options.build / "simulations" / "oscillators" / "oscillators"
    line = ["mpirun", "-n", "3", "--oversubscribe", program, INPUT]
    line += ["--grid", options.grid, "--steps", options.steps, "--sidestream", file]
    watchers = Watchers(results, options.seconds / ATTACHMENTS, environment) if watched else None
    run = subprocess.Popen(list(map(str, line)), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = status
    if watchers:
        watchers.end()
    if status:
        raise SystemExit(f"the simulation ended with {status}")
    return used.ru_utime + used.ru_stime, watchers.attached if watchers else 0


def results_of(folder):
    names = [*folder.glob("results/*.png"), folder / "results" / "statistics.csv"]
    return {path.name: path.read_bytes() for path in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--grid", type=int, default=96)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=10, help="time within which the watchers come")
    options = parser.parse_args()
    environment = os.environ | {"PYTHONPATH": str(options.build / "bindings" / "python")}
    ratios = []
    with tempfile.TemporaryDirectory() as place:
        for pair in range(options.pairs):
            times, results = {}, {}
            for watched in (False, True) if pair % 2 else (True, False):
                folder = Path(place) / f"{pair}-{watched}"
                began = time.monotonic()
                times[watched], attached = simulate(folder, options, watched, environment)
                results[watched] = results_of(folder)
                print(f"{'watched' if watched else 'alone':8}{times[watched]:8.2f} s of processors, "
                      f"{time.monotonic() - began:6.1f} s, {attached} watchers", flush=True)  # fmt: skip
            if results[True] != results[False] or len(results[True]) < 2:
                raise SystemExit("results differ")
            ratios.append(times[True] / times[False])
    print(f"ratio of processor times, watched to alone: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
