"""Surfaces and pictures of patches on refinement levels, which appear and vanish, have the same bytes in every
placement."""

import uuid

import pytest
from test_kinds import DECLARATIONS, MPIRUN, PLACEMENTS, STEPS, TOOL, simulate

# Isovalues lie between values of different levels, which differ by 250000, and of one level. Steps differ by a million.
VALUES = [1e6 * step + value for step in range(STEPS) for value in (5050.5, 125000, 262500, 375000)]
TASKS = f"""\
analyses:
  - isosurface: {{variable: t, values: {VALUES}, fields: [t], file: "surface-{{index}}.vtp"}}
  - isosurface: {{variable: t, values: {VALUES}, normals: true, name: lit, file: "lit-{{index}}.vtp"}}
  - isosurface: {{variable: n, values: {VALUES}, fields: [t], name: nodes, file: "nodes-{{index}}.vtp"}}
  - isosurface: {{variable: t, values: {VALUES}, levels: [0, 1], box: [-100, -100, -100, 100, 100, 100], name: some,
                 file: "some-{{index}}.vtp"}}
  - render: {{isosurface: {{variable: t, values: {VALUES[3::4]}}}, size: [120, 100], file: "frame-{{index}}.png"}}
"""


def run(folder, name, placement, ranks, beside=None):
    path = folder / f"{name}.yaml"
    head = f"placement: {placement}\noutput: {{directory: {folder / 'results'}}}\n"
    path.write_text(head + DECLARATIONS["levels"] + TASKS)
    results = simulate(folder, path, "levels", ranks, 0, 0, [*beside, str(path)] if beside else None)
    found = {p.name: p.read_bytes() for pattern in ("*-?.vtp", "*.png") for p in results.glob(pattern)}
    assert len(found) == 5 * STEPS
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    found = run(tmp_path_factory.mktemp("reference"), "reference", "inline", 1)
    # The finest patches exist in every other step.
    assert len(found["surface-0.vtp"]) > len(found["surface-1.vtp"]) > 2000
    return found


@pytest.mark.keep(1)
@pytest.mark.parametrize(("placement", "clients", "servers"), PLACEMENTS[1:])
def test_placements(tmp_path, reference, placement, clients, servers):
    assert run(tmp_path, "run", placement, clients + servers) == reference


def test_partials(tmp_path, reference):
    placement = "{mode: nodes, servers: 2, buffer: 4 MiB, forward: partials}"
    assert run(tmp_path, "run", placement, 6) == reference


def test_sidecar(tmp_path, reference):
    placement = f"{{mode: sidecar, session: test-{uuid.uuid4().hex[:12]}, buffer: 4 MiB, when_full: wait}}"
    assert run(tmp_path, "run", placement, 3, [TOOL, "serve"]) == reference


def test_job(tmp_path, reference):
    placement = f"{{mode: job, buffer: 32 MiB, stream: {{name: s, directory: {tmp_path}, engine: files}}}}"
    assert run(tmp_path, "run", placement, 4, [MPIRUN, "-n", "2", TOOL, "endpoint"]) == reference
