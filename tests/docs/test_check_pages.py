"""Tests check_pages.py on pages that are right and pages that are wrong. Needs Python only."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "check_pages.py"
OTHER = '# Other\n\n## A `word`: one, two - three\n\n## Twice\n\n## Twice\n\n<a id="here"></a>\n'


def check(text: str, nav: str = "  - Other: other.md\n  - Page: page.md\n", reference: str = "") -> tuple[int, str]:
    """Status and output of the script for a repository with docs/page.md of this text."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "src").mkdir()
        (root / "src" / "a.c").write_text("", encoding="utf-8")
        (root / "mkdocs.yml").write_text(f"site_name: S\nnav:\n{nav}", encoding="utf-8")
        (root / "docs" / "page.md").write_text(text, encoding="utf-8")
        (root / "docs" / "other.md").write_text(OTHER, encoding="utf-8")
        command = [sys.executable, str(SCRIPT), folder]
        if reference:
            (root / "docs" / "reference.md").write_text("# Reference\n", encoding="utf-8")
            (root / "build").mkdir()
            (root / "build" / "printed.md").write_text(reference, encoding="utf-8")
            command += ["--reference", str(root / "build" / "printed.md")]
        done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=30)
        return done.returncode, done.stdout + done.stderr


class CheckPages(unittest.TestCase):
    def test_right_links(self) -> None:
        links = [
            "other.md",
            "other.md#a-word-one-two---three",
            "other.md#here",
            "#page",
            "../src/",
            "../src/a.c",
            "https://example.org/nothing",
        ]
        status, said = check("# Page\n\n" + "\n".join(f"[x]({link})" for link in links))
        self.assertEqual(status, 0, said)
        self.assertIn("0 problems", said)

    def test_wrong_links(self) -> None:
        wrong = {
            "nowhere.md": "leads nowhere",
            "other.md#nothing": "other.md does not have",
            "other.md#twice": "more than once",
            "#nothing": "page.md does not have",
            "/other.md": "is absolute",
            "../../x.md": "leads out of the repository",
            "../src/#x": "without a README.md",
        }
        for link, problem in wrong.items():
            status, said = check(f"# Page\n\nSee\n[x]({link}).\n")
            self.assertEqual(status, 1, link)
            self.assertIn(f"docs/page.md:4: the link {link}", said)
            self.assertIn(problem, said)

    def test_links_in_code_are_none(self) -> None:
        status, said = check("# Page\n\n`a[i](nowhere.md)`\n\n```c\nx[0](nowhere.md)\n```\n<!-- [x](nowhere.md) -->\n")
        self.assertEqual(status, 0, said)

    def test_headings_of_the_printed_reference(self) -> None:
        nav = "  - Other: other.md\n  - Page: page.md\n  - Reference: reference.md\n"
        status, said = check("# Page\n\n[x](reference.md#outputs)\n", nav, "# R\n\n## outputs\n\n[y](other.md)\n")
        self.assertEqual(status, 0, said)
        status, said = check("# Page\n", nav, "# R\n\n[y](gone.md)\n")
        self.assertEqual(status, 1)
        self.assertIn("gone.md leads nowhere", said)

    def test_navigation(self) -> None:
        status, said = check("# Page\n", "  - Other: other.md\n  - Gone: gone.md\n")
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md is not in `nav`", said)
        self.assertIn("names gone.md", said)

    def test_length(self) -> None:
        status, said = check("# Page\n\n" + "word " * 2499)
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md has 2501 words", said)


if __name__ == "__main__":
    unittest.main()
