"""Runs `benchmark_tree_codecs`, then puts the same values through Blosc2 and pcodec: per cent saved, GB/s on one core.

`pip install numpy blosc2 pcodec`, then `python codecs.py build/release/benchmarks/benchmark_tree_codecs [its options]`.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import blosc2
import numpy as np
from pcodec import ChunkConfig, standalone

chunk = 65536
repetitions = 5


def blosc(filter_, codec, level):
    """Byte or bit shuffle with a codec, one thread."""

    parameters = {
        "codec": codec,
        "clevel": level,
        "filters": [filter_],
        "filters_meta": [0],
        "typesize": 8,
        "nthreads": 1,
    }

    def encode(values):
        return blosc2.compress2(values, cparams=parameters)

    def decode(packed):
        return np.frombuffer(blosc2.decompress2(packed, dparams={"nthreads": 1}), np.float64)

    return encode, decode


def pcodec(level):
    config = ChunkConfig(compression_level=level)
    return lambda values: standalone.simple_compress(values, config), standalone.simple_decompress


codecs = {
    "blosc2 shuffle zstd-3": blosc(blosc2.Filter.SHUFFLE, blosc2.Codec.ZSTD, 3),
    "blosc2 bitshuffle zstd-3": blosc(blosc2.Filter.BITSHUFFLE, blosc2.Codec.ZSTD, 3),
    "pcodec 8": pcodec(8),
    "pcodec 4": pcodec(4),
}


def fastest(work):
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return max(min(times), 1e-9)


def measure(values, encode, decode):
    """Bytes, seconds to write, seconds to read."""
    parts = [values[n : n + chunk] for n in range(0, len(values), chunk)]
    packed = [encode(part) for part in parts]
    for part, one in zip(parts, packed, strict=True):
        if not np.array_equal(np.asarray(decode(one)).view(np.uint64), part.view(np.uint64)):
            raise SystemExit("bits were lost")
    writing = fastest(lambda: [encode(part) for part in parts])
    reading = fastest(lambda: [decode(one) for one in packed])
    return sum(len(one) for one in packed), writing, reading


def compare(directory):
    for file in sorted(pathlib.Path(directory).glob("*.f64")):
        values = np.fromfile(file, np.float64)
        print(f"{file.stem}: {values.nbytes / 1e6:.2f} MB")
        for name, (encode, decode) in codecs.items():
            size, writing, reading = measure(values, encode, decode)
            speed = values.nbytes / 1e9
            saved = 100 * (1 - size / values.nbytes)
            print(f"  {name:26} {saved:6.2f} % saved, {speed / writing:5.2f}/{speed / reading:5.2f} GB/s")


def main():
    blosc2.set_nthreads(1)
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.argv[1], "--raw", directory, *sys.argv[2:]], check=True)
        compare(directory)


if __name__ == "__main__":
    main()
