"""Pages of the site for linked files and folders outside docs/, since no other host has them."""

import os
import re
from pathlib import Path

FOLDER = "source/"
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?P<after>\))")
LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".f90": "fortran",
    ".f": "fortran",
    ".py": "python",
    ".yaml": "yaml",
    ".inc": "fortran",
    ".sh": "sh",
}
LARGEST = 60_000
PICTURES = {".png", ".svg", ".gif"}


def wanted(root: Path, docs: Path) -> set[Path]:
    """Link targets outside docs/ of its pages, and those of the README of each linked folder."""
    found: set[Path] = set()
    left = sorted(docs.glob("**/*.md"))
    while left:
        page = left.pop()
        for match in LINK.finditer(page.read_text(encoding="utf-8")):
            path = target(page, match["target"])
            if path is None or not path.is_relative_to(root) or path.is_relative_to(docs):
                continue
            # A README represents its folder.
            path = path.parent if path.name == "README.md" and path.parent != root else path
            if path in found:
                continue
            found.add(path)
            readme = path if path.suffix == ".md" else path / "README.md"
            if readme.is_file():
                left.append(readme)
    return found


def target(page: Path, name: str) -> Path | None:
    """The target of a relative link; None if it is missing or on another host."""
    if re.match(r"[a-z][a-z0-9+.-]*:", name):
        return None
    path = (page.parent / name).resolve()
    return path if path.exists() else None


def page_of(root: Path, path: Path) -> str:
    """The path of a file's or folder's page, relative to docs/."""
    path = path.parent if path.name == "README.md" and path.parent != root else path
    if path.suffix in PICTURES:
        return f"{FOLDER}{path.relative_to(root)}"
    name = str(path.relative_to(root)).removesuffix(".md")
    return f"{FOLDER}{name}.md" if path.is_dir() or path.suffix == ".md" else f"{FOLDER}{name.replace('.', '-')}.md"


def code(path: Path) -> str:
    text = path.read_text(encoding="utf-8", errors="replace")
    language = "cmake" if path.name == "CMakeLists.txt" else LANGUAGES.get(path.suffix, "text")
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}\n"


# Searches list pages of docs/ first.
LESS = "---\nsearch:\n  boost: 0.2\n---\n"


def text_of(root: Path, path: Path) -> str | bytes:
    """The page of a file or folder: prose unchanged, code as a code block, a folder as its README and list of files."""
    if path.suffix in PICTURES:
        return path.read_bytes()
    if path.suffix == ".md":
        return LESS + relinked(root, path, path.read_text(encoding="utf-8"))
    if path.is_file():
        return f"{LESS}# {path.relative_to(root)}\n\n{code(path)}"
    readme = path / "README.md"
    text = f"{LESS}# {path.relative_to(root)}\n"
    if readme.is_file():
        text = LESS + relinked(root, readme, readme.read_text(encoding="utf-8"))
    for file in sorted(path.iterdir()):
        if (
            file.is_file()
            and (file.suffix in LANGUAGES or file.name == "CMakeLists.txt")
            and file.stat().st_size < LARGEST
        ):
            text += f"\n## {file.name}\n\n{code(file)}"
    return text


def relinked(root: Path, here: Path, text: str) -> str:
    """The text of the page `here`, with links out of docs/ redirected to the pages made for them."""
    own = root / "docs" / page_of(root, here) if not here.is_relative_to(root / "docs") else here

    def lead(match: re.Match) -> str:
        path = target(here, match["target"])
        if path is None or not path.is_relative_to(root):
            return match[0]
        there = path if path.is_relative_to(root / "docs") else root / "docs" / page_of(root, path)
        if there == root / "docs":
            there /= "README.md"
        name = os.path.relpath(there, own.parent)
        # Line anchors do not exist in the page of a file.
        anchor = (match["anchor"] or "") if path.suffix == ".md" or path.is_dir() else ""
        return f"{match['before']}{name}{anchor}{match['after']}"

    return LINK.sub(lead, text)
