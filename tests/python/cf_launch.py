"""Runs of cf_run.py, and the values that their outputs must have."""

import subprocess
import sys
from pathlib import Path

import cf_run
import numpy as np

SCRIPT = Path(__file__).with_name("cf_run.py")
CORES = "{mode: cores, per_node: 1, buffer: 16 MiB}"


def declared(kind):
    if kind in cf_run.LISTS:
        axes = 2 if kind in cf_run.FLAT else 3
        roles = "coordinates: pos" + (", connectivity: links, offsets: ends, types: kinds" if kind != "points" else "")
        of = "points" if kind == "points" else "unstructured"
        text = f"meshes: {{m: {{type: {of}, dimensions: {axes}, {roles}}}}}\nvariables:\n"
        text += f"  pos: {{mesh: m, components: {axes}}}\n  n: {{mesh: m, centering: node}}\n"
        if kind != "points":
            text += "  links: {mesh: m, type: int64}\n  ends: {mesh: m, type: int32}\n  kinds: {mesh: m, type: uint8}\n"
            text += "  t: {mesh: m}\n"
        return text
    size = list(cf_run.SIZES.get(kind) or cf_run.CURVED[kind])
    more = f"size: {size}, units: {['m', 'm', 'km'][: len(size)]}"
    if kind == "stretched":
        nodes = ", ".join(f"{a}: {n}" for a, n in zip("xyz", cf_run.STRETCHED, strict=True))
        more = f"type: rectilinear, coordinates: {{{nodes}}}"
    if kind in cf_run.CURVED:
        more = f"type: curvilinear, size: {size}, coordinates: pos"
    text = f"meshes: {{m: {{{more}}}}}\nvariables:\n"
    if kind in cf_run.CURVED:
        text += f"  pos: {{mesh: m, components: {len(size)}, centering: node}}\n"
    text += "  t: {mesh: m, unit: K, label: warmth, attributes: {standard_name: air_temperature}}\n"
    text += "  n: {mesh: m, type: float32, centering: node}\n  mark: {mesh: m, type: int32}\n"
    return text + "  late: {mesh: m}\n  v: {mesh: m, components: 2, order: row}\n"


def launch(
    folder,
    kind,
    ranks,
    placement="inline",
    outputs="[netcdf: {}]",
    blocks=4,
    steps=3,
    pause=0,
    fits=True,
    existing="replace",
):
    folder.mkdir(exist_ok=True)
    text = f"placement: {placement}\noutput: {{directory: results, existing: {existing}}}\n{declared(kind)}"
    text += f"outputs: {outputs}\n"
    (folder / "run.yaml").write_text(text)
    command = ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, str(SCRIPT), "run.yaml", kind]
    command += [str(blocks), str(steps), str(pause)]
    if not fits:
        return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results"


def expected(kind, step):
    """The values of variables over the whole mesh by name; NaN or 0 where nothing came."""
    size = cf_run.SIZES.get(kind) or cf_run.CURVED[kind]
    t, n = cf_run.field(size, 0, step), cf_run.field(size, 1, step).astype(np.float32)
    found = {"t": t, "mark": t.astype(np.int32), "late": t, "v": cf_run.rows(t), "n": n}
    if kind == "gap" and step == 1:
        lo, hi = cf_run.boxes(size, 4)[1]
        gap = tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))[::-1]
        t[gap] = np.nan
        found["mark"][gap] = 0
        del found["n"]  # only inner nodes are missing
    if step % 2:
        found["late"], found["v"] = np.full_like(found["late"], np.nan), np.full_like(found["v"], np.nan)
    return found


def check_equal(dataset, values, names=None):
    for name, array in values.items():
        found = dataset[name]
        np.testing.assert_array_equal(np.squeeze(found.values) if names else found.values, array, name)
        assert found.dtype == array.dtype, name


def contents(folder):
    return {
        p.relative_to(folder): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and "series" not in p.name
    }
