"""Every constant of codes.h has a value that Fortran gets, and every function of sidestream.h is called.

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
named = re.findall(r"\bSIDESTREAM_\w+", "".join(re.findall(r"enum \{(.*?)\}", header, flags=re.S)))
unmade = [name for name in named if not re.search(rf"\b{name} = \d+", header)]
assert len(named) > 40 and not unmade, f"no constants for Fortran, which are made of 'NAME = NUMBER': {unmade}"

stored = "".join((root / "include/sidestream" / name).read_text(encoding="utf-8") for name in ("restart.h", "reader.h"))
stored = re.sub(r"/\*.*?\*/", "", stored, flags=re.S)
functions = set(re.findall(r"\b(sidestream_\w+)\(", header + stored))
assert {"sidestream_restart_read_box", "sidestream_cells_read"} <= functions
assert len(functions) > 40, functions
called = "".join(path.read_text(encoding="utf-8") for path in (root / "bindings/fortran").iterdir())
called += called.replace("@STORED@", "restart") + called.replace("@STORED@", "context")
# These do the same as another function that is called.
same = {"sidestream_close", "sidestream_alloc", "sidestream_alloc_values", "sidestream_set_block"}
same |= {"sidestream_publish_components", "sidestream_publish_block"}
# Only languages need these whose arrays do not know their order, and live until nobody refers to them.
same |= {"sidestream_describe_variable", "sidestream_keep_memory", "sidestream_release_memory"}
# Fortran has defaults of arguments.
same |= {"sidestream_all_leaves"}
missing = {name for name in functions - same if not re.search(rf"\bc_{name[11:]}\(|return {name}\(", called)}
assert not missing, f"not called: {missing}"
