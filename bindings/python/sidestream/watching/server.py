"""The server of the page: an application of Starlette."""

import gzip
import json
import secrets
from collections.abc import Awaitable, Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from ..errors import Error
from . import asking, steering
from .events import EventStream
from .guards import HEADERS, Guard, policy
from .hub import MOST_WATCHERS, Hub
from .inside import file_in
from .mailbox import ask_in_turn
from .page import served_page, web_file
from .watched import Watched

LONGEST_BODY = 16384
MOST_WAITING = 16
MOST_FRAMES = 500
WAIT = 60.0
KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
Handler = Callable[[Request], Awaitable[Any]]


@cache
def charts_script() -> bytes:
    """plotly's script, compressed."""
    return gzip.compress(get_plotlyjs().encode(), 6)


def refused(status: int, reason: str) -> Response:
    """An answer with a sentence."""
    return Response(reason + "\n", status, {**HEADERS, "Cache-Control": "no-store"}, "text/plain; charset=utf-8")


class Page:
    """The page of one directory. `may_ask`: watchers may steer and ask, not only look."""

    def __init__(self, watched: Watched, guard: Guard, may_ask: bool = True) -> None:
        self.hub = Hub(watched)
        self._watched, self._guard, self._may_ask = watched, guard, may_ask
        self._waiting = 0

    def application(self) -> Starlette:
        """All routes; in a notebook below /t/TOKEN."""
        routes = [
            Route("/", self._guarded(self._page, self._entered)),
            Route("/web/{name}", self._guarded(self._web)),
            Route("/charts.js", self._guarded(self._charts)),
            Route("/events", self._guarded(self._events)),
            Route("/frames", self._guarded(self._frames)),
            Route("/table", self._guarded(self._table)),
            Route("/picture/{name:path}", self._guarded(self._picture)),
            Route("/steer", self._guarded(self._steer), methods=["POST"]),
            Route("/ask", self._guarded(self._ask), methods=["POST"]),
        ]
        return Starlette(routes=[Mount("/t/{token}", routes=routes)] if self._guard.framed else routes)

    def _guarded(self, handler: Handler, before: Callable[[Request], Response | None] | None = None) -> Handler:
        @wraps(handler)
        async def checked(request: Request) -> Any:
            early = before(request) if before else None
            if early is not None:
                return early
            trouble = self._guard.trouble(request)
            if trouble is not None:
                return refused(*trouble)
            try:
                return await handler(request)
            except Error as problem:
                return refused(422 if request.method == "POST" else 404, str(problem))

        return checked

    def _entered(self, request: Request) -> Response | None:
        """Takes the token out of the address, into a cookie."""
        given = request.query_params.get("token")
        if given is None or self._guard.framed:
            return None
        trouble = self._guard.trouble(request, given)
        if trouble is not None:
            return refused(*trouble)
        answer = RedirectResponse(".", 303, HEADERS)
        answer.set_cookie(self._guard.cookie, given, httponly=True, samesite="strict", path="/")
        return answer

    async def _page(self, request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        headers = {**HEADERS, "Content-Security-Policy": policy(nonce, self._guard.framed), "Cache-Control": "no-store"}
        if self._guard.framed:
            del headers["Cross-Origin-Opener-Policy"]
        return Response(served_page(nonce, self._may_ask), 200, headers, "text/html; charset=utf-8")

    async def _web(self, request: Request) -> Response:
        found = web_file(request.path_params["name"])
        if found is None:
            return refused(404, "There is no such part of the page.")
        kind = "text/css" if request.path_params["name"].endswith(".css") else "text/javascript"
        return Response(found, 200, {**HEADERS, "Cache-Control": "no-cache"}, kind + "; charset=utf-8")

    async def _charts(self, request: Request) -> Response:
        script = await run_in_threadpool(charts_script)
        headers = {**HEADERS, "Cache-Control": "private, max-age=86400", "Content-Encoding": "gzip"}
        return Response(script, 200, headers, "text/javascript; charset=utf-8")

    async def _events(self, request: Request) -> Any:
        if self.hub.watchers >= MOST_WATCHERS:
            return refused(503, f"{MOST_WATCHERS} watchers are here; wait until one leaves.")
        return EventStream(self.hub.events(), HEADERS)

    async def _frames(self, request: Request) -> Response:
        series = self._watched.pictures.series.get(request.query_params.get("series", ""))
        if series is None:
            return refused(404, "There is no such series of pictures.")
        frames = series.frames(request.query_params.get("view", ""))
        try:
            first, count = int(request.query_params["from"]), int(request.query_params["count"])
        except (KeyError, ValueError):
            return refused(400, "'from' and 'count' are no whole numbers.")
        wanted = frames[max(first, 0) : max(first, 0) + max(min(count, MOST_FRAMES), 0)]
        return self._json(await self.hub.between_looks(lambda: [self._watched.frame_facts(frame) for frame in wanted]))

    async def _table(self, request: Request) -> Response:
        table = self._watched.tables.get(request.query_params.get("name", ""))
        if table is None:
            return refused(404, "There is no such table.")
        return self._json(await self.hub.between_looks(table.shown))

    async def _picture(self, request: Request) -> Response:
        name = request.path_params["name"]
        kind = KINDS.get(Path(name).suffix)
        if kind is None:
            return refused(404, f"'{name}' is no picture.")
        path = await run_in_threadpool(file_in, self._watched.root, name)
        cached = "private, max-age=3600, immutable" if "v" in request.query_params else "no-cache"
        # A picture that is opened by itself runs nothing, whatever is in it.
        headers = {**HEADERS, "Cache-Control": cached, "Content-Security-Policy": "default-src 'none'; sandbox"}
        return FileResponse(path, headers=headers, media_type=kind)

    async def _steer(self, request: Request) -> Response:
        given = await self._body(request, "name", "value")
        if isinstance(given, Response):
            return given
        return await self._answered(steering.folder_of(self._watched.root), *given)

    async def _ask(self, request: Request) -> Response:
        given = await self._body(request, "analysis")
        if isinstance(given, Response):
            return given
        return await self._answered(*await run_in_threadpool(asking.question, self._watched.root, given[0]))

    async def _answered(self, folder: Path, first: str, second: str) -> Response:
        if self._waiting >= MOST_WAITING:
            return refused(503, f"{MOST_WAITING} requests wait for their answers; try again later.")
        self._waiting += 1
        try:
            return self._json({"answer": await ask_in_turn(folder, first, second, WAIT)})
        finally:
            self._waiting -= 1

    async def _body(self, request: Request, *names: str) -> list[str] | Response:
        """The texts of these names in the body of a request."""
        if not self._may_ask:
            return refused(403, "This page only looks: it was started with --read-only.")
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > LONGEST_BODY:
                return refused(413, f"The request has more than {LONGEST_BODY} bytes.")
        try:
            found = json.loads(body)
            texts = [found[name] for name in names]
        except (ValueError, KeyError, TypeError, RecursionError):
            texts = [None]
        if not all(isinstance(text, str) for text in texts):
            return refused(400, f"The request is damaged, expected texts for {' and '.join(names)}.")
        return texts

    @staticmethod
    def _json(value: Any) -> Response:
        return JSONResponse(value, headers={**HEADERS, "Cache-Control": "no-store"})
