"""Output directories as a run makes them, step by step, for tests of the page."""

import json
import os
import threading
import time
from pathlib import Path

CHUNK = 1 << 18
# A picture of one pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738550000"
    "000049454e44ae426082"
)


def put(path, content):
    """Makes a file appear whole, as a run does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}.part")
    hidden.write_bytes(content if isinstance(content, bytes) else content.encode())
    hidden.rename(path)


def add_frame(root, number, name="frame", picture=PNG):
    """A picture, and its entry in the index over time."""
    put(root / f"{name}-{number:05}.png", picture)
    index = root / f"{name}.png.series"
    listed = json.loads(index.read_text())["files"] if index.exists() else []
    listed.append({"name": f"{name}-{number:05}.png", "time": number / 10, "cycle": number, "iteration": number})
    put(index, json.dumps({"file-series-version": "1.0", "files": listed}))


def add_rows(path, first, last, header="iteration,cycle,time,component,mean"):
    """Rows of a table, written as a run writes them, with the mark of what is whole."""
    text = "" if path.exists() else header + "\n"
    text += "".join(f"{n},{n},{n / 10},0,{n * n}\n" for n in range(first, last))
    with path.open("a") as file:
        file.write(text)
    (path.parent / f".{path.name}.committed").write_text(f"{path.stat().st_size:020}\n")


def record(root, **more):
    """The record of a run."""
    lines = ["sidestream: 0.1.0", "placement: cores", "clients: 2", "servers: 1", "nodes: 1"]
    put(root / "run.yaml", "\n".join(lines + [f"{key}: {json.dumps(value)}" for key, value in more.items()]) + "\n")


def spool(path, chunks):
    """A part file with these texts as chunks; None is a hole."""
    with path.open("wb") as file:
        for number, text in enumerate(chunks):
            if text is not None:
                file.seek(number * CHUNK)
                file.write(text.encode())


def timings(iterations, servers=1):
    """Rows of `timings.csv`, without the header, of a client and servers."""
    rows = []
    for n in iterations:
        rows.append(f"0,client,{n},{n:.3f},0.500,0.100,0.200,0.100,,")
        for server in range(1, servers + 1):
            rows.append(f"{server},server,{n},{n + 1:.3f},0.1,,,,render,0.400")
            rows.append(f"{server},server,{n},{n + 1.4:.3f},,,,,idle,0.600")
    return "\n".join(rows) + "\n"


class StandIn(threading.Thread):
    """Plays the session's end of both mailboxes, as the first server does once an iteration."""

    def __init__(self, root, after=0.0):
        super().__init__(daemon=True)
        self.root, self.after = Path(root), after
        self.values = {"stop": "0", "interval": "0.5"}
        self.running, self.taken = [], []
        self.iteration = 0
        self.ends = threading.Event()
        for name in (".sidestream-steering", ".sidestream-requests"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        self.keep_record()

    def keep_record(self):
        about = [f"stop = {self.values.get('stop', 0)} (integer, from 0, to 1)"]
        about.append(f"interval = {self.values['interval']} (real, from 0.01)")
        put(self.root / ".sidestream-steering" / "parameters", "\n".join(about) + "\n")
        variable = {"mesh": "grid", "centering": "cell"}
        known = {
            "variables": [
                {"name": "temperature", "components": 1, **variable},
                {"name": "velocity", "components": 3, **variable},
            ],
            "meshes": [{"name": "grid", "type": "uniform", "dimensions": 3}],
            "analyses": ["histogram", "projection", "render", "statistics"],
            "running": self.running,
        }
        put(self.root / ".sidestream-requests" / "record", json.dumps(known))

    def run(self):
        while not self.ends.wait(0.02):
            self.iteration += 1
            for name, answer in ((".sidestream-steering", self.set), (".sidestream-requests", self.question)):
                for path in sorted((self.root / name).glob("request-*")):
                    time.sleep(self.after)
                    try:
                        first, second, _ = path.read_text().split("\n")
                        path.unlink()
                    except OSError:
                        continue  # withdrawn
                    self.taken.append((first, second))
                    put(path.with_name(path.name.replace("request-", "answer-")), answer(first, second) + "\n")

    def set(self, name, value):
        if name not in self.values:
            return f"refused: the parameter '{name}' is unknown, expected one of stop, interval"
        self.values[name] = value
        self.keep_record()
        return f"accepted: '{name}' is {value} from the end of iteration {self.iteration} on"

    def question(self, what, entry):
        if what == "end":
            self.running = [one for one in self.running if one["name"] != entry]
            self.keep_record()
            return f"accepted: {entry} has ended"
        kind, options = next(iter(json.loads(entry).items()))
        if "every" in options:
            self.running.append({"name": f"asked-{len(self.running) + 1}", "analysis": entry})
            self.keep_record()
            return f"accepted: {self.running[-1]['name']} runs from iteration {self.iteration} on"
        if kind == "render":
            put(self.root / options["file"], PNG)
        return f"delivered: iteration {self.iteration}"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.join(5)


def replaced_time(path, seconds):
    """Sets the time of a file or a folder back."""
    now = time.time() - seconds
    os.utime(path, (now, now))
