// The linear matter spectrum.
#pragma once

#include "cosmology.hpp"

namespace universe {

/// P(k) today, after Eisenstein and Hu (1998), their fit with baryons, equations 2 to 24, for photons of 2.7255 K.
/// Warm dark matter suppresses it as Viel et al. (2005) have it, equations 6 and 7; the amplitude is that of cold
/// matter, so that large scales are the same.
class Spectrum {
 public:
  explicit Spectrum(const Cosmology& cosmology);
  /// P in (Mpc/h)^3, for k > 0 in h/Mpc; 0 for k = 0.
  [[nodiscard]] double operator()(double k) const;
  /// The transfer function, 1 for k towards 0; warm dark matter takes small scales from it.
  [[nodiscard]] double transfer(double k) const;
  /// rms of the density in balls of that radius in Mpc/h.
  [[nodiscard]] double sigma(double radius) const;

 private:
  [[nodiscard]] double dark_matter(double k) const;
  [[nodiscard]] double baryons(double k) const;
  [[nodiscard]] double warm(double k) const;

  Cosmology cosmology_;
  double amplitude_ = 1;
  double equality_ = 0;  ///< wave number at matter-radiation equality, 1/Mpc, as all lengths below
  double horizon_ = 0;   ///< sound horizon when baryons were released
  double silk_ = 0;
  double free_streaming_ = 0;  ///< length alpha of warm dark matter, Mpc/h; 0: it is cold
  double alpha_c_ = 0, beta_c_ = 0, alpha_b_ = 0, beta_b_ = 0, node_ = 0;
};

}  // namespace universe
