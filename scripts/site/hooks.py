"""MkDocs hooks for the site: generated pages, comments, and links to files outside docs/.

SIDESTREAM names the command `sidestream` whose reference is printed (`make docs` sets it).
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
import reference
import sources

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("SIDESTREAM", "sidestream")
# Replaces the script that the plug-in `offline` would fetch from another host.
SHIM = "assets/iframe-worker.js"
FENCE = re.compile(r"^ *(```+)[^\n]*\n.*?^ *\1 *$", re.M | re.S)
# A list right after a line of a paragraph, which is a list for GitHub but not for Python-Markdown.
LIST = re.compile(r"(^[^\s|<#>*-].*\n)(?=[-*] |1\. )", re.M)
COMMENT = re.compile(r"(?P<code>`[^`\n]+`)|<!--.*?-->\n?", re.S)


def outside_fences(markdown: str, change: Any) -> str:
    """The page with `change` applied to all parts except code."""
    parts, last = [], 0
    for match in FENCE.finditer(markdown):
        parts += [change(markdown[last : match.start()]), match[0]]
        last = match.end()
    return "".join([*parts, change(markdown[last:])])


def on_files(files: Files, config: Any) -> Files:
    """Adds a page for each linked file and folder outside docs/, and the script for the search."""
    docs = Path(config.docs_dir)
    for path in sorted(sources.wanted(ROOT, docs)):
        files.append(File.generated(config, sources.page_of(ROOT, path), content=sources.text_of(ROOT, path)))
    files.append(File.generated(config, SHIM, abs_src_path=str(Path(__file__).with_name("iframe-worker.js"))))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Inserts generated parts, drops comments, and redirects links out of docs/ to the pages made for them."""
    here = ROOT / "docs" / page.file.src_uri
    made = page.file.src_uri.startswith(sources.FOLDER)
    if not made:
        markdown = reference.filled(markdown, COMMAND)

    def change(text: str) -> str:
        text = LIST.sub(r"\1\n", COMMENT.sub(lambda match: match["code"] or "\n", text))
        return text if made else sources.relinked(ROOT, here, text)

    return outside_fences(markdown, change)
