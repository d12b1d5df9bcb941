"""Charts: draws the tables of analyses with Matplotlib, in a form fit for print.

Entry: `plotting.plot`, which users reach as `sidestream.plot`, and `plotting.main`, which is the command
`sidestream plot`. `given` reads a table, `kinds` says which analysis made it, `curves`, `halos` and `fields` draw it,
and `page` makes texts fit. `fonts` finds the fonts that have their characters.
`titles` finds names and units in the record of the run (`run.yaml`).

Matplotlib is loaded when something is drawn, and needs no display. May use: the reader and errors. May be used by: the
command.
"""
