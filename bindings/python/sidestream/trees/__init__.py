"""Values in cells of octrees, which a database stores level by level.

Entry: `pieces.TreePieces`, which reads values of one context. `asked` says what it needs of that context, so that
nothing here imports the reader. The streams are those of docs/database-trees.md: `values` decodes one, with the
numbers, predictions and relations of the modules of these names.
May use: codecs and errors. May be used by: the reader.
"""
