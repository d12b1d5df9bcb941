"""scipy.fft.rfftn of the same size before and after benchmark_spectra: spectra_scipy.py PROGRAM [CELLS]."""

import subprocess
import sys
import time

import numpy as np
import scipy.fft


def once(field: np.ndarray) -> float:
    start = time.process_time()
    scipy.fft.rfftn(field, workers=1)
    return time.process_time() - start


def main() -> None:
    cells = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    field = np.random.default_rng(1).random((cells, cells, cells))
    times = [once(field) for _ in range(3)]
    text = subprocess.run([sys.argv[1], str(cells)], check=True, capture_output=True, text=True).stdout
    times += [once(field) for _ in range(3)]
    print(text, end="")
    spectrum = next(float(line.split()[-2]) for line in text.splitlines() if line.startswith("power_spectrum, shells"))
    median = 1e3 * float(np.median(times))
    print(f"scipy.fft.rfftn {median:.1f} ms; power spectrum by it: {spectrum / median:.2f}")


if __name__ == "__main__":
    main()
