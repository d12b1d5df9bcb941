"""Messages on the page of `sidestream watch`: the newest of each level, as they come, whatever is in them."""

import json
import re

import pytest
from optional_packages import all_need
from watched_run import put, record

pytestmark = all_need("starlette", "uvicorn", "plotly", "yaml")
watched = pytest.importorskip("sidestream.watching.watched", reason="the page is NOT TESTED: PyYAML is missing")


def line(second, level="warning", process="server 2", text="something"):
    return f"2026-11-28T10:00:{second:02}.500Z {level} {process}: {text}\n"


def add(path, text):
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def shown(page):
    page.refresh()
    return page.parts["messages"][1]


def texts(page):
    return [message[3] for message in shown(page)]


def test_lines_come_as_they_are_written(tmp_path):
    page = watched.Watched(tmp_path)
    assert shown(page) == []
    told = {}
    page.changes(told)
    file = tmp_path / "messages.txt"
    add(file, line(1, "error", "client 10", "one: 'a', \"b"))
    assert shown(page) == [["2026-11-28T10:00:01.500Z", "error", "client 10", "one: 'a', \"b"]]
    assert page.changes(told)["changed"]["messages"] == shown(page)
    assert page.changes(told) == {}
    add(file, line(2, text="two")[:-5])  # not whole yet
    assert texts(page) == ["one: 'a', \"b"]
    add(file, line(2, text="two")[-5:])
    assert texts(page) == ["one: 'a', \"b", "two"]


def test_files_of_several_jobs_are_in_the_order_of_time(tmp_path):
    add(tmp_path / "messages.txt", line(1, text="a") + line(5, text="d"))
    add(tmp_path / "messages-clients.txt", line(4, process="client 0", text="c"))
    add(tmp_path / "endpoint-messages.txt", line(3, text="b"))
    assert texts(watched.Watched(tmp_path)) == ["a", "b", "c", "d"]


def test_another_run_and_a_resumed_one(tmp_path):
    file = tmp_path / "messages.txt"
    add(file, line(1, text="first"))
    page = watched.Watched(tmp_path)
    assert texts(page) == ["first"]
    add(file, line(2, text="resumed"))
    assert texts(page) == ["first", "resumed"]
    file.unlink()
    assert texts(page) == []
    put(file, line(3, text="another run") + line(3, text="and more than before"))
    assert texts(page) == ["another run", "and more than before"]


def test_notes_do_not_push_out_an_error(tmp_path):
    add(tmp_path / "messages.txt", line(0, "error", text="the error"))
    add(tmp_path / "messages.txt", "".join(line(n % 60, "note", text=f"note {n}") for n in range(3000)))
    found = texts(watched.Watched(tmp_path))
    assert "the error" in found and "note 2999" in found and len(found) <= 300


def test_long_files_are_read_from_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("sidestream.watching.messages.FROM_THE_END", 2000)
    add(tmp_path / "messages.txt", "".join(line(n % 60, text=f"number {n}") for n in range(1000)))
    page = watched.Watched(tmp_path)
    found = texts(page)
    assert found[-1:] == ["number 999"] or "number 999" in found
    assert len(found) < 60


def test_what_is_no_message_is_left_out(tmp_path):
    torn = line(1, text="whole") + line(2)[:40] + "\n" + "hello\n" + line(3, "fatal") + line(4, text="x" * 9000)
    put(tmp_path / "messages.txt", torn.encode() + b"\xff\xfe\n" + line(5, text="last").encode())
    found = texts(watched.Watched(tmp_path))
    assert [found[0], found[-1]] == ["whole", "last"] and len(found) == 3 and len(found[1]) < 2100


def test_messages_are_no_tags_on_the_page_of_one_file(tmp_path):
    from sidestream.watching.written import write_page

    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--"
    record(tmp_path / "results", account={"delivered": 1})
    add(tmp_path / "results" / "messages.txt", line(1, text=evil))
    write_page(watched.Watched(tmp_path / "results"), tmp_path / "page.html", None)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text and "<img src=x" not in text
    content = json.loads(re.search(r'id="content">(.*?)</script>', text, re.S)[1])
    assert content["parts"]["messages"][0][3] == evil
