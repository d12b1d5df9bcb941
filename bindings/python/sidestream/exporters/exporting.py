"""Copies of a database in formats of other programs: `python -m sidestream export`, or `sidestream export`."""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..errors import Code, Error
from ..reader.damages import reading
from ..reader.database import chosen, continued
from .parts import Job, Progress, Remarks, bytes_of, human, in_ranges, parse_ranges

FORMATS = {".amrex": "amrex", ".h5": "hdf5", ".nc": "netcdf", ".pvd": "vtk", ".vtkhdf": "vtkhdf", ".zarr": "zarr"}


def _writer(format: str) -> Any:
    from importlib import import_module

    return getattr(import_module(f"sidestream.exporters.{format}"), f"export_{format}")


def _put_into_place(folder: Path, target: Path) -> list[Path]:
    """Moves all files that were made next to the target. Nothing that exists is overwritten."""
    made = sorted(folder.iterdir())
    there = [path.name for path in made if (target.parent / path.name).exists()]
    if there:
        raise Error(f"export: {target.parent / there[0]} is there; give another name, or remove it", Code.FILE)
    for path in made:
        path.rename(target.parent / path.name)
    return [target.parent / path.name for path in made]


def _bytes_in(made: list[Path]) -> int:
    files = [f for path in made for f in ([path] if path.is_file() else path.rglob("*"))]
    return sum(f.stat().st_size for f in files if f.is_file())


def export(
    directory: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    variables: list[str] | None = None,
    iterations: list[range] | None = None,
    cycles: list[range] | None = None,
    time_units: str | None = None,
    deepest: int | None = None,
    compress: bool = True,
) -> list[str]:
    """Copies contexts of a database to self-contained files.

    The ending of `target` chooses the format: NetCDF-4 (.nc), Zarr of version 3 (.zarr), HDF5 (.h5: a file for each
    context, and a .series), VTK's XML files (.pvd), VTKHDF of octrees and refinement levels (.vtkhdf: likewise, for
    each mesh), a directory with plotfiles of AMReX (.amrex); or, for a table (.csv, .pieces, .series, .h5), Parquet
    (.parquet). By default all variables and all iterations are exported. If a later run has written a context anew, the
    later one is exported. Nothing is overwritten. Returns sentences about data that the format could not hold.
    `time_units` ("seconds since 2000-01-01") is for NetCDF. `deepest` leaves out finer levels, whose values are not
    read: cells of that level count as leaves, with the values of parents. Octrees need .pvd or .vtkhdf then.
    """
    return _export(
        Path(directory),
        Path(target),
        variables=variables,
        iterations=iterations,
        cycles=cycles,
        time_units=time_units,
        deepest=deepest,
        compress=compress,
    )[0]


def _export(
    place: Path,
    target: Path,
    *,
    variables: list[str] | None,
    iterations: list[range] | None,
    cycles: list[range] | None,
    time_units: str | None,
    deepest: int | None,
    compress: bool,
) -> tuple[list[str], list[Path]]:
    """Returns the sentences, and the names of the new files."""
    if target.suffix == ".parquet":
        if variables or iterations or cycles or time_units or deepest is not None:
            raise Error("export: a table goes to .parquet whole; remove the option that selects from a database")
        from .parquet import to_parquet

        to_parquet(place, target)
        return [], [target]
    if target.suffix not in FORMATS:
        raise Error(
            f"export: found '{target.name}', expected a name that ends in one of {', '.join(FORMATS)}, .parquet"
        )
    if time_units and target.suffix != ".nc":
        raise Error(f"export: found units of the time for '{target.name}', expected them for .nc only; leave them out")
    if time_units and not re.fullmatch(r"[A-Za-z]+ since \d{1,4}-\d{1,2}-\d{1,2}.*", time_units):
        raise Error(
            f"export: found '{time_units}' as units of the time, which programs cannot read as dates; write "
            "'seconds since 2000-01-01'"
        )
    if target.exists():
        raise Error(f"export: {target} is there; give another name, or remove it", Code.FILE)
    slots = [s for s in continued(chosen(place)) if in_ranges(s.iteration, iterations) and in_ranges(s.cycle, cycles)]
    if not slots:
        raise Error(f"export: {place} has none of the iterations that were asked for; see `sidestream ls`")
    job, remarks = Job(place, slots, variables, deepest), Remarks()
    job.check_names()
    job.check_deepest(target.suffix)
    progress = Progress(sum(bytes_of(job.fields(slot)) for slot in slots))
    extra = {"time_units": time_units} if target.suffix == ".nc" else {}
    target.parent.mkdir(parents=True, exist_ok=True)
    # Written next to the target first, so that it appears whole or not at all.
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        with reading(f"export: {place}", writes=True):
            _writer(FORMATS[target.suffix])(job, target, folder, compress, progress, remarks, **extra)
        progress.end()
        made = _put_into_place(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return remarks.said, made


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sidestream export", description="Copies a database to files that need nothing else."
    )
    parser.add_argument("directory", help="of a database: what the output 'database' has written; or a table")
    parser.add_argument(
        "target",
        help="what to write: ends in .nc (NetCDF-4), .zarr, .h5, .pvd, .vtkhdf (VTK) or .amrex; of a table .parquet",
    )
    parser.add_argument("--variables", help="names with commas between; all if left out")
    parser.add_argument("--iterations", help="numbers, FROM:TO or FROM:TO:STEP, without TO: 3,10:20,100::10")
    parser.add_argument("--cycles", help="likewise")
    parser.add_argument("--time-units", help="of NetCDF's time axis: 'seconds since 2000-01-01'")
    parser.add_argument("--deepest", type=int, metavar="N", help="the finest level; its cells have parents' values")
    parser.add_argument("--uncompressed", action="store_true", help="larger, and sooner done")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. Returns 0: done; 1: an error, which is printed; 2: wrong arguments."""
    given = _parser().parse_args(arguments)
    try:
        remarks, made = _export(
            Path(given.directory),
            Path(given.target),
            variables=given.variables.split(",") if given.variables else None,
            iterations=parse_ranges(given.iterations) if given.iterations else None,
            cycles=parse_ranges(given.cycles) if given.cycles else None,
            time_units=given.time_units,
            deepest=given.deepest,
            compress=not given.uncompressed,
        )
    except Error as problem:
        print(f"sidestream: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"sidestream: export: {problem}", file=sys.stderr)
        return 1
    for sentence in remarks:
        print(f"sidestream: {sentence}", file=sys.stderr)
    print(f"{given.target}: {human(_bytes_in(made))}")
    return 0
