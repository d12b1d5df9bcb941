"""Fonts with the characters of names and captions."""

from collections.abc import Iterable
from typing import Any

FIRST = "DejaVu Sans"  # comes with Matplotlib


def printable(text: str) -> str:
    """Replaces control characters by spaces, except ends of lines."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _characters(path: str) -> set[str]:
    """Returns the characters of a font; empty if its file cannot be read."""
    from matplotlib.font_manager import get_font

    try:
        return {chr(code) for code in get_font(path).get_charmap()}
    except (OSError, RuntimeError, ValueError):
        return set()


def _order(entry: Any) -> tuple[bool, bool, str, str]:
    return entry.style != "normal", entry.weight not in (400, "normal"), entry.name, entry.fname


def families_of(texts: Iterable[str]) -> tuple[list[str], str]:
    """Returns the families of fonts that have all characters of the texts together, the usual one first, and the
    characters that no installed font has."""
    from matplotlib.font_manager import findfont, fontManager

    wanted = {c for text in texts for c in text if not c.isspace()}
    wanted -= _characters(findfont(FIRST))
    families = [FIRST]
    for entry in sorted(fontManager.ttflist, key=_order):
        if not wanted:
            break
        if entry.name.startswith("Last Resort"):  # has a box for each character
            continue
        found = wanted & _characters(entry.fname)
        if found:
            families.append(entry.name)
            wanted -= found
    return families, "".join(sorted(wanted))
