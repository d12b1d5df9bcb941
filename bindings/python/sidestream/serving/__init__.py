"""Serving: runs analyses in Python on servers.

Entry: `entry.load`, which the library sidestream_python.so calls with the interpreter's lock; that library makes the
module `sidestream._servers`. `analysis` has the types that analyses receive, which users import from
`sidestream.analysis`; `task` calls an analysis, and `results` turns its return value into tables, arrays and
images.

Nothing here imports h5py or mpi4py by itself: the program has an HDF5 and an MPI of its own.
May use: errors and the communicator of the client. May be used by: sidestream_python.so.
"""
