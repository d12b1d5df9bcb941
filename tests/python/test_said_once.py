"""Messages about empty results come once, also from servers that choose blocks by their ranges."""

import os
import subprocess
import sys

import numpy as np
import pytest

MPIRUN = os.environ.get("SIDESTREAM_MPIEXEC", "mpirun")
TASKS = """\
  - isosurface: {variable: a, values: [3.5, 77, 78], file: "some-{index}.vtp"}
  - threshold: {variable: a, minimum: 100, file: "part-{index}.vtu"}
  - render:
      isosurface: {variable: a, values: 55}
      threshold: {variable: a, maximum: -1}
      size: [64, 64]
      file: "blank-{index}.png"
  - render: {isosurface: {variable: a, values: 3.5}, size: [64, 64], file: "seen-{index}.png"}
"""
VALUES = "its values reach from 0 to 7"
SAID = [
    f"'some-{{index}}.vtp': in iteration 0 no surface of 'a' has the value 77, 78; {VALUES} (",
    f"'part-{{index}}.vtu': in iteration 0 nothing lies where 'a' is from 100 to inf; {VALUES} (",
    "'blank-{index}.png': in iteration 0 nothing is seen; what was asked for is isosurface of 'a' at 55, and "
    f"{VALUES}; threshold of 'a' at -inf to -1, and {VALUES};",
]


def configuration(placement, folder):
    return f"""\
placement: {placement}
output: {{directory: {folder}}}
meshes: {{box: {{size: [8, 4, 4]}}}}
variables: {{a: {{mesh: box}}}}
analyses:
{TASKS}"""


def publish(session):
    """Each client publishes its part of the box."""
    comm = session.comm
    width = 8 // comm.size
    low = width * comm.rank
    session.set_block("box", comm.rank, [low, 0, 0], [low + width, 4, 4])
    values = np.broadcast_to(np.arange(low, low + width, dtype=float), (4, 4, width)).copy()
    for step in range(3):
        session.publish("a", comm.rank, values)
        session.end_iteration(step, step)


def check(said):
    for sentence in SAID:
        assert said.count(sentence) == 1, (sentence, said)
    assert said.count("(this is said once)") == len(SAID)
    assert "'seen-" not in said


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "ranks"), [("{mode: nodes, buffer: 32 MiB, servers: 2}", 4), ("inline", 1)])
def test_said_once(tmp_path, placement, ranks):
    (tmp_path / "run.yaml").write_text(configuration(placement, tmp_path / "out"))
    command = [MPIRUN, "-n", str(ranks), sys.executable, __file__, str(tmp_path / "run.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check(done.stderr)


if __name__ == "__main__":
    import sidestream
    from mpi4py import MPI

    with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as running:
        if running.is_server:
            running.serve()
        else:
            publish(running)
