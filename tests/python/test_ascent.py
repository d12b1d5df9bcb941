"""`sidestream translate ascent`: each action, filter, extract, plot and expression is translated, or named with its
place. All translations pass `sidestream check`, and one that runs gives the results of a configuration by hand."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from python_program import MPIRUN, TOOL

MESH = "mesh=9x6x5"


def translate(folder, actions, name="actions.yaml"):
    """Returns the configuration and the remarks. The translation passes `check`."""
    text = actions if isinstance(actions, str) else json.dumps(actions, indent=1)
    (folder / name).write_text(text)
    done = subprocess.run(
        [TOOL, "translate", "ascent", name, "-o", "run.yaml"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    checked = subprocess.run(
        [TOOL, "check", "run.yaml", "--mesh", MESH], cwd=folder, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, (folder / "run.yaml").read_text() + checked.stderr
    return yaml.safe_load((folder / "run.yaml").read_text()), done.stderr


def pipeline(*filters):
    named = {f"f{n}": {"type": kind, "params": params} for n, (kind, params) in enumerate(filters)}
    return {"action": "add_pipelines", "pipelines": {"pl": named}}


def scene(field="t", **plot):
    plot = {"type": "pseudocolor", "field": field, **plot}
    return {"action": "add_scenes", "scenes": {"s": {"plots": {"p": plot}, "image_prefix": "out%04d"}}}


ORIGIN, X = {"x": 0.5, "y": 0, "z": 0}, {"x": 1, "y": 0, "z": 0}
WHOLE = {"variable": "t", "minimum": -1.7e308, "colours": "coolwarm"}


@pytest.mark.parametrize(
    ("kind", "params", "layer", "options"),
    [
        ("contour", {"field": "t", "iso_values": 0.5}, "isosurface", {"values": [0.5]}),
        ("contour", {"field": "u", "iso_values": [1, 2]}, "isosurface", {"values": [1, 2], "colour_by": "t"}),
        ("slice", {"point": ORIGIN, "normal": X}, "slice", {"normal": [1, 0, 0], "origin": [0.5, 0, 0]}),
        ("slice", {"point": {"x_offset": 0}, "normal": X}, "slice", {"normal": [1, 0, 0]}),
        ("threshold", {"field": "t", "min_value": 1, "max_value": 2}, "threshold", {"minimum": 1, "maximum": 2}),
        ("clip", {"plane": {"point": ORIGIN, "normal": X}}, "clip", {"side": "above", "normal": [1, 0, 0]}),
        (
            "clip",
            {"sphere": {"center": ORIGIN, "radius": 2}, "invert": "true"},
            "clip",
            {"radius": 2, "keep": "inside"},
        ),
        (
            "clip",
            {"box": {"min": ORIGIN, "max": {"x": 1, "y": 1, "z": 1}}},
            "clip",
            {"high": [1, 1, 1], "keep": "outside"},
        ),
        (
            "streamline",
            {"field": "v", "num_steps": 9, "step_size": 0.1, "seeds": {"type": "point", "location": [1, 2, 3]}},
            "streamlines",
            {"steps": 9, "point": [{"at": [1, 2, 3]}], "direction": "forwards"},
        ),
    ],
)
def test_filters_that_cut(tmp_path, kind, params, layer, options):
    made, said = translate(tmp_path, [pipeline((kind, params)), scene(pipeline="pl")])
    assert said == ""
    render = made["analyses"][0]["render"]
    assert options.items() <= render[layer].items(), render
    assert render["file"] == "out{cycle:04}.png"


def test_three_slices_and_a_chain(tmp_path):
    steps = (
        ("vector_magnitude", {"field": "v", "output_name": "speed"}),
        ("3slice", {"point": {"x": 1, "y": 2, "z": 3}}),
    )
    made, said = translate(tmp_path, [scene("speed", pipeline="pl"), pipeline(*steps)])
    assert said == ""
    assert made["derived"] == {"speed": "magnitude(v)"} and made["variables"]["v"]["components"] == 3
    slices = made["analyses"][0]["render"]["slice"]
    assert [one["position"] for one in slices] == [1, 2, 3] and {one["variable"] for one in slices} == {"speed"}


@pytest.mark.parametrize(
    ("kind", "params", "formula"),
    [
        ("gradient", {"field": "t"}, "gradient(t)"),
        ("vorticity", {"field": "v"}, "curl(v)"),
        ("divergence", {"field": "v"}, "divergence(v)"),
        ("qcriterion", {"field": "v"}, "q_criterion(v)"),
        ("vector_component", {"field": "v", "component": 1}, "v[1]"),
        ("composite_vector", {"field1": "t", "field2": "u"}, "vector(t, u)"),
        ("log", {"field": "t"}, "ln(t)"),
        ("log10", {"field": "t", "clamp_min_value": 0.1}, "log10(max(t, 0.1))"),
        ("log2", {"field": "t"}, "log2(t)"),
        ("power_of_field", {"field": "t", "exponent": 3}, "(t)^(3)"),
        ("add_fields", {"fields": ["t", "my-u"]}, "t + 'my-u'"),
        ("expression", {"expression": "field('t') * 2 + sqrt(abs(field('v', 'y')))"}, "((t * 2) + sqrt(abs(v[1])))"),
    ],
)
def test_filters_that_compute(tmp_path, kind, params, formula):
    name = "name" if kind == "expression" else "output_name"
    extract = {
        "action": "add_extracts",
        "extracts": {"e": {"type": "relay", "pipeline": "pl", "params": {"fields": ["w"]}}},
    }
    made, said = translate(tmp_path, [pipeline((kind, {**params, name: "w"})), extract])
    assert said == "" and made["derived"] == {"w": formula}
    assert made["outputs"] == [{"hdf5": {"variables": ["w"], "file": "e-{cycle:06}.h5"}}]


@pytest.mark.parametrize(
    ("kind", "params", "analysis", "options"),
    [
        ("uniform_grid", {"field": "t", "dims": {"i": 2, "j": 2, "k": 2}, "origin": ORIGIN}, "resample",
         {"size": [2, 2, 2], "low": [0, -0.5, -0.5], "high": [2, 1.5, 1.5]}),
        ("contour", {"field": "t", "iso_values": 1}, "isosurface", {"variable": "t", "fields": ["u"]}),
        ("clip", {"plane": {"point": ORIGIN, "normal": X}}, "clip", {"variable": "u"}),
    ],
)  # fmt: skip
def test_extracts_of_pipelines(tmp_path, kind, params, analysis, options):
    extract = {"type": "relay", "pipeline": "pl", "params": {"fields": ["u"], "path": "/far/away/cut"}}
    made, said = translate(tmp_path, [pipeline((kind, params)), {"action": "add_extracts", "extracts": {"e": extract}}])
    assert "the result of its pipeline becomes a file of" in said
    assert options.items() <= made["analyses"][0][analysis].items()
    assert made["analyses"][0][analysis]["file"].startswith("cut-{cycle:06}.")


def test_extracts(tmp_path):
    extracts = {
        "a": {"type": "vtk", "params": {"path": "a"}},
        "b": {"type": "statistics", "params": {"field": "t"}},
        "c": {"type": "histogram", "params": {"field": "t", "bins": 8}},
        "d": {"type": "adios2", "params": {"filename": "out.bp", "engine": "SST"}},
        "e": {"type": "python", "params": {"source": "x"}},
        "f": {"type": "htg", "params": {"path": "x"}},
        "g": {"type": "relay", "params": {"protocol": "yaml"}},
        "h": {"type": "flatten"},
    }
    made, said = translate(tmp_path, [{"action": "add_extracts", "extracts": extracts}])
    assert [next(iter(one)) for one in made["analyses"] + made["outputs"]] == [
        "statistics",
        "histogram",
        "vtk",
        "stream",
    ]
    assert made["outputs"][1]["stream"]["engine"] == "sst"
    for name in "efgh":
        assert f"the extract '{name}' was left out" in said, said


def trigger(condition, **params):
    params = {"condition": condition, **(params or {"actions": [scene()]})}
    return {"action": "add_triggers", "triggers": {"t1": {"params": params}}}


QUERIES = {
    "action": "add_queries",
    "queries": {
        "q1": {"params": {"expression": "entropy(histogram(field('t'), num_bins=128))", "name": "e"}},
        "q2": {"params": {"expression": "max(field('u'))", "name": "top"}},
    },
}


@pytest.mark.parametrize(
    ("condition", "when"),
    [
        ("max(field('t')) > 3", "(max(t) > 3)"),
        ("avg(field('t')) + sum(field('t')) >= min(field(\"u\")).value", "((mean(t) + sum(t)) >= min(u))"),
        ("field_nan_count(field('t')) > 0 or field_inf_count(field('t')) > 0", "((nan(t) > 0) or (infinite(t) > 0))"),
        ("history(e, relative_index = 1) - e > 10", "((previous(entropy(t, 128), 1) - entropy(t, 128)) > 10)"),
        ("top > 1 and not cycle() == 5", "((max(u) > 1) and (not (cycle == 5)))"),
        ("max(field('t')).position.x > 2", "(at_max(t, x) > 2)"),
        ("quantile(cdf(histogram(field('t'))), 0.5) > time()", "(quantile(t, 0.5) > time)"),
        ("pow(max(field('v','u')), 2) > 1e-3", "((max(v[0]) * max(v[0])) > 1e-3)"),
        ("magnitude(min(field('t')).position - vector(1,2,3)) < 1",
         "(sqrt((at_min(t, x) - 1) * (at_min(t, x) - 1) + (at_min(t, y) - 2) * (at_min(t, y) - 2) + "
         "(at_min(t, z) - 3) * (at_min(t, z) - 3)) < 1)"),
    ],
)  # fmt: skip
def test_conditions(tmp_path, condition, when):
    made, _ = translate(tmp_path, [QUERIES, trigger(condition)])
    render = made["analyses"][-1]["render"]
    assert render["when"] == when and "every" not in render


def test_cycles_are_a_schedule(tmp_path):
    made, said = translate(tmp_path, [trigger("cycle() % 100 == 0 and max(field('t')) > 1")])
    assert said == ""
    assert made["analyses"][0]["render"]["every"] == "100 cycles"
    assert made["analyses"][0]["render"]["when"] == "(max(t) > 1)"


def test_files_of_triggers(tmp_path):
    (tmp_path / "inner.json").write_text(
        json.dumps([scene("u"), trigger("min(field('u')) < 0", actions_file="last.yaml")])
    )
    (tmp_path / "last.yaml").write_text(
        "-\n  action: add_extracts\n  extracts: {e: {type: relay}}\n- action: add_command\n"
    )
    made, said = translate(tmp_path, [trigger("max(field('t')) > 1", actions_file="inner.json")])
    assert made["analyses"][0]["render"]["when"] == "(max(t) > 1)"
    assert made["outputs"] == [{"hdf5": {"file": "e-{cycle:06}.h5", "when": "(max(t) > 1) and (min(u) < 0)"}}]
    assert said.startswith("last.yaml:4:3: the action was left out: 'add_command' has no counterpart"), said


def test_queries_become_tables(tmp_path):
    more = {"q3": {"params": {"expression": "histogram(field('t'), num_bins=10)", "name": "h"}}}
    made, said = translate(tmp_path, [QUERIES, {"action": "add_queries", "queries": more}])
    tables = [(kind, options["file"]) for one in made["analyses"] for kind, options in one.items()]
    assert tables == [("statistics", "e.csv"), ("statistics", "top.csv"), ("histogram", "h.csv")]
    assert "the query 'top' is max(u); the table has the statistics of its fields" in said


def test_pictures(tmp_path):
    """Colours, ranges, cameras and databases."""
    points = [{"type": "rgb", "position": n, "color": colour} for n, colour in enumerate(([1, 0, 0], [0, 0, 1]))]
    points += [{"type": "alpha", "position": n, "alpha": n / 2} for n in (0, 1)]
    plots = {
        "a": {
            "type": "volume",
            "field": "t",
            "min_value": 0,
            "max_value": 4,
            "color_table": {"control_points": points},
        },
        "b": {"type": "pseudocolor", "field": "u", "color_table": {"name": "Viridis"}},
        "c": {"type": "mesh"},
        "d": {"type": "pseudocolor", "field": "u", "points": {"radius": 1}},
    }
    camera = {"look_at": [0, 0, 0], "position": [1, 1, 1], "up": [0, 0, 1], "fov": 45, "zoom": 2, "azimuth": 10}
    renders = {
        "r": {"image_width": 300, "image_height": 200, "image_name": "one", "camera": camera, "bg_color": [0, 0, 0],
              "annotations": "false", "dataset_bounds": [0, 1, 2, 3, 4, 5]},
        "s": {"type": "cinema", "phi": 2, "theta": 2, "db_name": "views"},
    }  # fmt: skip
    made, said = translate(tmp_path, [{"action": "add_scenes", "scenes": {"s": {"plots": plots, "renders": renders}}}])
    one, two = (entry["render"] for entry in made["analyses"])
    assert (
        one["volume"]["opacity"] == [0, 0.5] and one["volume"]["values"] == [0, 4] and one["volume"]["range"] == [0, 4]
    )
    assert one["volume"]["colours"] == ["#ff0000", "#0000ff"] and one["threshold"]["colours"] == "viridis"
    assert one["camera"] == {"focus": [0, 0, 0], "position": [1, 1, 1], "up": [0, 0, 1], "angle": 45, "zoom": 2}
    assert one["size"] == [300, 200] and one["domain"] == [0, 2, 4, 1, 3, 5] and one["background"] == ["#000000"]
    assert one["file"] == "one.png" and one["caption"] == "none"
    assert two["camera"] == {"phi": [0, 180], "theta": [-45, 45]} and two["file"] == "views.cdb"
    for part in ("plot 'c'", "plot 'd'", "'azimuth' has no counterpart"):
        assert part in said, said


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([pipeline(("recenter", {"field": "t"})), scene(pipeline="pl")], "the filter 'recenter' has no counterpart"),
        ([pipeline(("contour", {"field": "t", "levels": 3})), scene(pipeline="pl")], "give 'iso_values'"),
        ([pipeline(("slice", {"point": {"x_offset": 1}, "normal": X})), scene(pipeline="pl")], "depends on the bounds"),
        ([pipeline(("threshold", {"field": "t", "min_value": "2 * q"})), scene(pipeline="pl")], "give a number"),
        ([pipeline(("isovolume", {"field": "t"}))], "the pipeline 'pl' was left out"),
        ([pipeline(("clip", {"sphere": {"radius": 1}}), ("slice", {"normal": X})), scene(pipeline="pl")],
         "works on the result"),
        ([scene(pipeline="none")], "the pipeline 'none' is unknown"),
        ([{**scene(), "nonsense": 1}], "'nonsense' has no counterpart"),
        ([trigger("lineout(10) > 1")], "the function 'lineout'"),
        ([trigger("max(field('t')) >")], "has an end that comes too early"),
        ([trigger("unknown > 1")], "the name 'unknown', which no query has"),
        ([trigger("max(field('t')) > 1", actions_file="gone.yaml")], "'gone.yaml', is not there"),
        ([{"action": "add_triggers", "triggers": {"t": {"params": {"callback": "f"}}}}], "callbacks have no"),
        ([{"action": "add_commands", "commands": {}}], "ours run no commands"),
        ([{"action": "save_info"}, {"action": "execute"}], "is not needed"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_named(tmp_path, actions, said):
    _, remarks = translate(tmp_path, actions)
    assert said in remarks, remarks
    assert all(line.startswith("actions.yaml:") for line in remarks.splitlines())


def test_files_that_are_none(tmp_path):
    for text, said in (("a: 1", "expected a list of Ascent's actions"), ("- [", "bad.yaml:1"), (None, "cannot read")):
        if text is None:
            (tmp_path / "bad.yaml").unlink()
        else:
            (tmp_path / "bad.yaml").write_text(text)
        command = [TOOL, "translate", "ascent", "bad.yaml"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and said in done.stderr, done.stderr


def area(file):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(file))
    reader.Update()
    corners = vtk_to_numpy(reader.GetOutput().GetPoints().GetData()).astype(float)
    triangles = vtk_to_numpy(reader.GetOutput().GetPolys().GetConnectivityArray()).reshape(-1, 3)
    a, b, c = (corners[triangles[:, n]] for n in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2


def test_a_translation_runs(tmp_path):
    """Its surface and its statistics are those of a configuration by hand."""
    pytest.importorskip("vtkmodules")
    from watched import field

    extract = {"type": "relay", "pipeline": "pl", "params": {"path": "surface"}}
    made, _ = translate(
        tmp_path,
        [pipeline(("contour", {"field": "t", "iso_values": 0.25})),
         {"action": "add_extracts", "extracts": {"e": extract}},
         {"action": "add_queries", "queries": {"q": {"params": {"expression": "max(field('t'))", "name": "top"}}}}],
    )  # fmt: skip
    hand = {"isosurface": {"variable": "t", "values": [0.25], "file": "hand-{cycle}.vtp"}}
    made["analyses"].append(hand)
    made["variables"] = {"t": {"mesh": "grid", "order": "row"}}
    made["meshes"] = {"grid": {"type": "uniform", "size": [9, 6, 5], "spacing": [0.25, 0.5, 1.0]}}
    made["output"] = {"directory": str(tmp_path / "results")}
    made["placement"] = "inline"
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(made))
    script = Path(__file__).with_name("watched.py")
    command = [MPIRUN, "-n", "2", sys.executable, str(script), str(tmp_path / "run.yaml"), "random", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = (tmp_path / "results" / "top.csv").read_text().splitlines()
    column = rows[0].split(",").index("maximum")
    for step in range(2):
        translated = area(tmp_path / "results" / f"surface-{step:06}.vtp")
        assert translated > 1 and translated == area(tmp_path / "results" / f"hand-{step}.vtp")
        assert float(rows[1 + step].split(",")[column]) == field("random", step).max()
