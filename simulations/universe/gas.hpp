// Gas that follows the matter: the fluctuating Gunn-Peterson approximation.
#pragma once

#include "options.hpp"

namespace universe {

/// In cgs units, at one scale factor.
class Gas {
 public:
  Gas(const Options& options, double a);
  /// K, of gas whose density is `density` times the mean (Hui and Gnedin 1997): T0 density^(gamma - 1), as of 0.01
  /// where it is less.
  [[nodiscard]] double temperature(double density) const;
  /// Neutral hydrogen atoms in a proper cm^3: where the background ionises as many as recombine with electrons, all of
  /// hydrogen (recombination 4.2e-13 (T / 1e4 K)^-0.7 cm^3/s: Rauch et al. 1997).
  [[nodiscard]] double neutral(double density) const;
  /// cm/s, of a momentum a^2 dx/dt in cells and 1 / H0.
  [[nodiscard]] double speed(double momentum) const { return momentum * speed_; }

 private:
  double mean_temperature_, slope_, ionisation_;
  double hydrogen_;  ///< mean, atoms and ions in a proper cm^3
  double speed_;
};

}  // namespace universe
