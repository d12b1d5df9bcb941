"""A person at the page of a run, for benchmarks/visualisation: looks on, asks once, or asks all the time."""

import contextlib
import http.client
import itertools
import os
import subprocess
import sys
import threading
from urllib.parse import urlsplit

from viewing_runs import LAYERS, BenchmarkError, wait_for

LEFT_ALONE = f"render: {{{LAYERS['isosurfaces']}, size: [480, 360], every: 1, file: asked/levels.png}}"
# Other variables, other algorithms, a part of the domain, another resolution.
HEAVY = [
    "render: {slice: {variable: field, axis: z, position: 0.5}, size: [640, 480], file: asked/slice.png}",
    f"render: {{{LAYERS['ray casting']}, size: [480, 360], file: asked/cloud.png}}",
    "render: {isosurface: {variable: field, values: [-0.4, 0.4]}, camera: {zoom: 3}, size: [800, 600], "
    "file: asked/near.png}",
    "histogram: {variable: field, bins: 64, file: asked/histogram.csv}",
    f"render: {{{LAYERS['isosurfaces']}, camera: {{view: [1, 0, 0]}}, size: [320, 240], file: asked/side.png}}",
]


class Viewer:
    """The page of a directory, whose events a thread reads as a browser would; it is there before the run begins.
    Another thread asks `questions`."""

    def __init__(self, results, questions, package):
        self.answers, self._results, self._questions = [], results, questions
        self._over, self._threads = threading.Event(), []
        sys.path.insert(0, str(package))
        command = [sys.executable, "-m", "sidestream", "watch", str(results)]
        environment = {**os.environ, "PYTHONPATH": str(package)}
        self._page = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        url = next((line for line in self._page.stdout if "http://" in line), None)
        if url is None:
            raise BenchmarkError("'sidestream watch' printed no address; install sidestream[watch]")
        address = urlsplit(url.strip())
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        connection.request("GET", "/?" + address.query)
        answer = connection.getresponse()
        cookie = answer.getheader("set-cookie").split(";")[0]
        answer.read()
        connection.request("GET", "/events", headers={"Cookie": cookie})
        self._start(self._look, connection.getresponse())

    def begin(self, run):
        """Asks, now that the run has begun."""
        if self._questions:
            self._start(self._ask, run)

    def _start(self, function, *arguments):
        self._threads.append(threading.Thread(target=function, args=arguments, daemon=True))
        self._threads[-1].start()

    def _look(self, events):
        with contextlib.suppress(OSError, http.client.HTTPException):  # the page ends
            while not self._over.is_set() and events.read1(1 << 16):
                pass

    def _ask(self, run):
        import sidestream

        try:
            wait_for(self._results / ".sidestream-requests" / "record", run)
            for question in self._questions:
                if self._over.is_set():
                    return
                self.answers.append(sidestream.ask(self._results, question, 20))
        except (sidestream.Error, BenchmarkError) as problem:  # the run has ended
            self.answers.append(f"unanswered: {problem}")

    def end(self):
        self._over.set()
        self._page.kill()
        self._page.wait()
        self._page.stdout.close()
        for thread in self._threads:
            thread.join(30)


def scenarios():
    """Questions by scenario of figure 15; None if nobody is connected."""
    return {
        "no visualisation": None,
        "connected, asks for nothing": (),
        "isosurfaces, left alone": (LEFT_ALONE,),
        "heavy use": itertools.cycle(HEAVY),
    }
