"""The constants of the module are those of codes.h, and every function of sidestream.h is called.

Usage: test_constants.py ROOT
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
header = "".join(
    (root / "include/sidestream" / name).read_text(encoding="utf-8") for name in ("codes.h", "sidestream.h")
)
header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
module = (root / "bindings/fortran/sidestream_base.f90").read_text(encoding="utf-8")
in_c = {name: int(value) for name, value in re.findall(r"\b(SIDESTREAM_\w+) = (\d+)", header)}
in_fortran = {name: int(value) for name, value in re.findall(r":: (SIDESTREAM_\w+) = (\d+)", module)}
assert len(in_c) > 40 and in_c == in_fortran, f"{in_c.items() ^ in_fortran.items()}"

# The module that programs use makes them public again.
face = (root / "bindings/fortran/sidestream.f90.in").read_text(encoding="utf-8")
hidden = [name for name in in_c if not re.search(rf"\b{name}\b", face)]
assert not hidden, f"not public: {hidden}"

stored = "".join((root / "include/sidestream" / name).read_text(encoding="utf-8") for name in ("restart.h", "reader.h"))
stored = re.sub(r"/\*.*?\*/", "", stored, flags=re.S)
functions = set(re.findall(r"\b(sidestream_\w+)\(", header + stored))
assert {"sidestream_restart_read_box", "sidestream_cells_read"} <= functions
assert len(functions) > 40, functions
called = "".join(path.read_text(encoding="utf-8") for path in (root / "bindings/fortran").iterdir())
# These do the same as another function that is called.
same = {"sidestream_close", "sidestream_alloc", "sidestream_alloc_values", "sidestream_set_block"}
same |= {"sidestream_publish_components", "sidestream_publish_block"}
# Only languages need these whose arrays do not know their order, and live until nobody refers to them.
same |= {"sidestream_describe_variable", "sidestream_keep_memory", "sidestream_release_memory"}
# Fortran has defaults of arguments.
same |= {"sidestream_all_leaves"}
missing = {name for name in functions - same if not re.search(rf"'{name}'|\b{name}\(", called)}
assert not missing, f"not called: {missing}"
