"""Puts tables into a page of the documentation."""

import re


def replace(page, name, text):
    """Replaces what stands between <!-- begin NAME --> and <!-- end NAME -->."""
    pattern = rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
    old = page.read_text(encoding="utf-8")
    new, found = re.subn(pattern, lambda match: match[1] + text.rstrip("\n") + "\n" + match[2], old, flags=re.S)
    if found != 1:
        raise ValueError(f"{page}: found {found} places for '{name}'; expected <!-- begin {name} --> and its end, once")
    page.write_text(new, encoding="utf-8")
