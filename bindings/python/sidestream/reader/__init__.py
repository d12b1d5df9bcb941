"""The reader: databases, tables, fields, images and VTK files as NumPy, xarray or lazy arrays.

Entry: `opening.open`, which users reach as `sidestream.open`. A database is read through `database`, `journal` and
`stored`; files of other formats through `series`, which chooses by the ending of the name. `levels` has refined meshes
level by level, and `vtk` the files of VTK.

Nothing here needs MPI; h5py, xarray and Pillow are loaded when a file needs them.
May use: trees, codecs and errors. May be used by: every other part except codecs, trees and serving.
"""
