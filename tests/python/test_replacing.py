"""Lists of blocks that a program in Python replaces in each iteration."""

import sys
from pathlib import Path

import pytest
import replaced
from pairs import few

SCRIPT = Path(__file__).with_name("replacing.py")


@pytest.mark.parametrize(
    ("placement", "ranks"),
    few(
        [
            ("inline", 1),
            ("inline", 5),
            ("{mode: cores, per_node: 1, buffer: 8 MiB}", 3),
            ("{mode: nodes, servers: 2, buffer: 8 MiB}", 5),
            ("{mode: nodes, servers: 1, buffer: 8 MiB, forward: blocks}", 4),
            ("{mode: nodes, servers: 1, buffer: 8 MiB, forward: partials}", 4),
        ],
        kept=[("{mode: cores, per_node: 1, buffer: 8 MiB}", 3)],
    ),
)
def test_replaced_blocks(tmp_path, placement, ranks):
    replaced.run(tmp_path, [sys.executable, SCRIPT], ranks, placement)
