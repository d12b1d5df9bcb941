"""Files of VTK: XML files of grids, lists of cells and trees, and VTKHDF.

Entry: `files.read_vtk` for XML files, and `hdf.read_vtkhdf` for VTKHDF. Values stay in the files until they are
accessed.
May use: the lazy arrays of the reader. May be used by: the reader.
"""
