"""Refined meshes, which are octrees or patches: their levels, and any region at one resolution.

Entry: `levels.Levels`, made by `files.read_levels`; users get it from `sidestream.open`. `sources` reads the mesh and
its values from a database or from HDF5, and `cells` finds the cells of each level.
May use: the modules of the reader that read databases and fields. May be used by: the reader and the exporters.
"""
