// Expansion of a flat homogeneous universe of matter and a cosmological constant, and growth of small perturbations.
#pragma once

namespace universe {

struct Cosmology {
  double matter = 0.3;    ///< density of all matter today over the critical one
  double baryons = 0.05;  ///< density of the baryons in it
  double hubble = 0.7;    ///< H0 in 100 km/s/Mpc
  double tilt = 0.96;     ///< index of the primordial spectrum
  double sigma8 = 0.8;    ///< rms of the linear density in balls of 8 Mpc/h, today, with cold dark matter
  double warm = 0;        ///< mass of a particle of warm dark matter, a thermal relic, in keV; 0: it is cold

  /// H(a) / H0.
  [[nodiscard]] double expansion(double a) const;
  /// Omega_m(a).
  [[nodiscard]] double matter_at(double a) const;
  /// D(a) of the growing mode, 1 today.
  [[nodiscard]] double growth(double a) const;
  /// d ln D / d ln a.
  [[nodiscard]] double growth_rate(double a) const;
  /// The same for the second order (Bouchet et al. 1995): D2(a) with D2 = -3/7 D^2 Omega_m^(-1/143), and its rate.
  [[nodiscard]] double second_growth(double a) const;
  [[nodiscard]] double second_growth_rate(double a) const;
};

/// Integrals over a step from scale factor `from` to `to`, in units of 1 / H0. They make a leapfrog symplectic in a
/// comoving box (Quinn et al. 1997). Positions move by `drift` times the momentum a^2 dx/dt. Momenta change by `kick`
/// times the force of the potential from a Poisson equation without 1/a.
[[nodiscard]] double drift(const Cosmology& cosmology, double from, double to);
[[nodiscard]] double kick(const Cosmology& cosmology, double from, double to);

}  // namespace universe
