"""Addresses of the values that an analysis gets, which shows that nothing was copied."""

import re
import resource
import sys
from pathlib import Path


def where(block):
    values = block["big"]
    address = values.__array_interface__["data"][0]
    mapped = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        lo, hi = (int(n, 16) for n in re.match(r"(\w+)-(\w+)", line).groups())
        if lo <= address and address + values.nbytes <= hi:
            mapped = int("memfd:sidestream" in line)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    total = values[0, 0] + values[-1, -1]
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    lent = getattr(sys.modules["__main__"], "LENT", {}).get(
        block.data.index, -1
    )  # published by a program in Python, in its own process
    return {
        "shared": mapped,
        "same": int(address == lent),
        "bytes": values.nbytes,
        "owned": int(values.flags.owndata),
        "more_kb": more,
        "total": total,
    }
