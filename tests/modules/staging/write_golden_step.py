"""Writes tests/modules/staging/golden/step-7 from the specification in docs/format-streams.md, without Sidestream."""

import struct
import sys
import zlib
from pathlib import Path


def hash_of(words):
    value = 2166136261
    for word in words:
        value = ((value ^ word) * 16777619) & 0xFFFFFFFF
    return value


def file_of(magic, session, iteration, writers, content):
    layout = hash_of([64, 56, 96, 24, 144, 24, 144, 40, 8])
    head = magic + struct.pack(
        "<IIQqiiQI", 4, layout, session, iteration, 0, writers, len(content), zlib.crc32(content)
    )
    return head + struct.pack("<IQ", zlib.crc32(head), 0) + content


def block(id_, mesh, level, client, lo, hi):
    bounds = 3 * [float("inf")] + 3 * [-float("inf")]  # no bounds are known
    return struct.pack("<qiiii6q3q6d", id_, mesh, level, client, 0, *lo, *hi, 0, 0, 0, *bounds)


def record(place, variable, components, type_, writer, lo, hi, offset, size, number, checksum):
    return struct.pack(
        "<qiiii6qQQiI", place, variable, components, type_, writer, *lo, *hi, offset, size, number, checksum
    )


inf = float("inf")
content = struct.pack("<qdQQQQQ", 70, 0.5, 5, 2, 2, 1, 1)
content += block(4, 0, 0, 1, (0, 0, 0), (3, 4, 5)) + block(9, 0, 1, 2, (3, 0, 0), (6, 4, 5))
content += record(0, 0, 1, 9, 0, (0, 0, 0), (3, 4, 5), 0, 480, 0, 0xDEADBEEF)
content += record(1, 1, 2, 8, 1, (3, 0, 0), (7, 5, 6), 64, 960, 3, 0xDEADBEEF)
content += struct.pack("<qii16d", 4, 0, 0, -1.5, 2.5, -1, 1, inf, -inf, 0, 2, *(4 * [inf, -inf]))
content += struct.pack("<qqii2d", 4, 9, 0, 0, -0.5, 2.25)
with Path(sys.argv[1]).open("wb") as file:
    file.write(file_of(b"SDSSTEP\0", 0x0123456789ABCDEF, 7, 2, content))
