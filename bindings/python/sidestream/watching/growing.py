"""Text files to which a run adds lines: only what is new is read, and only whole lines."""

import os
from dataclasses import dataclass
from pathlib import Path

# Bytes that are read at once, and bytes before the end with which a file is begun that has more.
AT_ONCE = 8 << 20
FROM_THE_END = 32 << 20
_TAIL = 64


@dataclass
class News:
    """New lines. `restarted`: the file is another one, or new; what was read of it before does not count."""

    text: str = ""
    restarted: bool = False
    more: bool = False  # there is more to read at once
    left_out: bool = False  # lines after the first were left out, since the file is long


class Growing:
    """Reads a file to which lines are added. If it is long, its first line comes, and then its last part, which begins
    so many bytes `from_the_end`. `quoted`: line ends between quotes do not count."""

    def __init__(self, path: Path, quoted: bool = True, from_the_end: int | None = None) -> None:
        self.path = path
        self._quoted, self._from_the_end = quoted, from_the_end
        self._identity: tuple[int, int] | None = None
        self._offset = 0
        self._tail = b""
        self._seen: tuple[int, int, int] | None = None

    def read(self) -> News:
        """Returns what is new. A file that is missing has nothing, and is new when it comes back."""
        try:
            with self.path.open("rb") as file:
                facts = os.fstat(file.fileno())
                committed = self._committed()
                end = facts.st_size if committed is None else min(facts.st_size, committed)
                seen = (facts.st_ino, facts.st_mtime_ns, end)
                if seen == self._seen:
                    return News()
                news = self._read(file, (facts.st_dev, facts.st_ino), end)
        except OSError:
            restarted = self._identity is not None
            self._identity, self._seen = None, None
            return News(restarted=restarted)
        self._seen = None if news.more else seen
        return news

    def _committed(self) -> int | None:
        """Bytes of whole iterations, which a table has beside it while its run goes on."""
        try:
            return int((self.path.parent / f".{self.path.name}.committed").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def _read(self, file, identity: tuple[int, int], end: int) -> News:
        news = News()
        if not self._goes_on(file, identity, end):
            self._identity, self._offset, self._tail = identity, 0, b""
            news.restarted = True
        begin = b""
        last = FROM_THE_END if self._from_the_end is None else self._from_the_end
        if self._offset == 0 and end > last:
            begin = file.readline(AT_ONCE)
            file.seek(end - last)
            file.readline(AT_ONCE)
            self._offset = file.tell()
            news.left_out = True
        file.seek(self._offset)
        chunk = whole_lines(file.read(max(min(end - self._offset, AT_ONCE), 0)), self._quoted)
        self._offset += len(chunk)
        self._tail = (self._tail + chunk)[-_TAIL:]
        news.more = self._offset < end and len(chunk) > 0
        news.text = (begin + chunk).decode("utf-8", "replace")
        return news

    def _goes_on(self, file, identity: tuple[int, int], end: int) -> bool:
        """True if the file still begins with what was read: a later run may replace it, or cut it."""
        if identity != self._identity or end < self._offset:
            return False
        file.seek(max(self._offset - len(self._tail), 0))
        return file.read(len(self._tail)) == self._tail


def whole_lines(chunk: bytes, quoted: bool = True) -> bytes:
    """The part of a text that ends with a whole line, outside of quotes if these count."""
    end = chunk.rfind(b"\n") + 1
    while quoted and end and chunk.count(b'"', 0, end) % 2:
        end = chunk.rfind(b"\n", 0, end - 1) + 1
    return chunk[:end]
