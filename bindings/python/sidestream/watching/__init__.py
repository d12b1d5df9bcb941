"""A page that shows a running or ended simulation from the files of its output directory.

Entry: `notebook.watch`, which users reach as `sidestream.watch`, `asking.ask` as `sidestream.ask`, and `command.main`,
which is the command `sidestream watch`. `watched` holds what is known of a directory, from `folders`, `pictures`,
`tables`, `times` and `outcomes`. `server` serves it, and `written` writes it as one file. `mailbox` sends requests to
the run, for `steering` and `asking`. The page itself is in web/.

The packages of the server are loaded when it starts. May use: the reader and errors. May be used by: the
command and, for the tables of a run, records.
"""
