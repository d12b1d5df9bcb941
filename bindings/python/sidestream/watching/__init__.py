"""A page that shows a running or ended simulation from the files of its output directory.

`Watched` (watched.py) holds what is known of a directory. `server` serves it, `files` writes it as one file.
"""
