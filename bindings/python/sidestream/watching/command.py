"""`sidestream watch` and `python -m sidestream watch`."""

import argparse
import socket
import sys
import webbrowser
from pathlib import Path

from ..errors import Error
from .needed import need_packages


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="sidestream watch",
        description="Show a running or ended simulation on one page, from its output directory.",
    )
    parser.add_argument(
        "results", type=Path, metavar="RESULTS", help="the output directory of a run, which may come later"
    )
    parser.add_argument("--port", type=int, default=0, help="the port at 127.0.0.1 (default: a free one)")
    parser.add_argument("--open", action="store_true", help="open the page in a browser of this machine")
    parser.add_argument("--read-only", action="store_true", help="show only; neither steer nor ask")
    parser.add_argument(
        "--page", type=Path, metavar="FILE.html", help="write the page as one file instead of serving it"
    )
    parser.add_argument(
        "--every", type=float, metavar="SECONDS", help="with --page: write it again and again until the run has ended"
    )
    given = parser.parse_args(words)
    if given.every is not None and given.page is None:
        parser.error("--every says how often a file is written; name it with --page FILE.html")
    if given.every is not None and not given.every >= 0.1:
        parser.error(f"--every is {given.every:g}, expected at least 0.1 seconds")
    if not 0 <= given.port <= 65535:
        parser.error(f"--port is {given.port}, expected 0 to 65535")
    return given


def _write(given: argparse.Namespace) -> None:
    from .watched import Watched
    from .written import keep_writing, write_page

    if not given.results.is_dir() and given.every is None:
        raise Error(f"'{given.results}' is no directory; name the output directory of a run")
    watched = Watched(given.results)
    if given.every is None:
        write_page(watched, given.page, None)
    else:
        keep_writing(watched, given.page, given.every)


def _serve(given: argparse.Namespace) -> None:
    from .serving import Serving

    if given.results.exists() and not given.results.is_dir():
        raise Error(f"'{given.results}' is no directory; name the output directory of a run")
    serving = Serving(given.results, given.port, may_ask=not given.read_only)
    print(f"The page of '{given.results}', until Ctrl-C ends it:\n\n  {serving.url}\n", flush=True)
    print("From another machine, first open a tunnel there, then the same address:\n", flush=True)
    print(f"  ssh -L {serving.port}:127.0.0.1:{serving.port} {socket.gethostname()}\n", flush=True)
    if given.open:
        webbrowser.open(serving.url)
    serving.run()


def main(words: list[str]) -> int:
    """Runs the command; returns its exit status."""
    given = _arguments(words)
    try:
        need_packages()
        _write(given) if given.page is not None else _serve(given)
    except Error as problem:
        print(f"sidestream: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0
