"""`sidestream conformance`: all built-in parts pass, and each faulty one fails in the check that is meant for it.

Usage: test_conformance.py builtin|c_plugin|faulty PROCESSES TOOL MPIRUN SOURCE PLUGIN
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# The text of the failing line for each fault.
FAULTS = {
    "sum_ghosts": "ghosts with wrong values ... FAILED: the result 'sum.csv' has other bytes",
    "sum_shared": "two slabs ... FAILED: the result 'sum.csv' has other bytes",
    "sum_blocks": "two slabs ... FAILED",
    "sum_no_block": "no block delivered ... FAILED: it failed: there is no block",
    "sum_members": "several partials, by other objects than those that combine them ... FAILED",
    "sum_first_partial": "several partials, by other objects than those that combine them ... FAILED",
    "sum_state": "the same object again, in later iterations ... FAILED",
    "sum_memory": "memory that ends in `local` ... FAILED",
    "sum_one_server": "one block ... FAILED: it failed: the last one cannot",
    "stubborn": "one block ... FAILED: it failed: the last one cannot",
    "litter": "discard leaves nothing ... FAILED: these files are left",
    "partitioner changing": "one block ... FAILED: with 2 servers the same input gives another plan",
}
SUITE = {"analyses": 11, "outputs": 7, "partitioner": 5}  # checks of each kind of part
PARTITIONERS = [
    "block",
    "stripe",
    "{stripe: {width: 3}}",
    "balanced",
    "{balanced: {by: cost}}",
    "local",
    "replicated",
    "{replicated: {copies: all}}",
    "{regrid: {shape: slabs}}",
    "{regrid: {shape: pencils}}",
    "{regrid: {shape: bricks}}",
    "{slice: {origin: [1, 1, 0.5], normal: [0, 0, 1], variable: t}}",
    "{isosurface: {variable: t, values: 2}}",
]
EVERYTHING = os.environ.get("SIDESTREAM_TEST_ALL") == "1"


class Command:
    def __init__(self, processes, tool, mpirun):
        self.processes = processes
        self.start = [tool] if processes == 1 else [*mpirun.split(), "-n", str(processes), tool]

    def run(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "run.yaml").write_text(text)
            done = subprocess.run(
                [*self.start, "conformance", "run.yaml"],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=250,
                check=False,
            )
            assert sorted(path.name for path in Path(folder).iterdir()) == ["run.yaml"], "it left files"
        return done


def expect(true, done, what):
    if not true:
        sys.exit(f"{what}\nstatus {done.returncode}\n{done.stdout}\n{done.stderr}")


# The checks of an analysis whose result depends on the blocks by design, and which all must pass.
OF_ANY_BLOCKS = ["one block", "the same object again", "no block delivered", "memory that ends in `local`"]


def of_blocks(command):
    text = "meshes: {grid: {size: [9, 8, 7]}}\nvariables: {t: {mesh: grid}}\nanalyses:\n"
    files = "file: 'e-{index}.vtu', table: e.csv"
    text += "  - relevance: {variable: t}\n"
    text += f"  - relevance: {{name: e, variable: t, metric: entropy, {files}}}\n"
    done = command.run(text)
    for name in ("relevance", "e"):
        lines = [line for line in done.stdout.splitlines() if line.startswith(f"{name}: ")]
        passed = [line for line in lines if line.endswith("... ok")]
        for check in OF_ANY_BLOCKS:
            expect(any(line.startswith(f"{name}: {check}") for line in passed), done, f"'{check}' of {name} failed")
        failed = [line for line in lines if line not in passed]
        expect(all("has other bytes than from one block" in line for line in failed), done, f"another fault of {name}")


def builtin(command, source, _):
    of_blocks(command)
    text = (source / "builtin.yaml").read_text()
    if os.environ.get("SIDESTREAM_FFTW") == "OFF":
        text = "".join(line for line in text.splitlines(keepends=True) if "spectrum" not in line)
    done = command.run(text.replace("PARTITIONER", "block"))
    expect(done.returncode == 0, done, "something built in breaks its contract")
    analyses, outputs = (part.count("\n  - ") for part in text[text.index("analyses:") :].split("outputs:"))
    count = analyses * SUITE["analyses"] + outputs * SUITE["outputs"] + SUITE["partitioner"]
    expect(f"{count} checks passed, 0 failed" in done.stdout, done, f"expected {count} checks")
    head = text[: text.index("analyses:")]
    chosen = PARTITIONERS if EVERYTHING else PARTITIONERS[1::4]
    for partitioner in chosen:
        done = command.run(head.replace("PARTITIONER", partitioner))
        expect(done.returncode == 0, done, f"the partitioner {partitioner} breaks its contract")
        expect(f"{SUITE['partitioner']} checks passed, 0 failed" in done.stdout, done, "too few checks")
    if not EVERYTHING:
        print(f"{len(PARTITIONERS) - len(chosen)} cases run in `make test-all` only (SIDESTREAM_TEST_ALL=1)")


def c_plugin(command, _, plugin):
    done = command.run(
        f"plugins: [{plugin}]\nmeshes: {{grid: {{size: [6, 5, 4]}}}}\n"
        "variables: {t: {mesh: grid}, p: {mesh: grid, centering: node}}\n"
        "analyses:\n  - steepest: {variable: t}\n  - steepest: {variable: p, axis: x, file: b.csv}\n"
    )
    expect(done.returncode == 0, done, "the example of a plug-in in C breaks its contract")


def faulty(command, _, plugin):
    head = (
        f"plugins: [{plugin}]\nmeshes: {{grid: {{size: [6, 5, 4]}}}}\n"
        "variables: {n: {mesh: grid, type: int32, centering: node}}\n"
    )
    done = command.run(head + "analyses: [sum_none: {variable: n}, sum_pieces: {variable: n}]\n")
    expect(done.returncode == 0, done, "an analysis without fault fails")
    analyses = "".join(f"  - {kind}: {{variable: n}}\n" for kind in FAULTS if kind.startswith("sum_"))
    placement = "placement: {mode: nodes, buffer: 32 MiB, servers: 2, partitioner: changing}\n"
    done = command.run(f"{placement}{head}analyses:\n{analyses}outputs: [litter: {{}}, stubborn: {{}}]\n")
    expect(done.returncode == 1, done, "faults were not found")
    if command.processes > 1:
        apart = command.run(head + "analyses: [sum_feedback: {variable: n}]\n")
        expect("different feedback on different servers" in apart.stdout, apart, "feedback that differs was not found")
    for task, line in FAULTS.items():
        expect(f"{task}: {line}" in done.stdout, done, f"the fault of '{task}' was not found by '{line}'")


def main():
    what, processes, tool, mpirun, source, plugin = sys.argv[1:]
    command = Command(int(processes), tool, mpirun)
    {"builtin": builtin, "c_plugin": c_plugin, "faulty": faulty}[what](command, Path(source), plugin)


if __name__ == "__main__":
    main()
