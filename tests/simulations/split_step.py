"""The Gross-Pitaevskii equation i d(psi)/dt = -Laplace psi + a (g |psi|^2 - 1) psi by Fourier transforms, to compare
with, and what is measured on wave functions. Arrays are [z, y, x] or [y, x], cells have length 1."""

import numpy as np


def wave_numbers(shape):
    """k along each axis, that of the last one first."""
    grids = np.meshgrid(*(2 * np.pi * np.fft.fftfreq(n) for n in shape), indexing="ij")
    return grids[::-1]


def evolved(psi, a, g, time, step):
    """Strang's splitting: half of the potential, all of the Laplacian, half of the potential. Exact in space."""
    turn = np.exp(-1j * step * sum(k**2 for k in wave_numbers(psi.shape)))

    def kicked(psi, step):
        return psi * np.exp(-1j * step * a * (g * np.abs(psi) ** 2 - 1))

    psi = kicked(psi, step / 2)
    steps = round(time / step)
    for n in range(steps):
        psi = np.fft.ifftn(np.fft.fftn(psi) * turn)
        psi = kicked(psi, step if n + 1 < steps else step / 2)
    return psi


def energies(psi, a, g):
    """Kinetic and quantum energy, exact in space, and interaction."""
    modes = np.abs(np.fft.fftn(psi)) ** 2 / psi.size
    gradient = (modes * sum(k**2 for k in wave_numbers(psi.shape))).sum()
    return gradient, (a * g / 2 * (np.abs(psi) ** 2 - 1 / g) ** 2).sum()


def windings(psi):
    """Number of turns of the phase round each square of four cells in planes of the last two axes; at [.., j, i] that
    of the cells j, j + 1 and i, i + 1."""

    def turn(start, end):
        return np.angle(end * start.conj())

    right, up = np.roll(psi, -1, -1), np.roll(psi, -1, -2)
    both = np.roll(right, -1, -2)
    around = turn(psi, right) + turn(right, both) + turn(both, up) + turn(up, psi)
    return np.rint(around / (2 * np.pi)).astype(int)
