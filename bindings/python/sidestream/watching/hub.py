"""Looks at a directory while somebody watches, and wakes the watchers if there is something new."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from .events import ALIVE, event_of
from .watched import Watched

T = TypeVar("T")
# Seconds between looks, and how much longer than a look itself the pause is.
PAUSE, REST = 0.08, 5.0
MOST_WATCHERS = 64


class Hub:
    """One for each server. Nothing looks at the directory while nobody watches."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.watchers = 0
        self._looking: asyncio.Task[None] | None = None
        self._new = asyncio.Event()
        self._lock = asyncio.Lock()
        self._ends = False

    def end(self) -> None:
        """Ends all streams of events: the server ends."""
        self._ends = True
        self._new.set()

    async def look(self) -> float:
        """Looks once, in a thread: a slow disk must not hold up other watchers."""
        async with self._lock:
            took = await asyncio.to_thread(self.watched.refresh)
        self._new.set()
        self._new = asyncio.Event()
        return took

    async def between_looks(self, function: Callable[[], T]) -> T:
        """Calls a function that reads what a look changes, in a thread."""
        async with self._lock:
            return await asyncio.to_thread(function)

    async def _go_on(self) -> None:
        while self.watchers and not self._ends:
            took = await self.look()
            await asyncio.sleep(max(PAUSE, REST * took))

    async def events(self) -> AsyncIterator[bytes]:
        """Events with what is new for one watcher. It keeps only the versions that the watcher has."""
        told: dict[str, int] = {}
        self.watchers += 1
        try:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._go_on())
            sent_at = time.monotonic()
            while not self._ends:
                new = self._new
                changes: dict[str, Any] = self.watched.changes(told)
                if changes or time.monotonic() - sent_at > ALIVE:
                    yield event_of(changes) if changes else b": alive\n\n"
                    sent_at = time.monotonic()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(new.wait(), ALIVE)
        finally:
            self.watchers -= 1
