"""The half that runs in ParaView's interpreter; `messages` is shared with the server.

Entry: `driver`, the main program there. Modules here import each other by their bare names, since that interpreter does
not have this package.

May use: the standard library, NumPy, ParaView. May be used by: `child`, which starts `driver`.
"""
