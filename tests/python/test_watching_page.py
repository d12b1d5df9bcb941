"""The page as one file, and the command."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from optional_packages import all_need
from watched_run import PNG, add_frame, add_rows, put, record, timings

pytestmark = all_need("starlette", "uvicorn", "plotly", "yaml")


def watch(*words, **options):
    command = [sys.executable, "-m", "sidestream", "watch", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


def content_of(page):
    text = page.read_text(encoding="utf-8")
    return text, json.loads(re.search(r'id="content">(.*?)</script>', text, re.S)[1])


def test_one_file_has_everything(tmp_path):
    root, page = tmp_path / "results", tmp_path / "page.html"
    record(root, account={"delivered": 20})
    for number in range(20):
        add_frame(root, number)
    add_rows(root / "statistics.csv", 0, 20)
    put(root / "timings.csv", "rank,role,iteration,start,compute,publish,wait,end,task,seconds\n" + timings(range(3)))
    done = watch(root, "--page", page)
    assert done.returncode == 0, done.stderr
    text, content = content_of(page)
    assert not re.search(r'(?:src|href)="(?!#|data:)', text.split("<body", 1)[1])
    assert [frame["iteration"] for frame in content["frames"]["frame.png"][""]] == list(range(8, 20))
    assert all(frame["data"].startswith("data:image/png;base64,") for frame in content["frames"]["frame.png"][""])
    assert content["tables"]["statistics.csv"]["rows"] == 20
    assert content["parts"]["run"]["state"] == "ended" and "&quot;again&quot;: null" in text
    assert content["parts"]["times"]["timings.csv"]["iterations"] == [0, 1, 2]


def test_names_and_texts_are_no_tags(tmp_path):
    root, page = tmp_path / "results", tmp_path / "page.html"
    evil = "</script><script>alert(1)<!--"
    put(root / f"{evil.replace('/', '')}.png", PNG)
    put(root / "t.csv", f"iteration,what\n0,{evil}\n")
    assert watch(root, "--page", page).returncode == 0
    text, content = content_of(page)
    assert "<script>alert(1)" not in text
    assert content["tables"]["t.csv"]["last"] == [["0", evil]]


def test_links_that_leave_the_directory_are_not_in_it(tmp_path):
    put(tmp_path / "secret.png", PNG + b"secret")
    root = tmp_path / "results"
    root.mkdir()
    (root / "a.png").symlink_to(tmp_path / "secret.png")
    assert watch(root, "--page", tmp_path / "page.html").returncode == 0
    assert content_of(tmp_path / "page.html")[1]["frames"]["a.png"][""] == []


def test_again_and_again_until_the_run_has_ended(tmp_path):
    root, page = tmp_path / "results", tmp_path / "page.html"
    command = [sys.executable, "-m", "sidestream", "watch", str(root), "--page", str(page), "--every", "0.2"]
    with subprocess.Popen(command) as process:
        try:
            deadline = time.monotonic() + 30
            while not page.exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert content_of(page)[1]["parts"]["run"]["state"] == "waiting"
            record(root, account={"delivered": 1})
            add_frame(root, 0)
            assert process.wait(30) == 0
        finally:
            process.kill()
    assert "frame.png" in content_of(page)[1]["frames"]


def test_the_command_prints_where_the_page_is_and_ends_with_an_interrupt(tmp_path):
    command = [sys.executable, "-m", "sidestream", "watch", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        text = ""
        while "ssh -L" not in text:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            text += line
        port = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S{40}", text)[1]
        assert f"ssh -L {port}:127.0.0.1:{port} " in text
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["file"], 1, "no directory"),
        (["none", "--page", "p.html"], 1, "no directory"),
        ([".", "--page", "none/p.html"], 1, "cannot write"),
        ([".", "--every", "1"], 2, "--page FILE"),
        ([".", "--page", "p.html", "--every", "0"], 2, "at least 0.1"),
        ([".", "--port", "70000"], 2, "65535"),
        (
            [".", "--port", "1"] if os.geteuid() else [],
            1 if os.geteuid() else 2,
            "port 1" if os.geteuid() else "RESULTS",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path, words, status, said):
    (tmp_path / "file").touch()
    done = watch(*words, cwd=tmp_path)
    assert done.returncode == status and said in done.stderr and "Traceback" not in done.stderr


def test_missing_packages_are_named(tmp_path):
    program = "import sys, importlib.util as u; f = u.find_spec\n"
    program += "u.find_spec = lambda n, *a: None if n == 'uvicorn' else f(n, *a)\n"
    program += "from sidestream.watching.command import main; sys.exit(main(['.']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "sidestream[watch]" in done.stderr and "uvicorn" in done.stderr
