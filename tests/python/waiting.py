"""Publishes small arrays to a slow server, while a thread counts.

Usage: mpirun -n 2 waiting.py CONFIGURATION

Prints the highest count during a publication by name and by handle.
"""

import sys
import threading

import numpy as np
import sidestream
from mpi4py import MPI

counted, ended = 0, threading.Event()


def count():
    global counted
    while not ended.wait(0.01):
        counted += 1


with sidestream.open_session(MPI.COMM_WORLD, sys.argv[1]) as session:
    if session.is_server:
        session.serve()
    else:
        session.set_block("line", 0, [0], [8])
        handle = session.get_handle("a", 0)
        threading.Thread(target=count, daemon=True).start()
        most = {}
        for name, publish in (("name", lambda a: session.publish("a", 0, a)), ("handle", handle.publish)):
            for step in range(3):
                before = counted
                assert publish(np.zeros(8))
                most[name] = max(most.get(name, 0), counted - before)
                session.end_iteration(step, 0.0)
        ended.set()
        print("counted", most["name"], most["handle"])
