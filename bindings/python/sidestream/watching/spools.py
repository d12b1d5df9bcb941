"""Part files, `.timings.csv.rows` and so on: rows of a run that goes on, in chunks with holes between them."""

import os
from pathlib import Path

CHUNK = 1 << 18  # bytes, as src/storage/files/row_spool.hpp says
# Chunks that are read, the newest ones.
MOST = 48


def part_path(folder: Path, table: str) -> Path:
    """Path of the part file of a table."""
    return folder / f".{table}.rows"


def newest_rows(path: Path, most: int = MOST) -> str:
    """The whole rows in the last `most` chunks; empty if there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        size = os.fstat(descriptor).st_size
        chunks = (size + CHUNK - 1) // CHUNK
        texts = [_chunk(descriptor, number) for number in range(max(chunks - most, 0), chunks)]
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return b"".join(texts).decode("utf-8", "replace")


def _chunk(descriptor: int, number: int) -> bytes:
    text = os.pread(descriptor, CHUNK, number * CHUNK)
    end = text.find(b"\0")
    text = text if end < 0 else text[:end]
    return text[: text.rfind(b"\n") + 1]
