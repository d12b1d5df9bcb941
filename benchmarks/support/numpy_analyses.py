"""The peer of benchmarks/analyse_files: the same analyses with h5py, NumPy and SciPy, in their own process.

Usage: numpy_analyses.py CASE FILE RESULT    prints the seconds that it took without imports; RESULT gets what was found
"""

import sys
import time

import h5py
import numpy as np


def read(data):
    return data[...]


def statistics(data):
    values = data[...]
    wide = values.astype(np.float64)
    return np.array([values.min(), values.max(), wide.sum(), wide.mean(), wide.var()])


def histogram(data):
    return np.histogram(data[...], bins=100, range=(0, 10))[0]


def middle_slice(data):
    n = data.shape[0] // 2
    return data[n - 1 : n + 1].astype(np.float64).mean(axis=0)


def projection(data):
    return data[...].sum(axis=0, dtype=np.float64) / data.shape[0]


def resample(data):
    return data[...][2::4, 2::4, 2::4].astype(np.float64)


def power_spectrum(data):
    import scipy.fft

    values = data[...].astype(np.float64)
    n = values.shape[0]
    power = np.abs(scipy.fft.rfftn(values / values.mean() - 1, workers=1)) ** 2
    whole, half = np.fft.fftfreq(n, 1 / n), np.arange(n // 2 + 1)
    size = np.sqrt(whole[:, None, None] ** 2 + whole[None, :, None] ** 2 + half[None, None, :] ** 2)
    shell = np.rint(size).astype(np.int64).ravel()
    twice = np.where((half == 0) | (half * 2 == n), 1, 2) * np.ones_like(size)
    return np.bincount(shell, (power * twice).ravel()) / np.bincount(shell, twice.ravel())


CASES = {
    "read": read,
    "statistics": statistics,
    "histogram": histogram,
    "slice": middle_slice,
    "projection": projection,
    "resample": resample,
    "power_spectrum": power_spectrum,
}


def main():
    case, file, result = sys.argv[1:]
    start = time.perf_counter()
    with h5py.File(file) as source:
        found = CASES[case](source["rho"])
    print(time.perf_counter() - start)
    if case != "read":
        np.save(result, found)


if __name__ == "__main__":
    main()
