"""Every partitioner in a run gives the same bits. Also tests the metadata that planning uses."""

import pytest
from support import ANALYSES, results_of, run

STEPS = 2
OPTIONS = [f"steps={STEPS}", "blocks=5", "ghosts=1"]
WHOLE = [
    "{stripe: {width: 2}}",
    "{mapped: {servers: [2, 0, 1, 1, 0, 2, 2, 0, 0, 1, 2, 1, 0, 0, 2]}}",
    "balanced",
    "{balanced: {by: cost}}",
    "local",
    "{replicated: {copies: 2}}",
    "{replicated: {copies: all}}",
    "{regrid: {shape: slabs}}",
    "{regrid: {shape: pencils, axis: y}}",
    "{regrid: {shape: bricks}}",
]


def nodes(partitioner):
    return f"{{mode: nodes, servers: 3, buffer: 16 MiB, partitioner: {partitioner}}}"


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    done = run(tmp_path_factory.mktemp("reference"), 1, "inline", options=[f"steps={STEPS}"])
    assert done.status == 0, done.text
    files = results_of(done)
    assert len(files) > 6
    return files


@pytest.mark.keep(1)
@pytest.mark.parametrize("partitioner", WHOLE)
def test_same_results(tmp_path, reference, partitioner):
    done = run(tmp_path, 6, nodes(partitioner), options=OPTIONS)
    assert done.status == 0, done.text
    for account in done.accounts:
        assert account["delivered"] == STEPS, done.text
        assert account["failed"] == account["refused"] == 0, done.text
    files = results_of(done)
    assert sorted(files) == sorted(reference)
    for name, content in reference.items():
        assert files[name] == content, f"{name} differs"


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("partitioner", "analysis"),
    [
        (
            "{slice: {variable: t, origin: [0, 0, 0.2], normal: [0, 0, 2]}}",
            "slice: {variable: t, axis: z, position: 0.2}",
        ),
        ("{isosurface: {variable: t, values: 1.7}}", "isosurface: {variable: t, values: 1.7}"),
    ],
)
def test_restricted(tmp_path, partitioner, analysis):
    """The analysis that the partitioner is for has the same result; a sum over the mesh lacks the blocks left out."""
    tasks = f"analyses:\n  - {analysis}\n  - statistics: {{variable: t}}\n"
    files = []
    for number, (ranks, placement) in enumerate([(1, "inline"), (6, nodes(partitioner))]):
        done = run(tmp_path / str(number), ranks, placement, tasks=tasks, options=OPTIONS)
        assert done.status == 0, done.text
        files.append(results_of(done))
    surface = analysis.split(":")[0] + "-00001.vtp"
    assert len(files[0][surface]) > 2000
    assert files[1][surface] == files[0][surface]
    assert files[1]["statistics.csv"] != files[0]["statistics.csv"]


@pytest.mark.test_all
def test_metadata_is_the_same_everywhere(tmp_path):
    tasks = ANALYSES + "outputs:\n  - metadata: {ranges: [t, p]}\n"
    texts = []
    for number, (placement, servers) in enumerate(
        [("inline", 0), ("{mode: cores, buffer: 32 MiB, per_node: 2}", 2), (nodes("block"), 3), (nodes("balanced"), 3)]
    ):
        done = run(tmp_path / str(number), 3 + servers, placement, tasks=tasks, options=OPTIONS)
        assert done.status == 0, done.text
        texts.append((done.results / "metadata-000010.yaml").read_text())
    assert texts[0].startswith("sidestream_metadata: 2\n")
    blocks, ranges = (texts[0].split(f"{key}: |\n")[1].split("#")[0].splitlines() for key in ("blocks", "ranges"))
    assert len(blocks) == 15
    assert len(ranges) == 3 * 15  # ranges of t and of two components of p
    assert texts == [texts[0]] * 4
