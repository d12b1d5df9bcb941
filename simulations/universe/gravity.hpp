// The field of density that particles make, and their own gravity in it.
#pragma once

#include "clouds.hpp"
#include "options.hpp"

namespace universe {

/// Along each axis.
using Force = std::vector<HaloField<double>>;

/// Adds `factor` times the force at their places to the momenta.
void kick(const Force& force, double factor, Particles& particles);

class Gravity {
 public:
  Gravity(const Layout& layout, const Options& options);
  /// Collective: the density of particles in units of the mean.
  [[nodiscard]] Field density(const Particles& particles) const;
  /// Collective: the force in the middles of cells, minus the gradient of a potential whose Laplacian is
  /// 1.5 Omega_m (density - 1), by modes (Hockney and Eastwood 1981).
  [[nodiscard]] Force force(const Field& density) const;

  /// One bin of the spectrum of density, [n - 1/2, n + 1/2) times the smallest wave number.
  struct Bin {
    double k = 0;       ///< mean, h/Mpc
    double power = 0;   ///< mean, (Mpc/h)^3, without the window of clouds; nothing is taken off for shot noise
    double linear = 0;  ///< mean of the linear spectrum today over the same modes
    double modes = 0;
  };
  /// Collective; sums over ranks are rounded as MPI pleases.
  [[nodiscard]] std::vector<Bin> spectrum(const Field& density) const;

 private:
  const Layout& layout_;
  const Options& options_;
  Fourier fourier_;
};

}  // namespace universe
