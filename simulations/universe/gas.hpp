// Gas that follows the matter: the fluctuating Gunn-Peterson approximation.
#pragma once

#include "options.hpp"

namespace universe {

/// Gas properties in cgs units, at one scale factor.
class Gas {
 public:
  Gas(const Options& options, double a);
  /// Temperature in K of gas with `density` times the mean density (Hui and Gnedin 1997): T0 density^(gamma - 1), with
  /// a density of at least 0.01.
  [[nodiscard]] double temperature(double density) const;
  /// Neutral hydrogen atoms in a proper cm^3. Ionisation by the background balances recombination with electrons, all
  /// of hydrogen (recombination 4.2e-13 (T / 1e4 K)^-0.7 cm^3/s: Rauch et al. 1997).
  [[nodiscard]] double neutral(double density) const;
  /// Speed in cm/s from a momentum a^2 dx/dt in cells and 1 / H0.
  [[nodiscard]] double speed(double momentum) const { return momentum * speed_; }

 private:
  double mean_temperature_, slope_, ionisation_;
  double hydrogen_;  ///< mean number of atoms and ions in a proper cm^3
  double speed_;
};

}  // namespace universe
