// The field of density that particles make, and their own gravity in it.
#pragma once

#include "clouds.hpp"
#include "options.hpp"

namespace universe {

/// Of each particle, in the order of the particles.
using Accelerations = std::vector<std::array<double, 3>>;

/// What `force` is at the particles' places.
[[nodiscard]] Accelerations accelerations(const Vectors& force, const Particles& particles);

/// Adds `factor` times the accelerations to the momenta.
void kick(const Accelerations& accelerations, double factor, Particles& particles);

class Gravity {
 public:
  Gravity(const Layout& layout, const Options& options);
  /// Collective: the density of particles in units of the mean.
  [[nodiscard]] Field density(const Particles& particles) const;
  /// Collective: the force in the middles of cells, minus the gradient of a potential whose Laplacian is
  /// 1.5 Omega_m (density - 1), by modes. What clouds of the size of a cell blur is made good as far as a mesh can: of
  /// all forces on it that between two particles is in the mean nearest to that of points (Hockney and Eastwood 1981,
  /// equation 8-22).
  [[nodiscard]] Vectors force(const Field& density) const;

  /// Collective: a field spread by what diffuses on the mesh, waves times exp(-k^2 length^2) where they are longer than
  /// cells: nothing becomes negative, and the sum stays. `length` in Mpc/h; 0 changes nothing.
  [[nodiscard]] Field smoothed(Field field, double length) const;
  /// Collective: half the sum over cells of density times the potential of force(), in units of a cell's mean mass, of
  /// cells and of 1 / H0; that of each particle in its own potential is in it. Sums over ranks are rounded as MPI
  /// pleases.
  [[nodiscard]] double potential_energy(const Field& density) const;

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
  std::vector<double> influence_;  ///< by mode; 1 / k^2 of long waves, cells being the unit of length
};

}  // namespace universe
