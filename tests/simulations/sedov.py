"""Sedov's blast in a gas of density 1 without pressure, in closed form.

J. Kamm, F. Timmes, "On efficient generation of numerically robust Sedov solutions", LA-UR-07-2849, 2007: equations of
its sections 2 and 3 for the spherical case and uniform density. The energy of the blast is 1.
"""

import numpy as np


class Sedov:
    def __init__(self, gamma):
        self.gamma, j = gamma, 3
        n = j + 2
        a2 = -(gamma - 1) / (2 * (gamma - 1) + j)
        a1 = n * gamma / (2 + j * (gamma - 1)) * (2 * j * (2 - gamma) / (gamma * n**2) - a2)
        a3, a4, a5 = j / (2 * (gamma - 1) + j), n / (2 - gamma) * a1, -2 / (2 - gamma)
        # Points are dense where the profile is steep: near the centre V approaches its minimum as a power of the
        # radius.
        least, most = 2 / (n * gamma), 4 / (n * (gamma + 1))
        v = least + (most - least) * np.linspace(1e-4, 1, 20001) ** 8
        b = (gamma + 1) / (gamma - 1)
        x1 = n * (gamma + 1) / 4 * v
        x2 = b * (n * gamma / 2 * v - 1)
        x3 = n * (gamma + 1) / (n * (gamma + 1) - 2 * (2 + j * (gamma - 1))) * (1 - (2 + j * (gamma - 1)) / 2 * v)
        x4 = b * (1 - n / 2 * v)
        self.place = x1 ** (-2 / n) * x2**-a2 * x3**-a1
        self.density = x2**a3 * x3**a4 * x4**a5
        self.speed = x1 * self.place
        self.pressure = x1 ** (2 * j / n) * x3 ** (a4 - 2 * a1) * x4 ** (1 + a5)
        # The energy in a sphere of radius 1 whose shock has a speed of 1.
        behind = 2 / (gamma + 1)
        energy = 0.5 * b * behind**2 * self.density * self.speed**2 + behind / (gamma - 1) * self.pressure
        self.xi = (4 * np.pi * np.trapezoid(energy * self.place**2, self.place) * 4 / 25) ** -0.2

    def radius(self, time):
        return self.xi * time**0.4

    def at(self, radius, time):
        """Density, radial speed and pressure."""
        edge = self.radius(time)
        speed = 0.4 * edge / time
        inside, place = radius < edge, radius / edge
        behind = 2 / (self.gamma + 1)
        density = (self.gamma + 1) / (self.gamma - 1) * np.interp(place, self.place, self.density, left=0)
        return (
            np.where(inside, density, 1),
            np.where(inside, behind * speed * np.interp(place, self.place, self.speed), 0),
            np.where(inside, behind * speed**2 * np.interp(place, self.place, self.pressure), 0),
        )
