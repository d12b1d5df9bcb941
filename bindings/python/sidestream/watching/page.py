"""The page as text: served, or with everything in one file."""

import base64
import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

MODULES = ("main", "source", "pictures", "tables", "charts", "times", "messages", "steering", "asking", "elements")
WEB = (*(f"{name}.js" for name in MODULES), "style.css")


@cache
def web_file(name: str) -> bytes | None:
    """A file of the folder `web`; None if it is no part of the page."""
    return (files(__package__) / "web" / name).read_bytes() if name in WEB else None


@cache
def _frame() -> str:
    return (files(__package__) / "web" / "page.html").read_text(encoding="utf-8")


def within_script(value: Any) -> str:
    """A value as JSON that nothing in it can end: no text is taken for a tag."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _filled(head: str, options: dict[str, Any]) -> str:
    text = _frame().replace("<!-- head -->", head)
    return text.replace("{options}", html.escape(json.dumps(options), quote=True))


def served_page(nonce: str, may_ask: bool) -> str:
    """The page that loads its parts from the server."""
    imports = {"imports": {f"watch/{name}": f"./web/{name}.js" for name in MODULES}}
    head = (
        '<link rel="stylesheet" href="web/style.css">\n'
        f'<script type="importmap" nonce="{nonce}">{within_script(imports)}</script>\n'
        '<script type="module" src="web/main.js"></script>'
    )
    return _filled(head, {"served": True, "mayAsk": may_ask})


def _as_address(script: bytes) -> str:
    return "data:text/javascript;base64," + base64.b64encode(script).decode("ascii")


def whole_page(content: dict[str, Any], charts: str, again: float | None) -> str:
    """The page with all parts and its content. `again`: seconds after which the file is read again."""
    imports = {"imports": {f"watch/{name}": _as_address(web_file(f"{name}.js") or b"") for name in MODULES}}
    style = (web_file("style.css") or b"").decode("utf-8")
    script = charts.replace("</script", "<\\/script")
    head = (
        f"<style>\n{style}</style>\n"
        f'<script type="importmap">{within_script(imports)}</script>\n'
        f'<script type="application/json" id="content">{within_script(content)}</script>\n'
        f"<script>{script}</script>\n"
        '<script type="module">import "watch/main";</script>'
    )
    return _filled(head, {"served": False, "mayAsk": False, "again": again})
