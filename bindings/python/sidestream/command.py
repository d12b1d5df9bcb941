"""The command `sidestream` of an installation by pip: the program that was built with the client, and `export`."""

import os
import sys
from pathlib import Path


def main() -> int:
    if sys.argv[1:2] == ["export"]:
        from .exporting import main as export

        return export(sys.argv[2:])
    program = Path(__file__).parent / "bin" / "sidestream"
    if not program.is_file():
        print(
            "sidestream: this installation of the Python package holds no command: it is the reader alone, or uses an "
            "installed Sidestream, whose command lies in that one's bin folder",
            file=sys.stderr,
        )
        return 1
    os.execv(program, [str(program), *sys.argv[1:]])
