"""Serves the page: for a command, or in a thread of a notebook."""

import asyncio
import contextlib
import socket
import threading
from pathlib import Path

import uvicorn

from ..errors import Code, Error
from .guards import Guard, new_token
from .server import Page
from .watched import Watched

ADDRESS = "127.0.0.1"


def listening(port: int) -> socket.socket:
    """A socket of the loopback. Port 0: any that is free."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((ADDRESS, port))
        found.listen(128)  # who follows the printed address at once waits instead of being refused
    except (OSError, OverflowError) as problem:
        found.close()
        raise Error(f"cannot listen at port {port} of {ADDRESS} ({problem}); choose another one", Code.SYSTEM) from None
    return found


class _Server(uvicorn.Server):
    """A server that ends the streams of events when it ends, instead of waiting for watchers to leave."""

    def __init__(self, config: uvicorn.Config, page: Page) -> None:
        super().__init__(config)
        self._page = page

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._page.hub.end()
        await super().shutdown(sockets)


class Serving:
    """A server of the page of one directory."""

    def __init__(self, root: Path, port: int = 0, framed: bool = False, may_ask: bool = True) -> None:
        self._socket = listening(port)
        self.port = self._socket.getsockname()[1]
        guard = Guard(new_token(), framed)
        self.page = Page(Watched(root), guard, may_ask)
        entry = f"t/{guard.token}/" if framed else f"?token={guard.token}"
        self.url = f"http://{ADDRESS}:{self.port}/{entry}"
        config = uvicorn.Config(
            self.page.application(),
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            limit_concurrency=256,
            h11_max_incomplete_event_size=32768,
        )
        self._server = _Server(config, self.page)
        self._thread: threading.Thread | None = None

    def run(self) -> None:
        """Serves until it is interrupted."""
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self._server.serve([self._socket]))

    def start(self) -> None:
        """Serves in a thread."""
        self._thread = threading.Thread(target=self.run, name="sidestream-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the server that `start` has begun."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(5)
        self._socket.close()
