"""Bad input gets a sentence with file and line, once, and a non-zero status on every rank."""

import pytest
from pairs import pairs
from running import INPUTS, run

EIGHT = INPUTS / "eight.osc"

BAD_LINES = [
    ("wobbly 0 0 0 1 1", "the type is 'wobbly'; expected damped, decaying or periodic"),
    ("periodic 0 0 0 1", "found 5 words; expected 'type x y z radius omega0 [zeta]'"),
    ("periodic 0 0 0 1 1 0.1 7", "found 8 words"),
    ("periodic 0 zero 0 1 1", "y is 'zero'; expected a finite number"),
    ("periodic 0 0 nan 1 1", "z is 'nan'; expected a finite number"),
    ("periodic 0 0 1e999 1 1", "z is '1e999'; expected a finite number"),
    ("periodic 0 0 0 0 1", "radius is 0; it must be greater than 0"),
    ("periodic 0 0 0 1 -2", "omega0 is -2; it must be greater than 0"),
    ("damped 0 0 0 1 1", "a damped oscillator needs zeta"),
    ("damped 0 0 0 1 1 1.0", "zeta is 1.0; it must be at least 0 and less than 1"),
    ("damped 0 0 0 1 1 -0.5", "zeta is -0.5"),
    ("periodic 0 0 0 1 1 zeta", "zeta is 'zeta'; expected a finite number"),
]


@pytest.mark.keep(2)
@pytest.mark.parametrize(("line", "sentence"), BAD_LINES)
def test_bad_line(tmp_path, line, sentence):
    file = tmp_path / "bad.osc"
    file.write_text(f"# first line\nperiodic 0 0 0 1 1\n{line}\n")
    done = run(0, file)
    assert done.returncode == 1
    assert f"{file}:3: " in done.stderr
    assert sentence in done.stderr


@pytest.mark.test_all
def test_same_sentence_once_on_several_ranks(tmp_path):
    file = tmp_path / "bad.osc"
    file.write_text("nothing good\n")
    done = run(3, file)
    assert done.returncode != 0
    assert done.stderr.count(f"{file}:1: ") == 1


@pytest.mark.keep(2)
@pytest.mark.parametrize(
    ("ranks", "arguments", "sentence"),
    pairs(
        [0, 2],
        [
            (["missing.osc"], "missing.osc: cannot be read"),
            ([EIGHT, "--gird", 8], "--gird"),
            ([EIGHT, "--grid", 8, 8], "--grid: found 2 numbers; expected 1 or 3"),
            ([EIGHT, "--grid", 0], "--grid"),
            ([EIGHT, "--steps", "many"], "--steps"),
            ([EIGHT, "--type", "float16"], "--type"),
            ([EIGHT, "--dt", "inf"], "--dt: expected a finite number"),
            ([], "a file with oscillators is required"),
            ([EIGHT, "--grid", 2, "--blocks", 11], "2 x 2 x 2 cells cannot be cut into 11 blocks"),
            ([EIGHT, "--dump", "/nonexistent/dump.raw"], "--dump /nonexistent/dump.raw: cannot write it"),
            ([EIGHT, "--times", "/nonexistent/times.csv"], "--times /nonexistent/times.csv"),
            ([EIGHT, "--sidestream", "run.yaml"], "built without Sidestream"),
        ],
        strength=1,
    ),
)
def test_bad_command_line(ranks, arguments, sentence):
    done = run(ranks, *arguments)
    assert done.returncode != 0
    assert done.stderr.count(sentence) == 1, done.stderr


def test_empty_input(tmp_path):
    file = tmp_path / "empty.osc"
    file.write_text("# only a comment\n\n")
    done = run(0, file)
    assert done.returncode == 1
    assert f"{file}: there is no oscillator in it" in done.stderr


def test_help_goes_to_standard_output():
    done = run(2, "--help")
    assert done.returncode == 0
    assert done.stdout.count("Usage: oscillators") == 1


def test_order_of_arguments_does_not_matter():
    for arguments in (["--grid", 6, 5, 4, EIGHT], [EIGHT, "--grid", "6,5,4"], ["--grid", 6, 5, 4, "--steps", 1, EIGHT]):
        done = run(0, *arguments, "--steps", 1) if "--steps" not in arguments else run(0, *arguments)
        assert done.returncode == 0, done.stderr
        assert "6 x 5 x 4 cells" in done.stdout
