"""Messages between a server and ParaView's interpreter: a dict as JSON, then arrays.

Nothing is pickled, so that the two may have different versions of Python and NumPy.
"""

import json
import math
import socket
import struct
import time
from typing import Any

import numpy as np

_LENGTH = struct.Struct("<Q")


class Channel:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._deadline = math.inf

    def within(self, seconds: float) -> None:
        """Limits all that follows, together; TimeoutError says that the time is up."""
        self._deadline = time.monotonic() + seconds

    def close(self) -> None:
        self._connection.close()

    def send(self, header: dict[str, Any], arrays: list[Any]) -> None:
        described = [[array.dtype.str, list(array.shape)] for array in arrays]
        head = json.dumps({"header": header, "arrays": described}).encode()
        self._send(_LENGTH.pack(len(head)) + head)
        for array in arrays:
            self._send(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def receive(self) -> tuple[dict[str, Any], list[Any]]:
        """Raises EOFError if the other end is closed. The arrays are new ones."""
        head = json.loads(self._receive(_LENGTH.unpack(self._receive(_LENGTH.size))[0]))
        arrays = []
        for kind, shape in head["arrays"]:
            array = np.empty(shape, np.dtype(kind))
            self._fill(memoryview(array.reshape(-1).view(np.uint8)))
            arrays.append(array)
        return head["header"], arrays

    def _wait(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(None if math.isinf(left) else left)

    def _send(self, data: Any) -> None:
        self._wait()
        self._connection.sendall(data)

    def _receive(self, size: int) -> bytearray:
        data = bytearray(size)
        self._fill(memoryview(data))
        return data

    def _fill(self, place: memoryview) -> None:
        while len(place):
            self._wait()
            got = self._connection.recv_into(place)
            if got == 0:
                raise EOFError
            place = place[got:]
