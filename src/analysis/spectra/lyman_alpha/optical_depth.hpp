// The optical depth of Lyman-alpha along a line of sight.
#pragma once

#include <vector>

#include "analysis/spectra/lyman_alpha/row_functions.hpp"

namespace sidestream::lyman_alpha {

/// The universe at one moment, as far as lines of sight need it. Numbers in cgs units.
struct Cosmology {
  double redshift = 0, matter = 0.3, dark_energy = 0.7, hubble = 0.7;
  [[nodiscard]] double expansion() const noexcept;  ///< H(z) / H(0) of a flat universe
  [[nodiscard]] double rate() const noexcept;       ///< H(z) in 1/s
  /// The velocity in cm/s by which the two ends of a length of comoving Mpc/h move apart.
  [[nodiscard]] double velocity(double length) const noexcept;
  /// The mean optical depth of a mean density of neutral hydrogen in cm^-3: sigma0 lambda0 n / H.
  [[nodiscard]] double mean_depth(double density) const noexcept;
};

/// Optical depths of lines of n cells that are periodic: equation (8) of Friesen et al., 2016, with the integral over
/// each cell taken exactly. Pixel j, at the velocity v_j = (j + 1/2) dv, has
///   tau_j = sum over cells i and periodic images of A_i (erf((v_j - u_i) / b_i) - erf((v_j - u_i - dv) / b_i)),
/// u_i = i dv plus the cell's velocity, b_i = sqrt(2 k T / m_p), A_i = sigma0 lambda0 n_i / (2 H): Doppler broadening
/// alone. So the mean over a line is sigma0 lambda0 <n> / H, whatever velocities and temperatures are. Pixels at which
/// both arguments are beyond 6, and the difference below 1e-17, are left out. What is wider than two periods absorbs
/// evenly everywhere, to exp(-4 pi^2).
class OpticalDepth {
 public:
  /// `length` of the line in comoving Mpc/h.
  OpticalDepth(Index cells, double length, const Cosmology& cosmology);
  /// Densities in cm^-3, temperatures in K, velocities in cm/s, or null for none. A line with a number that is none, or
  /// a temperature below 0, is NaN.
  void run(const double* density, const double* temperature, const double* velocity, double* depth);

 private:
  /// Prepares cells; false if one has a number that is none.
  bool prepare(const double* density, const double* temperature, const double* velocity);
  void add_chunk(Index first);

  Index n_;
  double amplitude_, step_, doppler_;
  std::vector<double> strength_, inside_, scale_, padded_,
      steps_;  ///< A, the place in its pixel, dv / b; depths with margins
  std::vector<Index> pixel_;
  double everywhere_ = 0;  ///< the depth that the widest cells give to each pixel
  Index reach_ = 0;        ///< pixels beyond the cell's own, the most of all cells
};

}  // namespace sidestream::lyman_alpha
