"""The half that runs in ParaView's interpreter: `driver` is its main program, `messages` is shared with the server.

Modules here import each other by their bare names, since that interpreter does not have this package. May use: the
standard library, NumPy, ParaView.
"""
