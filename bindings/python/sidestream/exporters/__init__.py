"""Exporters: copies of a database in formats of other programs, and of tables to Parquet.

Entry: `exporting.export`, which users reach as `sidestream.export`, and `exporting.main`, which is the command
`sidestream export`. A module with the name of a format has the function `export_FORMAT`; `parts` has their common
parts.

The package is not called `export`: that is the name of the function, and a sub-package of this name would hide it.
May use: the reader and errors. May be used by: the command, and records for ranges.
"""
