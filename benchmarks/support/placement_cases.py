"""The placements and splits that benchmarks/placements compares: one line each.

CS and CT are the Nyx paper's: with CS the simulation has the same ranks in every case and servers come on top; with CT
the number of all ranks is the same, and what serves does not simulate.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    group: str  # CS or CT
    name: str  # as shown; unique in its group
    clients: int
    others: int  # servers and forwarders
    placement: str
    beside: tuple[str, ...] = ()  # command of processes outside the simulation's job; {sidestream}: the tool
    outside: int = 0  # how many of the others those are

    @property
    def key(self):
        text = f"{self.group} {self.name} {self.clients}+{self.others}"
        return "".join(c if c.isalnum() or c in "+" else "-" for c in text)

    @property
    def split(self):
        return f"{self.clients}+{self.others}"

    @property
    def resources(self):
        return self.clients + self.others

    @property
    def ranks(self):
        return self.resources - self.outside


ROOM = "buffer: 256 MiB"
STREAM = "stream: {directory: streams, engine: files}"
SERVE, ENDPOINT = (("{sidestream}", command, "case.yaml") for command in ("serve", "endpoint"))
ON_CORE_1 = ("taskset", "-c", "1")
# One simulating rank, which keeps a core of its own: what serves is bound to the other one.
CS = [
    Case("CS", "off", 1, 0, "off"),
    Case("CS", "inline", 1, 0, "inline"),
    Case("CS", "cores", 1, 1, f"{{mode: cores, bind: [1], {ROOM}}}"),
    Case("CS", "cores", 1, 2, f"{{mode: cores, per_node: 2, bind: [1], {ROOM}}}"),
    Case("CS", "nodes", 1, 1, f"{{mode: nodes, bind: [1], {ROOM}}}"),
    Case("CS", "nodes", 1, 2, f"{{mode: nodes, servers: 2, bind: [1], {ROOM}}}"),
    Case("CS", "nodes, blocks", 1, 2, f"{{mode: nodes, forward: blocks, bind: [1], {ROOM}}}"),
    Case("CS", "nodes, partials", 1, 2, f"{{mode: nodes, forward: partials, bind: [1], {ROOM}}}"),
    Case("CS", "sidecar", 1, 1, f"{{mode: sidecar, {ROOM}}}", (*ON_CORE_1, *SERVE), 1),
    Case("CS", "job", 1, 2, f"{{mode: job, bind: [1], {ROOM}, {STREAM}}}", (*ON_CORE_1, *ENDPOINT), 1),
]
# Four ranks, two on each core of a machine with two.
CT = [
    Case("CT", "off", 4, 0, "off"),
    Case("CT", "inline", 4, 0, "inline"),
    Case("CT", "cores", 3, 1, f"{{mode: cores, {ROOM}}}"),
    Case("CT", "cores", 2, 2, f"{{mode: cores, per_node: 2, {ROOM}}}"),
    Case("CT", "nodes", 3, 1, f"{{mode: nodes, {ROOM}}}"),
    Case("CT", "nodes", 2, 2, f"{{mode: nodes, servers: 2, {ROOM}}}"),
    Case("CT", "nodes", 1, 3, f"{{mode: nodes, servers: 3, {ROOM}}}"),
    Case("CT", "nodes, blocks", 2, 2, f"{{mode: nodes, forward: blocks, {ROOM}}}"),
    Case("CT", "nodes, partials", 2, 2, f"{{mode: nodes, forward: partials, {ROOM}}}"),
    Case("CT", "sidecar", 3, 1, f"{{mode: sidecar, {ROOM}}}", SERVE, 1),
    Case("CT", "job", 2, 2, f"{{mode: job, {ROOM}, {STREAM}}}", ENDPOINT, 1),
]
# Without analyses and with fewer simulating ranks: what CT's splits are compared with, client by client.
REFERENCES = [Case("off", "off", clients, 0, "off") for clients in (2, 3)]

CASES = [*CS, *CT, *REFERENCES]
