"""Checksums of the bytes in a database, verified if xxhash is installed."""

import warnings
from functools import cache
from importlib.util import find_spec


@cache
def can_verify() -> bool:
    """True if checksums can be computed here; warns once if not."""
    if find_spec("xxhash") is not None:
        return True
    warnings.warn(
        "sidestream: the package xxhash is not installed, so that the checksums of a database are not verified; "
        "install it to notice damage",
        stacklevel=2,
    )
    return False


def is_right(data: bytes, checksum: int) -> bool:
    """True if bytes have this checksum, or if it cannot be computed here."""
    if not can_verify():
        return True
    import xxhash

    return xxhash.xxh3_64_intdigest(data) == checksum
