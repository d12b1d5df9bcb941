"""Spectral elements of a program in Fortran: points count once, surfaces close, integrals are right."""

import os

import pytest
import spectral
from pairs import few

PROGRAM = os.environ["SIDESTREAM_FORTRAN_SPECTRAL"]


@pytest.mark.parametrize(
    ("placement", "ranks"),
    few(
        [
            ("inline", 1),
            ("inline", 2),
            ("{mode: cores, per_node: 1, buffer: 8 MiB}", 4),
            ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5),
        ],
        kept=[("{mode: nodes, servers: 2, buffer: 8 MiB}", 5)],
    ),
)
def test_spectral_elements(tmp_path, placement, ranks):
    spectral.run(tmp_path, [PROGRAM], ranks, placement)
