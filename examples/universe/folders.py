"""Folders for results."""

import shutil


class DemoError(Exception):
    """Something to tell the user in a sentence."""


def fresh(directory):
    """An empty folder for results; refuses to delete what no demo has made."""
    mark = directory / ".made-by-the-demo"
    if directory.exists() and any(directory.iterdir()) and not mark.exists():
        raise DemoError(f"{directory} is not empty and not from an earlier demo; remove it or change --results.")
    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    mark.touch()
