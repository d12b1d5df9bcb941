"""Spectral elements of a program in Python: points count once, surfaces close, integrals are right."""

import sys
from pathlib import Path

import pytest
import spectral
from pairs import few

SCRIPT = Path(__file__).with_name("spectral_elements.py")
COMMAND = [sys.executable, SCRIPT, Path(spectral.__file__).parent]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return spectral.run(tmp_path_factory.mktemp("alone"), COMMAND, 1, "inline")


@pytest.mark.parametrize(
    ("placement", "ranks"),
    few(
        [
            ("inline", 2),
            ("inline", 3),
            ("inline", 5),
            ("{mode: cores, per_node: 1, buffer: 8 MiB}", 3),
            ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5),
            ("{mode: nodes, servers: 2, buffer: 8 MiB, forward: blocks}", 5),
        ],
        kept=[("{mode: cores, per_node: 1, buffer: 8 MiB}", 3)],
    ),
)
def test_spectral_elements(tmp_path, alone, placement, ranks):
    assert spectral.run(tmp_path, COMMAND, ranks, placement) == alone
