// Optical depth of Lyman-alpha along a line of sight.
#pragma once

#include <vector>

#include "cosmology/spectra/lyman_alpha/row_functions.hpp"

namespace sidestream::lyman_alpha {

/// Cosmological parameters at one moment. Numbers in cgs units.
struct Cosmology {
  double redshift = 0, matter = 0.3, dark_energy = 0.7, hubble = 0.7;
  [[nodiscard]] double expansion() const noexcept;  ///< H(z) / H(0) of a flat universe
  [[nodiscard]] double rate() const noexcept;       ///< H(z) in 1/s
  /// Velocity in cm/s at which the ends of a length of comoving Mpc/h recede from each other.
  [[nodiscard]] double velocity(double length) const noexcept;
  /// Mean optical depth of a mean density of neutral hydrogen in cm^-3: sigma0 lambda0 n / H.
  [[nodiscard]] double mean_depth(double density) const noexcept;
};

/// Optical depths of periodic lines of n cells: equation (8) of Friesen et al., 2016, with the integral over each cell
/// taken exactly. Pixel j, at the velocity v_j = (j + 1/2) dv, has
///    tau_j = sum over cells i and periodic images of A_i (erf((v_j - u_i) / b_i) - erf((v_j - u_i - dv) / b_i)),
/// with u_i = i dv plus the cell's velocity, b_i = sqrt(2 k T / m_p), A_i = sigma0 lambda0 n_i / (2 H). Broadening is
/// only by the Doppler effect. The mean over a line is sigma0 lambda0 <n> / H, whatever the velocities and
/// temperatures. Pixels at which both arguments are beyond 6, and the difference below 1e-17, are left out. Cells
/// broadened over more than two periods absorb evenly everywhere, to exp(-4 pi^2).
class OpticalDepth {
 public:
  /// `length` of the line in comoving Mpc/h.
  OpticalDepth(Index cells, double length, const Cosmology& cosmology);
  /// Densities in cm^-3, temperatures in K, velocities in cm/s, or null for none. A line with a number that is not
  /// finite, or a temperature below 0, gives NaN.
  void run(const double* density, const double* temperature, const double* velocity, double* depth);

 private:
  /// Prepares cells; returns false if a number is not finite.
  bool prepare(const double* density, const double* temperature, const double* velocity);
  void add_chunk(Index first);

  Index n_;
  double amplitude_, step_, doppler_;
  std::vector<double> strength_, inside_, scale_, padded_,
      steps_;  ///< A, the position in its pixel, dv / b; depths with margins
  std::vector<Index> pixel_;
  double everywhere_ = 0;  ///< depth that the widest cells add to each pixel
  Index reach_ = 0;        ///< largest number of pixels that a cell reaches beyond its own
};

}  // namespace sidestream::lyman_alpha
