"""Values in cells of octrees, which a database stores level by level.

Entry: `pieces.TreePieces`, which reads values of one context. `asked` declares the interface that a context must have,
so that nothing here imports the reader. modules/amr_codec/stream-format.md describes the streams. `compiled` decodes
one with the module amr_codec; without that `values` does, with the help of `numbers`, `prediction` and `relations`.
May use: codecs and errors. May be used by: the reader.
"""
