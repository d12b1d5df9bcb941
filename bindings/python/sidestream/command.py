"""The command `sidestream` of an installation by pip: `export`, `plot`, `record`, `trace`, `watch`, and the program,
from the package or from PATH."""

import os
import shutil
import sys
from pathlib import Path


def program() -> Path | None:
    """The program that was built with the client, or one in PATH that is not this script."""
    own = Path(__file__).parent / "bin" / "sidestream"
    if own.is_file():
        return own
    script = Path(sys.argv[0]).resolve()
    for folder in os.get_exec_path():
        found = shutil.which("sidestream", path=folder)
        if found and Path(found).resolve() != script and not is_script(Path(found)):
            return Path(found)
    return None


def is_script(path: Path) -> bool:
    """True for a script: that of another installation of this package, or a shim. It would call this one, endlessly."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:  # a program may be executable but not readable
        return False


def main() -> int:
    if sys.argv[1:2] == ["export"]:
        from .exporters.exporting import main as export

        return export(sys.argv[2:])
    if sys.argv[1:2] == ["plot"]:
        from .charts.plotting import main as plot

        return plot(sys.argv[2:])
    if sys.argv[1:2] == ["watch"]:
        from .watching.command import main as watch

        return watch(sys.argv[2:])
    if sys.argv[1:2] in (["trace"], ["record"]):
        from .records.command import main as write

        return write(sys.argv[1], sys.argv[2:])
    found = program()
    if found is None:
        print(
            "sidestream: this installation of the Python package holds no command, and PATH has none: put the bin "
            "folder of an installed Sidestream into PATH, or build the package with "
            "-C cmake.define.SIDESTREAM_PYTHON_COMMAND=ON",
            file=sys.stderr,
        )
        return 1
    os.execv(found, [str(found), *sys.argv[1:]])
