"""The commands `sidestream trace` and `sidestream record`."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from ..errors import Error
from ..exporters.parts import parse_ranges
from .crate import write_crate
from .metrics import write_metrics
from .sessions import sessions_in
from .trace import write_trace


def _trace(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="sidestream trace", description="Writes the times of a run as a trace.")
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the output directory of a run")
    parser.add_argument("-o", "--output", type=Path, help="the trace (default: trace.json in RESULTS)")
    parser.add_argument("--metrics", type=Path, metavar="FILE", help="write metrics into this file, too")
    parser.add_argument("--iterations", help="only these: numbers, FROM:TO or FROM:TO:STEP")
    given = parser.parse_args(words)
    sessions = sessions_in(given.results)
    path = given.output or given.results / "trace.json"
    chosen = parse_ranges(given.iterations, "trace") if given.iterations else None
    count, remarks = write_trace(path, sessions, chosen)
    for sentence in remarks:
        print(f"sidestream: {sentence}", file=sys.stderr)
    print(f"{path}: {count} events")
    if given.metrics is not None:
        write_metrics(given.metrics, sessions)
        print(given.metrics)


def _record(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="sidestream record", description="Describes the results of a run.")
    parser.add_argument("results", type=Path, metavar="RESULTS", help="the output directory of a run")
    parser.add_argument("--citation", type=Path, help="CITATION.cff of the simulation (default: that in RESULTS)")
    parser.add_argument("--license", help="of the results: an address, or a name of the SPDX list")
    parser.add_argument("--name", help="title of the results")
    parser.add_argument("--description", help="a sentence about the results")
    parser.add_argument("--replace", action="store_true", help="replace the description that is there")
    given = parser.parse_args(words)
    path = write_crate(
        given.results,
        sessions_in(given.results),
        given.replace,
        citation=given.citation,
        licence=given.license,
        name=given.name,
        description=given.description,
    )
    print(path)


COMMANDS: dict[str, Callable[[list[str]], None]] = {"trace": _trace, "record": _record}


def main(command: str, words: list[str]) -> int:
    """Runs a command. Returns 0: done; 1: an error, which is printed; 2: wrong arguments."""
    try:
        COMMANDS[command](words)
    except Error as problem:
        print(f"sidestream: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"sidestream: {command}: {problem}; name another file, or mend its folder", file=sys.stderr)
        return 1
    return 0
