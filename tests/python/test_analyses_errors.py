"""Errors in analyses in Python give a sentence with the place, and other analyses go on."""

import os
import shutil
import subprocess
import sys

import pytest
from test_analyses import CLIENTS, HERE, OPTIONS, STEPS, TOOL, Folder, rows_of

LAST = "  - statistics: {variable: t}\n"


def entries(*calls, script="bad.py", more=""):
    lines = [
        f"  - python: {{name: {call}, variables: t, script: {script}, call: {call}, file: {call}.csv{more}}}\n"
        for call in calls
    ]
    return "analyses:\n" + "".join(lines) + LAST


@pytest.fixture(scope="module", params=["inline", "{mode: nodes, buffer: 32 MiB, servers: 2}"])
def failing(tmp_path_factory, request):
    """The output and the results of a run in which everything fails that can."""
    calls = ["leaves", "writes", "ragged", "odd", "differs", "wide", "missing", "keeps_in_cycle"]
    calls += ["InCombine", "Unequal", "Uneven", "Reals", "Unpicklable", "Kept", "raises"]
    text = entries(*calls).replace(LAST, "")
    text += "  - python: {name: two, variables: t, script: bad.py, call: two, whole: true, file: two.csv}\n"
    text += "  - python: {name: columns, variables: t, script: bad.py, call: columns, whole: true, file: columns.csv}\n"
    folder = Folder(tmp_path_factory.mktemp("failing"), text + LAST, request.param)
    said = folder.run(CLIENTS + (0 if request.param == "inline" else 2))
    return said, folder.results


SAYS = {
    "leaves": "SystemExit: gone",
    "writes": "ValueError: assignment destination is read-only",
    "ragged": "found columns of different lengths ({'a': 2, 'b': 3}), expected one length",
    "odd": "found a result of type int for block",
    "differs": "found the columns ['a1'] of block 1, expected ['a0'] as of block 0",
    "wide": "with_halo: 1 points are asked for; the entry's `halo` is 0: raise it",
    "missing": "has no values of 'temperature' in this iteration, but of t",
    "InCombine": "ValueError: planned in combine",
    "Unequal": "the servers do not do the same in `combine`: one is at 'barrier' and another at 'return'",
    "Uneven": "of 'sum' the sizes differ",
    "Reals": "real numbers are not summed over servers",
    "Unpicklable": "Can't pickle",
    "Kept": "the call that this block was for has ended; keep copies",
    "raises": "ZeroDivisionError: division by zero",
    "two": "found 2 results for 1 file; return as many",
    "columns": "found 2 axes in 'a', expected a number or one axis for a table",
}


@pytest.mark.parametrize("call", SAYS)
def test_exceptions_are_reported(failing, call):
    lines = [line for line in failing[0].splitlines() if f"{call}: " in line and SAYS[call] in line]
    assert lines, failing[0]


def test_reports_have_the_place_and_the_traceback(failing):
    text, _ = failing
    lines = (HERE / "scripts" / "bad.py").read_text().splitlines()
    number = 1 + next(n for n, line in enumerate(lines) if "1 / 0" in line)
    assert f"bad.py:{number})" in text
    assert "Traceback (most recent call last):" in text
    assert f'bad.py", line {number}, in raises' in text
    assert 'return {"a": 1 / 0}' in text
    assert "serving/entry.py" not in text and "serving/task.py" not in text  # frames that do not help a user


def test_others_run_on(failing):
    _, results = failing
    assert len(rows_of(results / "statistics.csv")) == STEPS
    assert [int(r["iteration"]) for r in rows_of(results / "raises.csv")] == [0] * 4  # it fails in iteration 1
    assert len(rows_of(results / "keeps_in_cycle.csv")) == 4 * STEPS


def test_kept_arrays(tmp_path):
    """Kept arrays are found in the same iteration. After that no function of the file is called, which could read
    them."""
    folder = Folder(tmp_path, entries("keeps", "odd"))
    text = folder.run(1)
    kept = "it kept an array of 't' of block 0, 't' of block 1 (or a view of one) after it had returned"
    assert text.count(f"keeps: {kept}") == 1, text
    assert "iteration 1: keeps: MemoryError: not called any more, since in an earlier iteration it kept" in text
    assert "odd: MemoryError: not called any more" in text
    assert not (folder.results / "keeps.csv").exists()
    assert len(rows_of(folder.results / "statistics.csv")) == STEPS


@pytest.mark.keep(1)
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("variables: t, script: good.py, call: Steepst", "found no 'Steepst' in 'good.py'; did you mean 'Steepest'?"),
        ("variables: t, script: gone.py, call: f", "nor one beside the configuration"),
        ("variables: t, script: syntax.py, call: f", "'syntax.py' cannot be imported: SyntaxError"),
        ("variables: t, script: needs.py, call: f", "No module named 'no_such_module' ("),
        ("variables: t, script: bad.py, call: not_callable", "'not_callable' in 'bad.py' is of type int, expected"),
        (
            "variables: t, script: bad.py, call: Half",
            "the class 'Half' has no method combine, expected local and combine",
        ),
        ("variables: t, script: bad.py, call: Fails", "RuntimeError: planned in making ("),
        ("variables: t, script: bad.py, call: NoPasses", "'passes' of the class 'NoPasses' is 0, expected"),
        ("variables: t, script: good.py, call: Steepest, whole: true", "found `whole` for the class 'Steepest'"),
        (
            "variables: t, script: good.py, call: Steepest, arguments: {fracton: 1}",
            "got an unexpected keyword argument 'fracton'; did you mean 'fraction'?",
        ),
        (
            "variables: [t, q], script: good.py, call: blocks",
            "found variables on the meshes grid, other for a function",
        ),
        ("variables: t, script: good.py, call: blocks, halo: -1", "for 'halo', expected a whole number"),
        ("variables: t, script: good.py, cal: blocks", "did you mean 'call'?"),
        ("variables: t, script: good.py, call: blocks, file: a.cvs", "did you mean '.csv'?"),
    ],
)
def test_options_are_checked_at_the_start(tmp_path, options, says):
    folder = Folder(tmp_path, f"analyses: [python: {{{options}}}]\n")
    text = folder.file.read_text().replace("  p: {", "  q: {mesh: other, type: int8}\n  p: {")
    folder.file.write_text(text.replace("meshes: {", "meshes: {other: {type: uniform, size: [$n]}, "))
    (tmp_path / "syntax.py").write_text("def f(:\n")
    (tmp_path / "needs.py").write_text("import no_such_module\n")
    status, text = folder.check()
    assert status == 1, text
    assert says in text, text
    assert "run.yaml:" in text


def test_the_same_sentence_on_all_ranks(tmp_path):
    folder = Folder(tmp_path, entries("Steepst", script="good.py"), "{mode: nodes, buffer: 32 MiB, servers: 2}")
    command = [os.environ.get("SIDESTREAM_MPIEXEC", "mpirun"), "-n", "3", os.environ["SIDESTREAM_FIELD_PROGRAM"]]
    done = subprocess.run(
        [*command, str(folder.file), *OPTIONS], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode != 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("error ")]
    assert len(lines) == 3 and len(set(lines)) == 1, done.stdout + done.stderr
    assert "did you mean 'Steepest'?" in lines[0]


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"SIDESTREAM_PYTHON": "/no/such/python"}, "SIDESTREAM_PYTHON is '/no/such/python', which is no program"),
        ({"SIDESTREAM_PLUGIN_PATH": "EMPTY"}, ""),
    ],
)
def test_interpreters(tmp_path, environment, says):
    folder = Folder(tmp_path, entries("Steepest", script="good.py"))
    values = {k: str(tmp_path) if v == "EMPTY" else v for k, v in environment.items()}
    command = [TOOL, "check", "--set", "n=8", "--set", "h=0.125", str(folder.file)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **values}
    )
    assert (done.returncode == 0) == (says == ""), done.stdout + done.stderr
    assert says in done.stderr


def test_without_the_library(tmp_path):
    """The command by itself, as if Python was not found."""
    folder = Folder(tmp_path, entries("Steepest", script="good.py"))
    (tmp_path / "deep" / "er").mkdir(parents=True)
    alone = tmp_path / "deep" / "er" / "sidestream"
    alone.write_bytes(open(TOOL, "rb").read())  # noqa: SIM115, PTH123
    alone.chmod(0o755)
    command = [str(alone), "check", "--set", "n=8", "--set", "h=0.125", str(folder.file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "found an analysis in Python, for which Sidestream needs its library sidestream_python.so" in done.stderr
    assert "build Sidestream with SIDESTREAM_PYTHON" in done.stderr


def test_another_hdf5_is_refused(tmp_path):
    """In a program in C++ h5py would call the wrong HDF5 library; in a program in Python it does not."""
    found = {}
    for program, ranks in (("C++", 1), ("Python", 1)):
        folder = Folder(tmp_path, entries("needs_hdf5", script="kinds.py"))
        found[program] = folder.run(ranks, program)
        assert (folder.results / "needs_hdf5.csv").exists() == (program == "Python")
        shutil.rmtree(folder.results)
    assert "ImportError: h5py brings an HDF5 of its own" in found["C++"]


def test_conformance(tmp_path):
    """Analyses pass the same checks as those in C++: memory that runs out, ghosts, several partials, any blocks."""
    folder = Folder(
        tmp_path, "analyses: [python: {variables: t, script: good.py, call: Steepest, halo: 1, file: s.csv}]\n"
    )
    text = folder.file.read_text().replace("$n, $n, $n", "9, 8, 7").replace("$h, $h, $h", "1, 1, 1")
    folder.file.write_text(text)
    done = subprocess.run(
        [TOOL, "conformance", str(folder.file)], capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_python_that_is_not_ours(tmp_path):
    """A program in Python keeps its interpreter, its streams and its settings."""
    script = "import sys, sidestream; assert 'h5py' not in sys.modules, 'h5py'"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
