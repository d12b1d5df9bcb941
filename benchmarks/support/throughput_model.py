"""The model of benchmarks/effective_throughput: seconds that an output or a picture takes, on any number of ranks.

Nothing in it is fitted. One rank gives the costs of computing and of this machine's disk. The costs of a large
machine's network and disks are stated (`Network`, `LARGE`).
"""

from dataclasses import dataclass
from math import ceil, log2

VALUE_BYTES = 24  # three float64 a cell
SAMPLE_BYTES = 8
RADIX = 8
FILLED = 0.6  # share of its brick's pixels on which a rank draws, as in benchmarks/compositing.cpp
CALLS_OF_ROUND = 5  # collective calls of a round of compositing


@dataclass(frozen=True)
class Network:
    """Seconds of a hop of a collective call, of a message, and of a byte."""

    hop: float = 1.5e-6
    message: float = 2e-6
    byte: float = 1e-10


@dataclass(frozen=True)
class Disk:
    """A shared file system. `creates`: files that it makes in a second, for all ranks together. `one_file`: the share
    of the bandwidth that a single file reaches. `writers`: files among which ranks that aggregate divide."""

    bandwidth: float  # bytes per second
    creates: float
    one_file: float = 1.0
    writers: int = 1


# 696 disks of 100 MB/s, of which a file has at most 160 (Lustre before 2.2); one metadata server.
LARGE = Disk(bandwidth=696e8, creates=1e4, one_file=160 / 696, writers=696)


@dataclass(frozen=True)
class Costs:
    """Measured on one rank: seconds for a cell, a pixel, and the bytes and number of triangles."""

    extract_cell: float
    render_cell: float
    pixel: float
    triangles: float  # of a surface, over the square of the cells along an axis
    triangle_bytes: float


@dataclass(frozen=True)
class Job:
    """A run whose ranks have as many cells each. `cores`: processors that the ranks share."""

    ranks: int
    cells: int  # along an axis, of the whole grid
    cores: int

    @property
    def bytes(self):
        return VALUE_BYTES * self.cells**3

    @property
    def turns(self):
        """Ranks that take turns on a processor."""
        return max(1.0, self.ranks / self.cores)


def triangles(job, costs):
    """The refined grid shows the same surfaces, so that triangles grow with the square of its cells along an axis."""
    return costs.triangles * job.cells**2


def merging(ranks, pixels):
    """Rounds, messages and bytes of the busiest rank when pictures are merged by radix 8 (benchmarks/compositing.cpp).
    Each rank draws on its brick of a cube."""
    held, divided, group = FILLED * pixels / _columns(ranks), 1, ranks
    rounds = messages = moved = 0
    while group > 1:
        parts = min(RADIX, group)
        rounds, messages = rounds + 1, messages + parts - 1
        moved += held * (parts - 1) / parts * SAMPLE_BYTES
        divided *= parts
        held = min(held, pixels / divided)
        group = ceil(group / parts)
    return rounds, messages, moved


def _columns(ranks):
    """Bricks that do not hide one another: ranks over the least of three factors that are as equal as can be."""
    best = None
    for a in range(1, int(ranks ** (1 / 3) + 1e-9) + 1):
        if ranks % a == 0:
            b = max(n for n in range(1, int((ranks // a) ** 0.5 + 1e-9) + 1) if (ranks // a) % n == 0)
            best = a if b >= a else best
    return ranks // (best or 1)


def compositing(ranks, pixels, network):
    """Seconds until rank 0 has the merged picture."""
    if ranks == 1:
        return 0.0
    rounds, messages, moved = merging(ranks, pixels)
    hops = log2(ranks) * network.hop
    rows = min(ranks, pixels**0.5) * network.message + 4 * pixels * network.byte
    return rounds * CALLS_OF_ROUND * hops + messages * network.message + moved * network.byte + hops + rows


def extract(job, costs, disk):
    """Each rank contours its block and writes its triangles to a file of its own; one file lists them."""
    own = costs.extract_cell * job.cells**3 / job.ranks * job.turns
    return own + (job.ranks + 1) / disk.creates + triangles(job, costs) * costs.triangle_bytes / disk.bandwidth


def render(job, costs, disk, network, pixels):
    """Each rank contours and draws its block; pictures are merged; one rank writes one."""
    own = costs.render_cell * job.cells**3 / job.ranks * job.turns
    return own + costs.pixel * pixels + compositing(job.ranks, pixels, network) + 1 / disk.creates


def each(job, disk):
    """A file from each rank."""
    return job.ranks / disk.creates + job.bytes / disk.bandwidth


def aggregated(job, disk, network):
    """Some ranks collect the fields of others, and write a file each."""
    writers = min(disk.writers, job.ranks)
    collected = job.bytes * network.byte / writers if job.ranks > writers else 0.0
    return collected + writers / disk.creates + job.bytes / disk.bandwidth


def shared(job, disk):
    """All ranks write into one file."""
    return 1 / disk.creates + job.bytes / (disk.bandwidth * disk.one_file)


def outputs(job, disk, network):
    """Seconds of each way to write the fields."""
    return {
        "a file a rank": each(job, disk),
        "aggregated": aggregated(job, disk, network),
        "one file": shared(job, disk),
    }


# Ranks and cells along an axis of the paper's jobs. It drew none on Hero.
PAPER = {
    "Small": (1728, 1200),
    "Medium": (4096, 2048),
    "Large": (10240, 3040),
    "Huge": (46656, 4860),
    "Giant": (92160, 6000),
    "Hero": (150000, 7200),
}


@dataclass(frozen=True)
class Predicted:
    """Effective throughputs of a job in bytes per second. `best`: the fastest way to write."""

    name: str
    ranks: int
    best: str
    written: float
    extract: float
    render: float


def predict(costs, disk=LARGE, network=None, pixels=1024 * 768):
    """The paper's jobs on a large machine, each rank on a core as fast as one here."""
    network = network or Network()
    found = []
    for name, (ranks, cells) in PAPER.items():
        job = Job(ranks, cells, ranks)
        ways = outputs(job, disk, network)
        best = min(ways, key=ways.get)
        times = ways[best], extract(job, costs, disk), render(job, costs, disk, network, pixels)
        found.append(Predicted(name, ranks, best, *(job.bytes / seconds for seconds in times)))
    return found


def equal_creates(costs, name="Giant", disk=LARGE):
    """Files per second at which an extract is as fast as the fastest output, if only extracts make so many files."""
    job = Job(*PAPER[name], PAPER[name][0])
    left = min(outputs(job, disk, Network()).values()) - extract(job, costs, Disk(disk.bandwidth, float("inf")))
    return (job.ranks + 1) / left if left > 0 else float("inf")
