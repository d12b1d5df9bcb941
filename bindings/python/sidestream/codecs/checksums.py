"""Checksums of what a database holds, which are verified where xxhash is installed."""

import warnings
from functools import cache
from importlib.util import find_spec


@cache
def can_verify() -> bool:
    """Whether checksums can be calculated here; says so once if not."""
    if find_spec("xxhash") is not None:
        return True
    warnings.warn(
        "sidestream: the package xxhash is not installed, so that the checksums of a database are not verified; "
        "install it to notice damage",
        stacklevel=2,
    )
    return False


def is_right(data: bytes, checksum: int) -> bool:
    """Whether bytes have this checksum; true where that cannot be known."""
    if not can_verify():
        return True
    import xxhash

    return xxhash.xxh3_64_intdigest(data) == checksum
