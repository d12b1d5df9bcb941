"""Bytes of a database: checksums, and the codecs that chunks went through.

Entry: `decoding.decoded` undoes a list of codecs, and `checksums.is_right` verifies bytes. What each codec does stands
in docs/database.md.

The packages zstandard and xxhash, and the library zfp, are loaded when a chunk needs them; an error says which is
missing.
May use: errors. May be used by: trees and the reader.
"""
