"""Records of a run in forms that other programs read: traces, metrics, and descriptions for archives.

Entry: `command.main`, which is the commands `sidestream trace` and `sidestream record`. `sessions` reads what a run has
recorded in its output directory; `trace`, `metrics` and `crate` each write one form of it.

May use: watching, for the tables of a run, exporters, for ranges of iterations, the reader and errors. May be used by:
the command.
"""
