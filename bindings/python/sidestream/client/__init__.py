"""The client: the interface for simulations with mpi4py and NumPy.

Entry: `session.open_session` opens a session (`session.Session`), and `restarting.restart` a checkpoint. Users reach
both as `sidestream.open_session` and `sidestream.restart`.

It calls the compiled module `sidestream._client`, and imports it only when a session, or a checkpoint with a
communicator, is opened: a checkpoint that one process reads needs neither that module nor MPI. May use: the reader and
errors. May be used by: serving, for the communicator of mpi4py.
"""
