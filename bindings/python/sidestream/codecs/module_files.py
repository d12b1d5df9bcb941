"""Files of Sidestream's modules: in the folder SIDESTREAM_MODULES, in the package, or beside it in an installation or a
build."""

import os
from pathlib import Path


def module_file(name: str) -> Path | None:
    """The file `sidestream_NAME.so`; None if there is none."""
    named = os.environ.get("SIDESTREAM_MODULES", "")
    package = Path(__file__).parents[1]
    beside = [package / "modules", package.parents[1] / "modules", package.parents[2] / "src" / "modules"]
    for folder in [Path(named)] if named else beside:
        file = folder / f"sidestream_{name}.so"
        if file.is_file():
            return file.resolve()
    return None
