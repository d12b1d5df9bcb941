#!/usr/bin/env python3
"""Halos of Sidestream and of SciPy's `label`, on the same field in one run.

halos_scipy.py PROGRAM [CELLS along each axis] [REPETITIONS]; PROGRAM: benchmark_halos. SciPy knows faces, edges and
corners as neighbours and no periodic mesh; it only labels, sums and finds maxima. The ratio is printed last.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import ndimage


def label_halos(field: np.ndarray) -> int:
    """Finds components of cells that share a face, with their maxima, masses and numbers of cells."""
    mean = field.mean()
    labels, count = ndimage.label(field >= 8 * mean)
    index = np.arange(1, count + 1)
    maxima = ndimage.maximum(field, labels, index)
    ndimage.sum_labels(field, labels, index)
    np.bincount(labels.ravel())
    return int(np.count_nonzero(maxima >= 20 * mean))


def main() -> int:
    cells = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    repetitions = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "field"
        output = subprocess.run(
            [sys.argv[1], str(cells), str(repetitions), str(file)], check=True, capture_output=True, text=True
        ).stdout
        print(output, end="")
        field = np.fromfile(file).reshape(cells, cells, cells)
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        found = label_halos(field)
        times.append(time.process_time() - start)
    speed = cells**3 / sorted(times)[len(times) // 2] / 1e6
    print(f"{'SciPy, label':<22} {speed:8.2f} Mcells/s  {found} halos (not periodic)")
    ours = float(re.search(r"halos, 8/20 means\s+([0-9.]+) Mcells/s", output)[1])
    print(f"halos / SciPy: {ours / speed:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
