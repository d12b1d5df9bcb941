"""Builds the site of the documentation and checks the result. Needs MkDocs and its theme Material.

Usage: test_site.py ROOT SIDESTREAM
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, COMMAND = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
# Matches files that a browser fetches with a page, not links that a reader may follow.
FETCHED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(?P<a>[^\"]+)\"|<link\b[^>]*\bhref=\"(?P<b>[^\"]+)\""
)


def build(site: Path) -> subprocess.CompletedProcess:
    environment = os.environ | {"SIDESTREAM": str(COMMAND), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    return subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False, timeout=240)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.site = Path(cls.folder.name)
        cls.done = build(cls.site)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def page(self, name: str) -> str:
        return (self.site / name).read_text(encoding="utf-8")

    def test_builds_without_a_warning(self) -> None:
        self.assertEqual(self.done.returncode, 0, self.done.stderr)

    def test_has_the_reference(self) -> None:
        self.assertIn('id="lyman_alpha"', self.page("reference.html"))
        self.assertIn('id="sidestream-check"', self.page("commands.html"))
        self.assertIn('id="sidestream_end_iteration"', self.page("calls.html"))
        self.assertIn('id="sessionend_iteration"', self.page("python-calls.html"))

    def test_fetches_nothing_from_other_hosts(self) -> None:
        for path in self.site.glob("**/*.html"):
            for match in FETCHED.finditer(path.read_text(encoding="utf-8")):
                self.assertNotRegex(match["a"] or match["b"], r"^(https?:)?//", path.name)

    def test_can_be_searched_without_a_server(self) -> None:
        self.assertTrue((self.site / "search" / "search_index.js").is_file())

    def test_shows_no_comment_and_no_markup(self) -> None:
        for path in self.site.glob("**/*.html"):
            text = re.sub(r"<(pre|code|script)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
            self.assertNotRegex(text, r"not run:|<!-- run|\n\|[ -]|\]\(|```", path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
