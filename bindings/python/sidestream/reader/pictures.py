"""Pictures, as arrays of their pixels."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import Code, Error
from .lazy import Fields, Index, LazyArray


@dataclass(frozen=True, eq=False)
class PictureArray(LazyArray):
    """The pixels of a picture, rows from the top."""

    path: Path

    def _read(self, index: Index) -> NDArray[np.uint8]:
        from PIL import Image

        with Image.open(self.path) as picture:
            return np.asarray(picture)[index]


def read_picture(path: Path) -> Fields:
    """A picture as the array `image` (y, x, channel), rows from the top."""
    if find_spec("PIL") is None:
        raise Error(f"{path}: pictures are read by pillow, which is not installed; install it", Code.FILE)
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            shape = (picture.height, picture.width, len(picture.getbands()))
    except (OSError, UnidentifiedImageError) as problem:
        raise Error(f"{path}: this is no picture that can be read ({problem})", Code.FILE) from problem
    chunks = tuple((n,) for n in shape)
    image = PictureArray(("y", "x", "channel"), shape, np.dtype(np.uint8), {}, chunks, path)
    return Fields(path, {"image": image}, {}, {})
