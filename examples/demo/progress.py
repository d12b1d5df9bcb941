"""Shows how far a run is."""

import shutil
import sys
import time


class Progress:
    """One line that changes on a terminal; elsewhere a line per quarter."""

    def __init__(self, title, total, out=sys.stdout):
        self._title, self._total, self._out = title, total, out
        self._terminal = out.isatty()
        self._began = time.monotonic()
        self._quarter = 0

    def show(self, done):
        seconds = time.monotonic() - self._began
        if self._terminal:
            width = max(10, min(40, shutil.get_terminal_size().columns - 50))
            full = width * done // self._total
            left = seconds / done * (self._total - done) if done else 0
            bar = "█" * full + "░" * (width - full)
            text = f"\r  {self._title:<20} {bar} {done:>3}/{self._total}  {left:4.0f} s left"
            print(text, end="", file=self._out, flush=True)
        elif done * 4 // self._total > self._quarter:
            self._quarter = done * 4 // self._total
            print(f"  {self._title}: step {done} of {self._total}, {seconds:.0f} s", file=self._out, flush=True)

    def end(self):
        if self._terminal:
            seconds = time.monotonic() - self._began
            print(f"\r\033[K  {self._title:<20} {self._total} steps, {seconds:.1f} s", file=self._out, flush=True)
