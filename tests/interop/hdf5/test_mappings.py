"""Mappings that fit less of a program than their author meant: a sentence says what there is, and what to do."""

import sys

import pytest
from hdf5_runs import rows, run
from pairs import few

CONFIGURATION = """placement: {mode: inline}
output: {directory: results}
analyses:
  - statistics: {variable: a}
"""
MAPPING = """files: {pattern: "out_{cycle}.h5", steps: file, time: /t}
meshes: {g: {}}
arrays:
  "/a": {mesh: g, variable: a}
  "/c.p": {mesh: g, variable: p}
"""
CODE = """
import h5py, numpy as np
for step in range(3):
    with h5py.File(f"out_{step:03}.h5", "w") as file:
        file["t"] = 0.5 * step + 1
        file.create_dataset("a", data=np.arange(24.0).reshape(2, 3, 4) + step)
        file.create_dataset("c", data=np.zeros((2, 3, 4), [("p", "f8"), ("q", "f8")]))
"""

# Each: a change of the mapping, the sentence, and the times of the iterations; none: nothing is published.
CASES = {
    "right": ("", "", "", ["1", "1.5", "2"]),
    "pattern": ("out_", "aut_", 'map.yaml: nothing is published, since no file fits `files: {pattern: '
                "\"aut_{cycle}.h5\"}`, expected one of those that the program opens for writing "
                "(found 'out_000.h5', 'out_001.h5', 'out_002.h5'); did you mean 'out_{cycle}.h5'?", None),
    "pattern of one": ("out_{cycle}.h5", "plots.h5", "; correct the pattern", None),
    "time": ("/t}", "/tt}", "map.yaml: found no number for `files: {time: /tt}` in the step with the cycle 0, expected "
             "one in each step (there are '/a', '/c', '/c.p', '/c.q', '/t'); its time is the cycle; did you mean '/t'?",
             ["0", "1", "2"]),
    "rule": ("/c.p", "/c.pp", "map.yaml: the rule for '/c.pp' fits nothing that the program has written so far (found "
             "'/a', '/c', '/c.p', '/c.q', '/t'), expected an array of the first step; did you mean '/c.p'?",
             ["1", "1.5", "2"]),
    "all rules": ('arrays:\n  "/a": {mesh: g, variable: a}\n  "/c.p"', 'arrays:\n  "/d*"', "the rule for '/d*' fits "
                  "nothing", None),
    "same variable": ("variable: p", "variable: a", "map.yaml, line 5: found the variable 'a' for '/c.p' and for '/a', "
                      "expected another one for each; rename one of them", None),
    "same array": ("/c.p", "/a", "map.yaml, line 5: found '/a' twice, expected one rule for it", None),
    "name of a mesh": ("variable: p", "variable: g", "array '/c.p': its rule says `variable: g`, which a mesh or "
                       "another array has; it is 'g_2' in the configuration", ["1", "1.5", "2"]),
    "mesh": ("{g: {}}", "{gg: {spacing: [0.5]}}", "map.yaml: no rule names the mesh 'gg', expected one for an array "
             "on it (rules name 'g'); correct the names, or remove the mesh", ["1", "1.5", "2"]),
    "characters": ("variable: p", "variable: p-q", "array '/c.p': its rule says `variable: p-q`, expected letters, "
                   "digits and _ after a letter; it is 'p_q' in the configuration", ["1", "1.5", "2"]),
}  # fmt: skip


@pytest.mark.parametrize("case", few(CASES, kept=["pattern", "time", "rule", "same variable"]))
def test_what_a_mapping_does_not_fit_is_said(tmp_path, case):
    old, new, said, times = CASES[case]
    rules = MAPPING.replace(old, new) if old else MAPPING
    assert rules != MAPPING or not old
    done = run(tmp_path, [sys.executable, "-c", CODE], text=CONFIGURATION, rules=rules, mpi=False)
    lines = done.stderr.splitlines()
    assert len(lines) == (1 if said else 0) and all(said in line for line in lines), done.stderr
    assert (tmp_path / "out_002.h5").exists()
    if times is None:
        assert not (tmp_path / "results").exists()
    else:
        assert [row["time"] for row in rows(tmp_path)] == times


def test_a_rule_that_fits_nothing_is_said_before_the_configuration_fails(tmp_path):
    rules = MAPPING.replace('"/a"', '"/A"')
    done = run(tmp_path, [sys.executable, "-c", CODE], text=CONFIGURATION, rules=rules, mpi=False)
    first, second = done.stderr.splitlines()
    assert "the rule for '/A' fits nothing" in first and first.endswith("did you mean '/a'?")
    assert "run.yaml" in second and "found 'a'" in second
