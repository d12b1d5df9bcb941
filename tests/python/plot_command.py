"""Runs `sidestream plot` in this process: starting Python and importing Matplotlib takes longer than drawing."""

import contextlib
import io
import os
from subprocess import CompletedProcess
from unittest import mock

from sidestream.charts.plotting import main


def command(*arguments):
    """Returns what the command would have returned and printed. It changes the environment, which is put back."""
    words = list(map(str, arguments))
    out, errors = io.StringIO(), io.StringIO()
    with mock.patch.dict(os.environ), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = main(words)
        except SystemExit as end:  # wrong arguments
            status = end.code
    return CompletedProcess(words, status, out.getvalue(), errors.getvalue())
