"""Tests the checks in scripts/ on small trees with known violations. Needs only Python.

Usage: test_checks.py ROOT (the root of the repository, whose checks are tested).
"""

import contextlib
import io
import runpy
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]

# A small tree without violations.
CLEAN = {
    "include/sidestream/error.hpp": "#pragma once\n",
    "include/sidestream/data/box.hpp": '#pragma once\n#include "sidestream/error.hpp"\n',
    "include/sidestream/extend/communicator.hpp": '#include "sidestream/data/box.hpp"\n',
    "include/sidestream/extend/transport.hpp": '#include "sidestream/data/box.hpp"\n',
    "include/sidestream/sidestream.h": "#include <mpi.h>\nint sidestream_open(MPI_Comm comm);\n",
    "src/base/mpi/communicator.hpp": '#include <mpi.h>\n#include "sidestream/extend/communicator.hpp"\n',
    "src/base/mpi/wait.cpp": "void f() { MPI_Test(0, 0, 0); }\n",
    "src/config/config.hpp": '#include "sidestream/extend/transport.hpp"\n',
    "src/analysis/mean.hpp": '#include "sidestream/extend/communicator.hpp"\n#include "base/mpi/communicator.hpp"\n',
    "src/storage/hdf5/file.cpp": "void g() { H5Fopen(0, 0, 0); }\n",
    "src/client/open.cpp": '#include "analysis/mean.hpp"\n#include "config/config.hpp"\n',
    "src/session/start.cpp": '#include "client/open.cpp"\n#include "server/loop.cpp"\n',
    "tests/support/ranks.cpp": "MPI_Comm all = MPI_COMM_WORLD;\n",
    "tests/base/test_a.cpp": "MPI_Comm mine = test_ranks();  // not MPI_COMM_WORLD\n",
    "tools/main.cpp": '#include "config/config.hpp"\nint main() { exit(1); }\n',
    # Words in comments and strings are not calls, and a member of that name is another function.
    "src/server/loop.cpp": '// never exit(1)\nconst char* t = "abort()";\nvoid h(Loop& a) { a.exit(); }\n',
}
# Two analyses, a folder that they share, and a floor.
CLEAN |= {
    "src/mesh/runs.hpp": '#include "base/mpi/communicator.hpp"\n',
    "src/mesh/README.md": "# src/mesh\n\n- Begin with: runs.hpp\n",
    "src/mesh/cells/shapes.hpp": '#include "mesh/runs.hpp"\n',
    "src/mesh/cells/README.md": "# src/mesh/cells\n",
    "modules/staging/writer.hpp": '#include "sidestream/extend/transport.hpp"\n',
    "src/analysis/common/options.hpp": '#include "mesh/cells/shapes.hpp"\n',
    "src/analysis/common/README.md": "# src/analysis/common\n",
    "src/analysis/slice/slice.hpp": '#include "analysis/common/options.hpp"\n',
    "src/analysis/slice/README.md": "# src/analysis/slice\n",
}
# One more file, and the message that the check must print about it.
VIOLATIONS = [
    ("src/data/a.cpp", '#include "config/config.hpp"\n', "src/data/a.cpp:1: #include"),
    ("src/data/a.cpp", "\n#include <mpi.h>\n", "src/data/a.cpp:2: '#include <mpi.h>'"),
    ("src/data/a.cpp", '#include "base/mpi/communicator.hpp"\n', "the data layer has no MPI"),
    ("src/data/a.cpp", "#include <fstream>\n", "reads and writes no files"),
    ("src/analysis/a.cpp", '#include "server/loop.cpp"\n', "analysis must not include server"),
    ("src/analysis/a.cpp", '#include "sidestream/extend/transport.hpp"\n', "how blocks travel"),
    ("modules/a/a.cpp", '#include "sidestream/extend/transport.hpp"\n', "how blocks travel"),
    ("modules/staging/a.cpp", '#include "config/config.hpp"\n', "must not know the placement"),
    ("modules/a/a.cpp", '#include "mesh/cells/shapes.hpp"\n', "include only include/"),
    ("include/sidestream/kit/base/a.hpp", '#include "base/mpi/communicator.hpp"\n', "include only include/"),
    ("src/storage/a.cpp", '#include "config/config.hpp"\n', "must not know the placement"),
    ("src/transport/mpi/a.cpp", '#include "client/open.cpp"\n', "transport must not include client"),
    ("src/client/a.cpp", '#include "session/start.cpp"\n', "client must not include session"),
    ("src/transport/shared_memory/a.cpp", "void f() { MPI_Send(0); }\n", "raw MPI calls"),
    ("src/client/a.cpp", "void f() { MPI_Bcast(0); }\n", "raw MPI calls"),
    ("src/base/a.cpp", "void f() { MPI_Bcast(0); }\n", "raw MPI calls"),
    ("tools/importers/a.cpp", '#include "session/start.cpp"\n', "importers must not include session"),
    ("tools/importers/a.cpp", "void f() { exit(1); }\n", "never ends the process"),
    ("src/transport/shared_memory/a.hpp", "#include <mpi.h>\n", "this layer has no MPI"),
    ("src/analysis/a.cpp", "void f() { H5Dwrite(0); }\n", "raw HDF5 calls"),
    ("src/server/a.cpp", "void f() { std::abort(); }\n", "never ends the process"),
    ("src/server/a.cpp", "\n\nvoid f() { MPI_Abort(c, 1); }\n", "src/server/a.cpp:3:"),
    ("src/base/a.cpp", "void f() { exit(2); }\n", "never ends the process"),
    ("src/config/a.cpp", "double f(const char* t) { return std::strtod(t, nullptr); }\n", "base/numbers.hpp"),
    ("src/config/a.cpp", "int f(std::string t) { return std::stoi(t); }\n", "base/numbers.hpp"),
    ("src/config/a.cpp", "bool f(char c) { return std::isalpha(c); }\n", "base/text.hpp"),
    ("src/base/a.cpp", "const char* f() { return std::strerror(errno); }\n", "base/text.hpp"),
    ("src/server/a.cpp", "void f() { fesetround(FE_UPWARD); }\n", "are the program's"),
    ("src/storage/a.cpp", "auto f() { return fs::absolute(path_); }\n", "working directory"),
    ("src/storage/a.cpp", "int f() { return ::open(name, O_WRONLY | O_CREAT, 0666); }\n", "base/files.hpp"),
    ("src/storage/a.cpp", "std::ofstream file(path);\n", "base/files.hpp"),
    ("src/storage/a.cpp", "void f() { fs::copy_file(a, b); }\n", "base/files.hpp"),
    ("src/server/a.cpp", "void f() { ::signal(SIGXFSZ, SIG_IGN); }\n", "dispositions of signals"),
    ("src/base/a.cpp", '#include "data/a.hpp"\n', "no such file"),
    ("include/sidestream/extend/a.hpp", "#include <mpi.h>\n", "this layer has no MPI"),
    (
        "include/sidestream/data/a.hpp",
        '#include "sidestream/extend/transport.hpp"\n',
        "must not include contracts",
    ),
    ("examples/a.c", '#include "config/config.hpp"\n', "examples must not include config"),
    ("src/mesh/a.hpp", '#include "analysis/mean.hpp"\n', "mesh must not include analysis"),
    ("src/transport/mpi/a.hpp", '#include "mesh/runs.hpp"\n', "transport must not include mesh"),
    ("src/mesh/b.hpp", '#include "mesh/cells/shapes.hpp"\n', "mesh/cells includes mesh, too"),
    ("src/mesh/c.hpp", "int x;  // see mesh/lines.hpp\n", "src/mesh/c.hpp:1: names mesh/lines.hpp, which is not there"),
    ("src/mesh/README.md", "- Begin with: lines.hpp\n", "src/mesh/README.md: names lines.hpp, which is not there"),
    ("tests/base/a.cpp", "\nint r = rank(MPI_COMM_WORLD);\n", "tests/base/a.cpp:2: 'MPI_COMM_WORLD'"),
]
# Each folder of src and modules has a README.md.
CLEAN = {
    str(Path(name).parent / "README.md"): "# A folder\n"
    for name in [*CLEAN, *(violation[0] for violation in VIOLATIONS)]
    if name.startswith(("src/", "modules/"))
} | CLEAN


def run_on(check: str, files: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Status and output of a check on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        # In this process: to start Python for each tree takes longer than to check it.
        said = io.StringIO()
        with (
            mock.patch.object(sys, "argv", [check, *arguments, folder]),
            mock.patch.object(sys, "path", list(sys.path)),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
        ):
            try:
                runpy.run_path(str(ROOT / "scripts" / check), run_name="__main__")
                status = 0
            except SystemExit as end:
                status = end.code or 0
    return status, said.getvalue()


class Layers(unittest.TestCase):
    def test_clean_tree_passes(self) -> None:
        status, output = run_on("check-layers", CLEAN)
        self.assertEqual(status, 0, output)

    def test_each_planted_violation_is_found_alone(self) -> None:
        for name, text, expected in VIOLATIONS:
            with self.subTest(name=name, text=text):
                status, output = run_on("check-layers", CLEAN | {name: text})
                self.assertEqual(status, 1, output)
                self.assertIn(expected, output)
                self.assertEqual(output.count("\n"), 1, output)

    def test_what_needs_more_than_one_file(self) -> None:
        sign = {f"src/{folder}/README.md": "# A folder\n" for folder in ("novelty", "analysis/clip", "mesh/many")} | {
            f"modules/visualisation/{folder}/README.md": "# A folder\n" for folder in ("slice", "probe", "mesh")
        }
        clip = '#include "analysis/slice/slice.hpp"\n'
        probe = '#include "visualisation/probe/b.hpp"\n'
        module = {
            "modules/visualisation/probe/b.hpp": '#include "visualisation/mesh/c.hpp"\n',
            "modules/visualisation/mesh/c.hpp": "int x;\n",
        }
        units = {f"src/mesh/many/unit{n}.cpp": "int x;\n" for n in range(26)}
        for files, expected in (
            ({"src/novelty/a.cpp": "int x;\n"}, "'novelty' is no layer"),
            ({"src/analysis/clip/clip.hpp": clip}, "no analysis includes another one's folder"),
            (module | {"modules/visualisation/slice/a.hpp": probe}, "no analysis includes another one's folder"),
            (units, "src/mesh/many: 26 translation units; a folder has at most 25"),
        ):
            with self.subTest(expected=expected):
                status, output = run_on("check-layers", CLEAN | sign | files)
                self.assertEqual(status, 1, output)
                self.assertIn(expected, output)
        status, output = run_on("check-layers", CLEAN | {"src/analysis/clip/clip.hpp": "int x;\n"})
        self.assertEqual(status, 1, output)
        self.assertIn("src/analysis/clip: no README.md", output)

    def test_empty_tree_is_no_success(self) -> None:
        status, output = run_on("check-layers", {})
        self.assertEqual(status, 1, output)


class Names(unittest.TestCase):
    TREE = "namespace sidestream {\nclass Tree {\n  struct Node {};\n};\nnamespace {\nstruct Own {};\n}\n}\n"

    def test_one_class_for_each_name_passes(self) -> None:
        files = {
            "src/a.hpp": self.TREE,
            # Another namespace, a declaration, a class of its file only, a nested one, a specialisation.
            "src/b.hpp": self.TREE.replace("namespace sidestream", "namespace sidestream::other"),
            "src/c.hpp": "namespace sidestream {\nclass Tree;\ntemplate <>\nstruct Hash<Tree> {\n};\n}\n",
            "src/d.cpp": "namespace sidestream {\nnamespace {\nclass Tree {};\n}\n"
            "class Wood {\n  class Tree {};\n};\n}\n",
            # One of the two is compiled.
            "src/zip.cpp": "namespace sidestream {\nstruct Zip {};\n}\n",
            "src/no_zip.cpp": "namespace sidestream {\nstruct Zip {};\n}\n",
        }
        status, output = run_on("check-names", files)
        self.assertEqual(status, 0, output)

    def test_two_of_one_name_are_found(self) -> None:
        for again in (
            "class Tree final : public std::vector<int> {\n};\n",
            "struct alignas(64) Tree {\n};\n",
            "enum class Tree : int { a };\n",
            "template <class T>\nclass Tree {\n};\n",
        ):
            with self.subTest(again=again):
                files = {"src/a.hpp": self.TREE, "tools/sidestream/b.cpp": f"namespace sidestream {{\n{again}}}\n"}
                status, output = run_on("check-names", files)
                self.assertEqual(status, 1, output)
                self.assertIn("tools/sidestream/b.cpp:", output)
                self.assertIn("'sidestream::Tree' is also defined in src/a.hpp:2", output)


class Prose(unittest.TestCase):
    def test_plain_english_passes(self) -> None:
        files = {
            "src/session/a.hpp": "/// Bytes of a block, one for\n/// each cell.\nint a;  ///< not of b, whether c\n"
            'const char* text = "// Of that in place of this alone.";\n',
            "src/session/b.cpp": "// Others are left alone. A node stands alone, or leaves some of the files alone.\n",
            "tools/a.py": '"""Reads a table."""\n\ntext = "# Whether alone."\n',
            "tools/CMakeLists.txt": 'set(text "Whether alone")\n',
            "src/README.md": "# src\n\n- Begin with: a.hpp\n",
            "README.md": "![A picture with many words](docs/picture.svg)\n"
            f"A [link]({'long/' * 30}), `{'code' * 30}`.\n\n| {'table ' * 30}|\n\n```sh\n{'code ' * 30}\n```\n",
        }
        status, output = run_on("check-prose", files)
        self.assertEqual(status, 0, output)

    def test_planted_violations_are_found(self) -> None:
        violations = (
            ("src/a.hpp", "int a;\n/// Of a block:\n/// its cells.\nint b;\n", ":2: a comment begins with 'Of'"),
            ("src/b.hpp", "int a;  ///< of all\nint b;  ///< whether b\n", ":2: a comment begins with 'whether'"),
            ("src/c.h", "/* Whether a.\n * And b. */\n", ":1: a comment begins with 'Whether'"),
            ("src/d.h", "/* First. Then c in\n * place of b. */\n", ":1: 'in place of'; write 'instead of'"),
            ("src/w.hpp", "/// What servers have told a client.\nint a;\n", ":1: a comment begins with 'What'"),
            ("src/e.cpp", "// One.\n// Two with d alone.\n", ":2: 'alone'; write 'only'"),
            ("src/f.cpp", "struct A {};  // Travels.\n", ":1: 'Travels.'; write 'Trivially copyable"),
            ("tools/g.py", 'def f():\n    """Maps are had of meshes."""\n', ":2: 'are had of'"),
            ("scripts/h", "#!/usr/bin/env bash\nls  # Of a folder\n", ":2: a comment begins with 'Of'"),
            ("cmake/I.cmake", "\n# Whether it is there.\n", ":2: a comment begins with 'Whether'"),
            ("examples/j/j.f90", "! Of a field.\nend\n", ":1: a comment begins with 'Of'"),
            ("docs/k.md", f"\n{'word ' * 21}\n", ":2: 105 characters"),
            ("docs/l.md", "One in place of another.\n", ":1: 'in place of'"),
            # A template has the language of the file that it makes.
            ("bindings/m.pyi", '"""A class."""\n\n# Of a block.\n', ":3: a comment begins with 'Of'"),
            ("bindings/n.f90.in", "integer :: n\n!> Whether @n@.\n", ":2: a comment begins with 'Whether'"),
            ("include/o.hpp.in", "\n/// In place of @o@.\n", ":2: 'In place of'"),
            ("cmake/p.pc.in", "# Of a package.\n", ":1: a comment begins with 'Of'"),
            ("modules/CMakeLists.txt", "\nfind(MPI)  # of the library alone\n", ":2: 'alone'; write 'only'"),
            ("CMakeLists.txt", "# Whether it is there.\n", ":1: a comment begins with 'Whether'"),
            ("Makefile", "all:\n\n# Of all.\n", ":3: a comment begins with 'Of'"),
            ("examples/q/Makefile", "# Of an example.\n", ":1: a comment begins with 'Of'"),
            ("pyproject.toml", "[project]\n# The reader alone.\n", ":2: 'alone'; write 'only'"),
            ("CONTRIBUTING.md", "# How\n\nMaps are had of meshes.\n", ":3: 'are had of'"),
            ("benchmarks/r.md", f"{'word ' * 21}\n", ":1: 105 characters"),
            ("src/data/README.md", "# src/data\n\nOne in place of\nanother.\n", ":3: 'in place of'"),
        )
        status, output = run_on("check-prose", {name: text for name, text, _ in violations})
        self.assertEqual(status, 1, output)
        for name, _, expected in violations:
            self.assertIn(name + expected, output)
        self.assertEqual(output.count("\n"), len(violations), output)


class Sizes(unittest.TestCase):
    def test_small_pieces_pass(self) -> None:
        status, output = run_on("check-sizes", {"src/a.cpp": "int f() {\n  return 1;\n}\n"})
        self.assertEqual(status, 0, output)
        self.assertIn("100.0% of 1 functions", output)

    def test_long_files_fail(self) -> None:
        files = {"src/long.cpp": "int x;\n" * 401, "src/short.cpp": "int y;\n"}
        status, output = run_on("check-sizes", files)
        self.assertEqual(status, 1, output)
        self.assertIn("src/long.cpp: 401 lines", output)
        self.assertIn("50.0% of 2 files", output)

    def test_long_functions_fail(self) -> None:
        body = "  if (x) { x = 1; }\n" * 40
        text = f"namespace n {{\nstruct S {{\n S() : a{{1}}, b{{2}} {{\n{body} }}\n int g() {{ return 1; }}\n}};\n}}\n"
        status, output = run_on("check-sizes", {"src/a.cpp": text})
        self.assertEqual(status, 1, output)
        self.assertIn("src/a.cpp:3: 42 lines: S()", output)
        self.assertIn("50.0% of 2 functions", output)

    def test_long_python_functions_fail(self) -> None:
        status, output = run_on("check-sizes", {"scripts/a.py": "def f():\n" + "    x = 1\n" * 40})
        self.assertEqual(status, 1, output)
        self.assertIn("scripts/a.py:1: 41 lines: f", output)


if __name__ == "__main__":
    unittest.main()
