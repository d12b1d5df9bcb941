"""A stream of events for a watcher. The newest state waits for it, not a queue; a watcher who does not read is
dropped."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
# Seconds that a watcher may take to accept an event, and between signs of life.
PATIENCE, ALIVE = 20.0, 10.0


def event_of(value: Any) -> bytes:
    """An event in the form of server-sent events."""
    return f"data: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


class EventStream:
    """A response that sends what `events` yields until the watcher leaves, or has not accepted an event in time."""

    def __init__(self, events: AsyncIterator[bytes], headers: dict[str, str], patience: float = PATIENCE) -> None:
        self._events, self._patience = events, patience
        given = {"content-type": "text/event-stream", "cache-control": "no-store", **headers}
        self._headers = [(name.lower().encode(), value.encode()) for name, value in given.items()]

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        tasks = [asyncio.ensure_future(self._send(send)), asyncio.ensure_future(_gone(receive))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            close = getattr(self._events, "aclose", None)
            if close is not None:
                await close()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self._headers})
        async for event in self._events:
            message = {"type": "http.response.body", "body": event, "more_body": True}
            try:
                await asyncio.wait_for(send(message), self._patience)
            except TimeoutError:
                return
        await asyncio.wait_for(send({"type": "http.response.body", "body": b""}), self._patience)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
