"""Lists of blocks that a program in Fortran replaces in each iteration."""

import os

import pytest
import replaced
from pairs import few

PROGRAM = os.environ["SIDESTREAM_FORTRAN_REPLACING"]


@pytest.mark.parametrize(
    ("placement", "ranks"),
    few(
        [
            ("inline", 1),
            ("inline", 2),
            ("{mode: cores, per_node: 1, buffer: 8 MiB}", 3),
            ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5),
        ],
        kept=[("{mode: nodes, servers: 2, buffer: 8 MiB}", 5)],
    ),
)
def test_replaced_blocks(tmp_path, placement, ranks):
    replaced.run(tmp_path, [PROGRAM], ranks, placement)
