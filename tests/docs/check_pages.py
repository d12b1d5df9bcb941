"""Checks the pages of the documentation: their links, their entries in the site, and their length.

Usage: check_pages.py ROOT [--reference FILE]

- Each relative link in a Markdown file of ROOT leads to a file or folder, and its anchor to a heading there, or to a
  tag with that id. Anchors are those of GitHub, which the site uses too. A heading that occurs twice on a page has no
  anchor that both agree on, so nothing may lead to it. Links to other hosts are not followed: the test works offline.
- Each page of ROOT/docs is in the navigation of ROOT/mkdocs.yml, and each entry there is a page.
- A page of ROOT/docs has at most WORDS words.

--reference is the output of `sidestream reference`. Its headings are those of docs/reference.md, which has only a few
lines until the site is built.
"""

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

WORDS = 2500
# Folders of the repository with Markdown.
FOLDERS = [".", "docs", "examples/*", "simulations/*", "benchmarks", "bindings/**", "tests/**", "include/**", "src/**"]
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1[^\n]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
# [text](target "title") and ![text](target); the text may contain brackets.
LINK = re.compile(r"\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(?P<target>[^\s>]+)", re.M)
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(?P<text>.*?)\s*#*\s*$", re.M)
IDENTITY = re.compile(r"<[a-z]+\b[^>]*\b(?:id|name)=\"(?P<id>[^\"]+)\"")
ENTRY = re.compile(r"(?P<page>[\w./-]+\.md)\s*$", re.M)
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.I)


def blanked(pattern: re.Pattern, text: str) -> str:
    """The text with matches replaced by blanks, so that lines keep their numbers."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"<[^>]+>", "", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@dataclass
class Page:
    """A Markdown file: its anchors and its links."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    twice: set[str] = field(default_factory=set)
    links: list[tuple[int, str]] = field(default_factory=list)
    words: int = 0


def read(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    prose = blanked(COMMENT, blanked(FENCE, text))
    headings = Counter(slug(match["text"]) for match in HEADING.finditer(prose))
    page = Page(path, words=len(text.split()))
    page.anchors = {*headings, *(match["id"] for match in IDENTITY.finditer(prose))}
    page.twice = {name for name, count in headings.items() if count > 1}
    prose = blanked(CODE, prose)
    for pattern in (LINK, REFERENCE):
        for match in pattern.finditer(prose):
            page.links.append((prose.count("\n", 0, match.start()) + 1, unquote(match["target"])))
    return page


class Pages:
    """Pages that were read, each once."""

    def __init__(self, root: Path, reference: Path | None) -> None:
        self.root = root
        self.reference = reference
        self.read: dict[Path, Page] = {}

    def at(self, path: Path) -> Page:
        if path not in self.read:
            page = read(path)
            if self.reference and path == self.root / "docs" / "reference.md":
                printed = read(self.reference)
                page.anchors |= printed.anchors
                # Links of the reference are written for a file in docs/.
                page.links += printed.links
            self.read[path] = page
        return self.read[path]

    def problem(self, page: Page, target: str) -> str:
        """The mistake in a link, or nothing."""
        if ELSEWHERE.match(target):
            return ""
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve() if name else page.path
        if name.startswith("/"):
            return "is absolute: it depends on where the pages are served"
        if not path.is_relative_to(self.root):
            return "leads out of the repository"
        if not path.exists():
            return "leads nowhere"
        if not anchor or (path.suffix != ".md" and path.is_file()):
            return ""
        if path.is_dir():
            path /= "README.md"
        if not path.is_file():
            return f"names #{anchor} of a folder without a README.md"
        there = self.at(path)
        if anchor in there.twice:
            return f"names #{anchor}, a heading that {path.name} has more than once"
        if anchor not in there.anchors:
            return f"names #{anchor}, which {path.name} does not have"
        return ""


def check_links(pages: Pages) -> list[str]:
    found = []
    files = {path.resolve() for folder in FOLDERS for path in pages.root.glob(f"{folder}/*.md")}
    for path in sorted(files):
        page = pages.at(path)
        for line, target in page.links:
            if problem := pages.problem(page, target):
                found.append(f"{path.relative_to(pages.root)}:{line}: the link {target} {problem}")
    return found


def check_site(root: Path) -> list[str]:
    """Pages that the navigation lacks, and entries without a page."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    named = Counter(match["page"] for match in ENTRY.finditer(text.partition("\nnav:")[2]))
    there = {str(path.relative_to(root / "docs")) for path in root.glob("docs/**/*.md")}
    found = [f"mkdocs.yml: docs/{name} is not in `nav`" for name in sorted(there - set(named))]
    found += [f"mkdocs.yml: `nav` names {name}, which docs/ does not have" for name in sorted(set(named) - there)]
    return found + [f"mkdocs.yml: `nav` names {name} more than once" for name, count in named.items() if count > 1]


def check_length(pages: Pages) -> list[str]:
    found = []
    for path in sorted(pages.root.glob("docs/**/*.md")):
        if (words := pages.at(path.resolve()).words) > WORDS:
            found.append(f"{path.relative_to(pages.root)} has {words} words, of at most {WORDS}: split it")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks links, navigation and length of the documentation.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--reference", type=Path, help="what `sidestream reference` printed")
    options = parser.parse_args()
    pages = Pages(options.root.resolve(), options.reference)
    found = [*check_links(pages), *check_site(pages.root), *check_length(pages)]
    print(*found, sep="\n", end="\n" if found else "")
    links = sum(len(page.links) for page in pages.read.values())
    print(f"{len(pages.read)} pages, {links} links: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
