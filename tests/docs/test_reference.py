"""Tests that the site's reference is complete. Only needs Python.

Usage: test_reference.py SIDESTREAM
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "site"))
import python_calls  # noqa: E402
import reference  # noqa: E402

COMMAND = sys.argv[1]


class Reference(unittest.TestCase):
    def test_every_call_in_c(self) -> None:
        code = re.sub(r"/\*.*?\*/", "", reference.HEADER.read_text(encoding="utf-8"), flags=re.S)
        made = reference.calls()
        declared = "\n".join(re.findall(r"^```c\n(.*?)^```", made, re.M | re.S))
        for name in re.findall(r"\b(sidestream_\w+)\s*\(", code):
            self.assertRegex(declared, rf"\b{name}\(")
        self.assertIn("### sidestream_get_handle\n", made)  # below a type of its own
        self.assertIn("#define SIDESTREAM_TYPE_OF(", declared)
        # Nothing of C is left outside of the blocks of code.
        self.assertNotRegex(re.sub(r"^```.*?^```", "", made, flags=re.M | re.S), r"(?m)\);$|^[{}#]\w|\*/")

    def test_every_name_in_python(self) -> None:
        made = python_calls.calls()
        text = (ROOT / "bindings" / "python" / "sidestream" / "__init__.py").read_text(encoding="utf-8")
        listed = re.search(r"^__all__ = \[(.*?)^\]", text, re.M | re.S)
        assert listed is not None
        names = re.findall(r"\"(\w+)\"", listed[1])
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertIn(f"## {name}\n", made)
        self.assertIn("### Session.publish_values\n", made)

    def test_every_command(self) -> None:
        names = re.findall(r"^## sidestream (\w+)$", reference.commands(COMMAND), re.M)
        self.assertIn("check", names)
        page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
        for name in names:
            self.assertIn(f"`{name}`", page)

    def test_the_configuration(self) -> None:
        made = reference.configuration(COMMAND)
        self.assertIn("\n## placement\n", made)
        self.assertNotIn("# Reference of the configuration", made)

    def test_the_version_to_cite(self) -> None:
        header = (ROOT / "include" / "sidestream" / "version.h").read_text(encoding="utf-8")
        version = re.search(r'SIDESTREAM_VERSION "(.*)"', header)
        assert version is not None
        self.assertIn(f"\nversion: {version[1]}\n", (ROOT / "CITATION.cff").read_text(encoding="utf-8"))

    def test_pages_are_filled_in(self) -> None:
        page = "# Calls\n\n<!-- generated: calls -->\nSee the site.\n<!-- end generated -->\n\nEnd.\n"
        self.assertIn("### sidestream_open\n", reference.filled(page, COMMAND))
        self.assertNotIn("See the site.", reference.filled(page, COMMAND))
        with self.assertRaisesRegex(ValueError, "expected one of configuration"):
            reference.filled(page.replace("generated: calls", "generated: cals"), COMMAND)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
