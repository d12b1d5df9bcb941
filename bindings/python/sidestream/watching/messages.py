"""The newest messages of a run, of all levels and processes, from the files to which it adds a line for each."""

import re
from collections import deque
from pathlib import Path
from typing import Any

from .growing import Growing

FILES = ("messages.txt", "messages-clients.txt", "endpoint-messages.txt")
LEVELS = ("error", "warning", "note")
# Messages of each level that are kept of a file, those that are shown, and their longest text.
KEPT, MOST, LONGEST = 200, 300, 2000
# Bytes before the end at which reading a long file begins.
FROM_THE_END = 4 << 20
LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (error|warning|note) (\w+ \d+): (.*)")


class Messages:
    """Messages in the order of time. So many of each level are kept that notes do not push out an error."""

    def __init__(self, root: Path) -> None:
        self._files = [Growing(root / name, quoted=False, from_the_end=FROM_THE_END) for name in FILES]
        self._kept = [_emptied() for _ in FILES]

    def refresh(self) -> bool:
        """Reads new lines; returns true if something has changed."""
        changed = [self._refresh(number, file) for number, file in enumerate(self._files)]
        return any(changed)

    def _refresh(self, number: int, file: Growing) -> bool:
        changed, more = False, True
        while more:
            news = file.read()
            if news.restarted:
                self._kept[number] = _emptied()
            for line in news.text.split("\n"):
                found = LINE.fullmatch(line)
                if found:  # anything else is what a full disk has left of a line
                    time, level, process, text = found.groups()
                    text = text if len(text) <= LONGEST else text[:LONGEST] + " …"
                    self._kept[number][level].append([time, level, process, text])
            changed = changed or news.restarted or bool(news.text)
            more = news.more
        return changed

    def shown(self) -> list[list[str]]:
        """Time, level, process and text of each, the newest last. Rare levels are there beside many notes."""
        found: list[list[str]] = []
        for level in LEVELS:
            own = sorted((message for kept in self._kept for message in kept[level]), key=_time)
            found += own[-MOST // len(LEVELS) :]
        return sorted(found, key=_time)


def _time(message: list[str]) -> str:
    return message[0]


def _emptied() -> dict[str, deque[list[Any]]]:
    return {level: deque(maxlen=KEPT) for level in LEVELS}
