"""Guards of the page: a token, and requests that come from the page itself."""

import hmac
import secrets
from urllib.parse import urlsplit

from starlette.requests import Request

# Names of this machine's own loopback, as a browser gives them, also through a tunnel.
HOSTS = ("127.0.0.1", "localhost", "[::1]")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


def policy(nonce: str, framed: bool) -> str:
    """The Content-Security-Policy of the page: everything from this server. Charts set styles of elements. Notebooks
    frame the page from many origins, some with schemes of their own."""
    ancestors = "" if framed else "; frame-ancestors 'none'"
    return (
        f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; font-src 'self' data:; base-uri 'none'; form-action 'none'"
        f"{ancestors}"
    )


class Guard:
    """Decides on requests. `framed`: the page is shown within a notebook, where cookies of another site are not sent,
    and so the token is part of the path."""

    def __init__(self, token: str, framed: bool = False) -> None:
        self.token, self.framed = token, framed
        # Browsers share cookies between ports, so that each server needs a name of its own.
        self.cookie = f"sidestream-watch-{secrets.token_hex(4)}"

    def is_token(self, given: str) -> bool:
        """Compares in a time that does not depend on the text."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def trouble(self, request: Request, given: str | None = None) -> tuple[int, str] | None:
        """The status and the reason with which a request is refused; None if it is not. `given`: its token, if this is
        not in its cookie or path."""
        host = request.headers.get("host", "")
        if host.rsplit(":", 1)[0] not in HOSTS:
            return 421, "The page is at 127.0.0.1 or localhost, and at no other name."
        fetched = request.headers.get("sec-fetch-mode", "navigate") != "navigate"
        if fetched and request.headers.get("sec-fetch-site") == "cross-site" and not self.framed:
            return 403, "The request comes from another page."
        if request.method != "GET":
            origin = request.headers.get("origin", "")
            if urlsplit(origin).netloc != host or urlsplit(origin).scheme not in ("http", "https"):
                return 403, "The request does not come from the page itself."
            if request.headers.get("content-type", "").split(";")[0] != "application/json":
                return 415, "The request is not JSON."
        if given is None:
            given = request.path_params.get("token") if self.framed else request.cookies.get(self.cookie)
        if not self.is_token(given or ""):
            return 403, "The token is missing or wrong: open the address that `sidestream watch` has printed."
        return None
