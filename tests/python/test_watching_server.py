"""The server of the page: who is let in, what is served, and watchers who do not read. And requests to a session."""

import asyncio
import http.client
import json
import os
import socket
import threading
import time

import pytest
import sidestream
from optional_packages import all_need
from watched_run import PNG, StandIn, add_frame, add_rows, put, record

pytestmark = all_need("starlette", "uvicorn", "plotly", "yaml")


class Visitor:
    """A program that talks to the server of a page."""

    def __init__(self, serving):
        self.port = serving.port
        self.token = serving.url.split("token=")[-1]
        self.cookie = None

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        given = {"Cookie": self.cookie} if self.cookie else {}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def enter(self):
        answer, _ = self.ask(f"/?token={self.token}")
        assert answer.status == 303 and answer.headers["Location"] == "."
        said = answer.headers["Set-Cookie"]
        assert "HttpOnly" in said and "SameSite=strict" in said
        self.cookie = said.split(";")[0]
        return self

    def post(self, path, value, **headers):
        own = {"Origin": f"http://127.0.0.1:{self.port}", "Content_Type": "application/json"} | headers
        answer, content = self.ask(path, "POST", json.dumps(value) if not isinstance(value, bytes) else value, **own)
        return answer.status, content.decode()

    def events(self):
        """A connection to the stream of events, of which the caller reads."""
        connection = socket.create_connection(("127.0.0.1", self.port), 20)
        lines = ["GET /events HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Cookie: {self.cookie}", "", ""]
        connection.sendall("\r\n".join(lines).encode())
        return connection


@pytest.fixture
def serving(tmp_path):
    from sidestream.watching.serving import Serving

    root = tmp_path / "results"
    root.mkdir()
    found = Serving(root)
    found.root = root
    found.start()
    yield found
    found.close()


@pytest.fixture
def visitor(serving):
    return Visitor(serving).enter()


def read_until(connection, wanted, limit=20):
    """Reads events until these bytes came."""
    text = b""
    connection.settimeout(limit)
    while wanted not in text:
        part = connection.recv(1 << 16)
        assert part, text[-2000:]
        text += part
    return text


def test_the_page_loads_all_of_its_parts_and_nothing_from_elsewhere(visitor):
    answer, page = visitor.ask("/")
    assert answer.status == 200 and b"http" not in page.replace(b"http-equiv", b"")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe-eval" not in policy
    from sidestream.watching.page import WEB

    for name in WEB:
        answer, content = visitor.ask(f"/web/{name}")
        assert answer.status == 200 and content and b"https://" not in content and b"http://" not in content, name
    answer, script = visitor.ask("/charts.js")
    assert answer.status == 200 and len(script) > 100000


def test_only_the_loopback_is_bound(serving):
    assert serving._socket.getsockname()[0] == "127.0.0.1"


def test_without_the_token_nothing_is_told(serving, visitor):
    put(serving.root / "a.png", PNG)
    whole = visitor.cookie
    for cookie in (None, "sidestream-watch=x", whole + "x", whole[:-1], whole.split("=")[0] + "="):
        visitor.cookie = cookie
        for path in ("/", "/events", "/frames", "/table", "/picture/a.png", "/web/main.js", "/charts.js"):
            answer, content = visitor.ask(path)
            assert answer.status == 403 and b"token" in content and b"PNG" not in content, (cookie, path)


def test_wrong_tokens(visitor):
    visitor.cookie = None
    for token in ("", "x", "%c3%bc%ff", "%00", "a" * 9000):
        answer, _ = visitor.ask(f"/?token={token}")
        assert answer.status == 403 and answer.headers["Set-Cookie"] is None, token


def test_hosts(visitor):
    """Those of a tunnel are let in, and no others."""
    for host in ("example.org", "127.0.0.1.example.org", "example.org:80", "", "localhost.evil:1", "0.0.0.0:1"):
        for path in ("/", f"/?token={visitor.token}", "/events"):
            assert visitor.ask(path, Host=host)[0].status in (400, 421), (host, path)
    for host in ("localhost", "localhost:9999", "127.0.0.1:1", "[::1]:80"):
        assert visitor.ask("/", Host=host)[0].status == 200, host


OTHER_PAGES = [
    ({"Origin": "http://example.org"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": ""}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Origin": "file://127.0.0.1"}, 403),
    ({"Content_Type": "text/plain"}, 415),
    ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "cors"}, 403),
]
DAMAGED = [b"", b"{", b"[]", b"7", b"null", b'{"name": 1, "value": 2}', b'{"name": "stop"}', b"\xff\xfe", b"[" * 9000]


def test_requests_of_other_pages_and_damaged_ones_are_refused(serving, visitor):
    with StandIn(serving.root) as session:
        for headers, status in OTHER_PAGES:
            assert visitor.post("/steer", {"name": "stop", "value": "1"}, **headers)[0] == status, headers
        for body in DAMAGED:
            assert (visitor.post("/steer", body)[0], visitor.post("/ask", body)[0]) == (400, 400), body
        assert visitor.post("/ask", b'{"analysis": "' + b"x" * 20000 + b'"}')[0] == 413
        assert session.taken == []


def test_what_is_damaged_on_the_wire_does_not_end_the_server(serving, visitor):
    for text in (
        b"\x00" * 100,
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /ask HTTP/1.1\r\nContent-Length: -4\r\n\r\n",
        b"GET /" + b"a" * 99999,
    ):
        with socket.create_connection(("127.0.0.1", serving.port), 5) as connection:
            connection.sendall(text)
    assert visitor.ask("/")[0].status == 200


NOT_SERVED = """\
../secret.png ..%2fsecret.png %2e%2e/secret.png a/../../secret.png ..\\secret.png /etc/passwd //etc/passwd
%2fetc%2fpasswd .hidden.png a/.hidden.png out.png away/secret.png loop.png pipe.png a.png%00.svg run.yaml a
"""


def test_nothing_else_is_served(tmp_path, serving, visitor):
    put(tmp_path / "secret.png", PNG)
    for inner in (".hidden.png", "a/.hidden.png", "run.yaml"):
        put(serving.root / inner, PNG)
    (serving.root / "out.png").symlink_to(tmp_path / "secret.png")
    (serving.root / "away").symlink_to(tmp_path)
    (serving.root / "loop.png").symlink_to("loop.png")
    os.mkfifo(serving.root / "pipe.png")
    for name in ("", *NOT_SERVED.split()):
        answer, content = visitor.ask(f"/picture/{name}")
        assert answer.status in (404, 400) and b"PNG" not in content, name


def test_pictures_are_served(serving, visitor):
    for name in ("a b.png", 'it\'s "so" #1?.png', "größe.png", "<b>.png", "deep/er/a.png"):
        put(serving.root / name, PNG)
        quoted = "/".join("".join(f"%{byte:02x}" for byte in part.encode()) for part in name.split("/"))
        answer, content = visitor.ask(f"/picture/{quoted}?v=1")
        assert answer.status == 200 and content == PNG and answer.headers["Content-Type"] == "image/png"
        assert "sandbox" in answer.headers["Content-Security-Policy"]
    (serving.root / "inner.png").symlink_to("deep/er/a.png")
    assert visitor.ask("/picture/inner.png")[0].status == 200


def test_events_tell_what_is_new(serving, visitor):
    record(serving.root)
    with visitor.events() as connection:
        read_until(connection, b'"run"')
        add_frame(serving.root, 0)
        assert b"frame-00000.png" in read_until(connection, b"series:frame.png")
        add_rows(serving.root / "statistics.csv", 0, 5)
        read_until(connection, b"table:statistics.csv")
        (serving.root / "statistics.csv").unlink()
        assert b'"gone":["table:statistics.csv"]' in read_until(connection, b'"gone":["')
        put(serving.root / "messages.txt", "2026-11-28T10:00:00.000Z warning server 1: the disk is nearly full\n")
        assert b'"warning","server 1"' in read_until(connection, b"nearly full")
    answer, content = visitor.ask("/frames?series=frame.png&from=0&count=9")
    assert answer.status == 200 and json.loads(content)[0]["file"] == "frame-00000.png"
    assert visitor.ask("/frames?series=frame.png&from=a&count=1")[0].status == 400
    assert visitor.ask("/frames?series=none&from=0&count=1")[0].status == 404
    assert visitor.ask("/table?name=none")[0].status == 404


def test_nobody_looks_at_the_directory_while_nobody_watches(serving, visitor):
    with visitor.events() as connection:
        read_until(connection, b'"run"')
        assert serving.page.hub.watchers == 1
    deadline = time.monotonic() + 10
    while serving.page.hub.watchers and time.monotonic() < deadline:
        time.sleep(0.05)
    assert serving.page.hub.watchers == 0
    time.sleep(0.3)
    assert serving.page.hub._looking.done()


@pytest.mark.test_all
def test_a_watcher_who_does_not_read_holds_up_nobody(serving, visitor):
    record(serving.root)
    slow = visitor.events()  # never reads
    with visitor.events() as connection:
        read_until(connection, b'"run"')
        for number in range(40):
            add_frame(serving.root, number)
            read_until(connection, f"frame-{number:05}.png".encode(), 5)
    slow.close()


def test_a_watcher_who_does_not_read_is_dropped():
    from sidestream.watching.events import EventStream

    async def check():
        sent, ended = [], []

        async def events():
            try:
                while True:
                    yield b"data: x\n\n"
            finally:
                ended.append(True)

        async def send(message):
            sent.append(message)
            if len(sent) > 3:
                await asyncio.sleep(60)

        async def receive():
            await asyncio.sleep(60)

        await asyncio.wait_for(EventStream(events(), {}, 0.2)({}, receive, send), 50)
        assert len(sent) == 4 and ended

    asyncio.run(check())


def test_what_waits_for_a_watcher_does_not_grow(tmp_path):
    from sidestream.watching.watched import Watched

    page = Watched(tmp_path)
    page.refresh()
    told = {}
    page.changes(told)
    for number in range(50):
        add_frame(tmp_path, number)
        page.refresh()
    changed = page.changes(told)["changed"]["series:frame.png"]
    assert changed["views"] == {"": 50} and len(changed["newest"]) == 1


def test_steering_and_asking(serving, visitor):
    assert visitor.post("/steer", {"name": "stop", "value": "1"})[0] == 422
    assert "live: {requests: yes}" in visitor.post("/ask", {"analysis": "{render: {}}"})[1]
    with StandIn(serving.root) as session:
        status, text = visitor.post("/steer", {"name": "interval", "value": "0.25"})
        assert status == 200 and "accepted: 'interval' is 0.25" in text and session.values["interval"] == "0.25"
        assert "refused" in visitor.post("/steer", {"name": "none", "value": "1"})[1]
        assert visitor.post("/steer", {"name": "a\nb", "value": "1"})[0] == 422
        entry = {"render": {"slice": {"variable": "temperature", "axis": "z"}, "file": "asked/a.png"}}
        assert "delivered" in visitor.post("/ask", {"analysis": json.dumps(entry)})[1]
        assert (serving.root / "asked" / "a.png").exists()
        assert "did you mean 'render'" in visitor.post("/ask", {"analysis": "{rendr: {}}"})[1]


def test_a_page_that_only_looks(tmp_path):
    from sidestream.watching.serving import Serving

    serving = Serving(tmp_path, may_ask=False)
    serving.start()
    with StandIn(tmp_path) as session:
        assert Visitor(serving).enter().post("/steer", {"name": "stop", "value": "1"})[0] == 403
        assert session.taken == []
    serving.close()


def test_in_a_notebook(tmp_path):
    with sidestream.watch(tmp_path / "results") as page:
        assert (
            page.url.startswith("http://127.0.0.1:")
            and page.url in page._repr_html_()
            and "iframe" in page._repr_html_()
        )
        path = "/" + page.url.split("/", 3)[3]
        connection = http.client.HTTPConnection("127.0.0.1", int(page.url.split(":")[2].split("/")[0]), timeout=10)
        for wanted, status in ((path, 200), (path + "web/main.js", 200), ("/", 404), (path[:-2] + "x/", 403)):
            connection.request("GET", wanted)
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (status, True)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(page.url.split(":")[2].split("/")[0])), 1).close()


def test_ask_from_python(tmp_path):
    with pytest.raises(sidestream.Error, match="no session that takes questions"):
        sidestream.ask(tmp_path, {"render": {}})
    with StandIn(tmp_path) as session:
        assert sidestream.ask(tmp_path, {"statistics": {"variable": "temperature"}}).startswith("delivered")
        what, entry = session.taken[-1]
        assert what == "analysis" and json.loads(entry)["statistics"]["file"].startswith("asked/statistics-")
        given = "- render: {slice: {variable: temperature, axis: z}, every: 2}"
        assert sidestream.ask(tmp_path, given).startswith("accepted: asked-1")
        assert "{index:05}.png" in session.taken[-1][1] and "\n" not in session.taken[-1][1]
        assert sidestream.ask(tmp_path, "end asked-1") == "accepted: asked-1 has ended"
        assert not list((tmp_path / ".sidestream-requests").glob("*-*"))
        for wrong, said in [
            ("", "no entry"),
            ("{", "neither JSON nor YAML"),
            ("{render: {}, slice: {}}", "no entry"),
            ("{render: 7}", "no options"),
            ({"rendr": {}}, "did you mean 'render'"),
            ({"render": {"file": "a.png"}}, "below asked/"),
            ({"render": {"file": "asked/../a.png"}}, "below asked/"),
            ({"render": {"camera": [{"file": "a.png"}]}}, "below asked/"),
            ({"histogram": {"image": {"file": "/a.png"}}}, "below asked/"),
            ({"render": {"caption": "x" * 5000}}, "at most"),
            ({"render": {"range": [0, float("nan")]}}, "no number"),
        ]:
            with pytest.raises(sidestream.Error, match=said):
                sidestream.ask(tmp_path, wrong)


def test_a_request_without_an_answer_is_withdrawn(tmp_path):
    StandIn(tmp_path)  # never looks
    with pytest.raises(sidestream.Error, match="withdrawn"):
        sidestream.ask(tmp_path, {"statistics": {"variable": "t"}}, wait=0.2)
    assert not list((tmp_path / ".sidestream-requests").glob("request-*"))


def test_many_ask_at_once(tmp_path):
    with StandIn(tmp_path) as session:
        answers = []
        asked = [{"statistics": {"variable": f"v{n}"}} for n in range(12)]
        threads = [threading.Thread(target=lambda e=e: answers.append(sidestream.ask(tmp_path, e))) for e in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(answers) == 12 and {json.loads(e)["statistics"]["variable"] for _, e in session.taken} == {
            f"v{n}" for n in range(12)
        }


def test_the_address_takes_connections_as_soon_as_it_is_known(tmp_path):
    from sidestream.watching.serving import Serving

    serving = Serving(tmp_path)
    early = socket.create_connection(("127.0.0.1", serving.port), timeout=20)  # before it serves
    serving.start()
    early.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert early.recv(12) == b"HTTP/1.1 403"
    early.close()
    serving.close()
