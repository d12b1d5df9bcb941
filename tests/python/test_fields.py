"""Values that programs in Python publish, read by h5py and by the reader, have the bits of the formula in every
placement."""

import subprocess
import sys
import uuid
from pathlib import Path

import h5py
import numpy as np
import pytest
import sidestream
from formula import STEPS, VARIABLES, whole
from pairs import pairs
from python_program import MPIRUN, run_program

PROGRAM = Path(__file__).with_name("fields.py")

CONFIGURATION = f"""\
placement: PLACEMENT
output: {{directory: DIRECTORY}}
meshes:
  plane: {{type: uniform, size: [$nx, $ny], spacing: [$h, $h]}}
  line: {{type: uniform, size: [$nx]}}
analyses:
  - statistics: {{variable: ghosts}}
outputs:
  - hdf5: {{variables: [{", ".join(VARIABLES)}, places, masses]}}
"""


def run(folder, ranks, placement, beside=False):
    file, results = folder / "run.yaml", folder / "results"
    file.write_text(CONFIGURATION.replace("PLACEMENT", placement).replace("DIRECTORY", str(results)))
    run_program(PROGRAM, file, ranks, beside, timeout=60)
    return results


def check_files(results, clients):
    for step in range(STEPS):
        with h5py.File(results / f"fields-{step:06}.h5") as file:
            for name in VARIABLES:
                dataset, expected = file[f"variables/{name}"], whole(name, step)
                assert dataset.dtype == expected.dtype and dataset.attrs["missing"] == 0, name
                np.testing.assert_array_equal(dataset[...], expected, name)
            masses = [100 * r + n + step for r in range(clients) for n in range(5)]
            np.testing.assert_array_equal(file["variables/masses"][...].ravel(), np.float32(masses))


def check_reader(results, clients):
    found = sidestream.open(results)
    fields = found["fields"]
    for name in VARIABLES:
        expected = np.stack([whole(name, step) for step in range(STEPS)])
        assert fields[name].dtype == expected.dtype
        np.testing.assert_array_equal(fields[name].values, expected, name)
    np.testing.assert_array_equal(fields["time"], [0, 0.5])
    places = [r + np.arange(15).reshape(5, 3) for r in range(clients)]
    np.testing.assert_array_equal(fields["places"][1], np.concatenate(places))
    table = found["statistics"]
    assert list(table["cycle"]) == [0, 1]
    np.testing.assert_allclose(table["mean"], [whole("ghosts", step).mean() for step in range(STEPS)], rtol=1e-15)


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("clients", "placement"),
    pairs([3, 2, 1], ["{mode: cores, buffer: 32 MiB}", "inline", "{mode: nodes, servers: 2}", "sidecar"], strength=1),
)
def test_fields(tmp_path, clients, placement):
    servers = {"{mode: cores, buffer: 32 MiB}": 1, "{mode: nodes, servers: 2}": 2}.get(placement, 0)
    beside = placement == "sidecar"
    if beside:
        placement = f"{{mode: sidecar, buffer: 32 MiB, session: test-{uuid.uuid4().hex[:12]}}}"
    results = run(tmp_path, clients + servers, placement, beside)
    check_files(results, clients)
    check_reader(results, clients)


@pytest.mark.test_all
def test_other_threads_run_while_a_small_publication_waits(tmp_path):
    """A slow server, room for one iteration, and a thread that counts meanwhile."""
    (tmp_path / "slow.py").write_text("import time\ndef slow(block):\n    time.sleep(0.5)\n    return {'n': 1}\n")
    file = tmp_path / "run.yaml"
    file.write_text(
        "placement: {mode: cores, buffer: 32 MiB, max_in_flight: 1}\n"
        "meshes: {line: {size: [8]}}\nvariables: {a: {mesh: line}}\n"
        f"output: {{directory: {tmp_path / 'results'}}}\n"
        f"analyses: [python: {{variables: a, script: {tmp_path / 'slow.py'}, call: slow, file: n.csv}}]\n"
    )
    command = [MPIRUN, "-n", "2", sys.executable, str(PROGRAM.parent / "waiting.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    by_name, by_handle = map(int, done.stdout.split("counted")[1].split()[:2])
    assert by_name > 2 and by_handle > 2, done.stdout
