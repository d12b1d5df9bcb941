"""Bytes of a database: checksums, and the codecs of chunks.

Entry: `decoding.decoded` undoes a list of codecs, and `checksums.is_right` verifies bytes. docs/database.md describes
the codecs.

The packages zstandard and xxhash, and the library zfp, are loaded when a chunk needs them; an error says which is
missing.
May use: errors. May be used by: trees and the reader.
"""
