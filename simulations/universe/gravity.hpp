// The density field of the particles, and their own gravity in it.
#pragma once

#include "clouds.hpp"
#include "options.hpp"

namespace universe {

/// Accelerations in the order of the particles.
using Accelerations = std::vector<std::array<double, 3>>;

/// Interpolates `force` at the particles' positions.
[[nodiscard]] Accelerations accelerations(const Vectors& force, const Particles& particles);

/// Adds `factor` times the accelerations to the momenta.
void kick(const Accelerations& accelerations, double factor, Particles& particles);

class Gravity {
 public:
  Gravity(const Layout& layout, const Options& options);
  /// Collective: the density of particles in units of the mean.
  [[nodiscard]] Field density(const Particles& particles) const;
  /// Collective: the force in the centres of cells, computed by modes: minus the gradient of a potential whose
  /// Laplacian is 1.5 Omega_m (density - 1). The smoothing by cell-sized clouds is corrected as far as a mesh can. Of
  /// all forces on the mesh, the mean error to the force between point particles is minimal (Hockney and Eastwood 1981,
  /// equation 8-22).
  [[nodiscard]] Vectors force(const Field& density) const;

  /// Collective: smooths a field by diffusion on the mesh. Waves longer than cells are multiplied by exp(-k^2
  /// length^2); nothing becomes negative, and the sum is conserved. `length` in Mpc/h; 0 changes nothing.
  [[nodiscard]] Field smoothed(Field field, double length) const;
  /// Collective: half the sum over cells of density times the potential of force(), in units of a cell's mean mass, of
  /// cells and of 1 / H0. Includes the energy of each particle in its own potential. MPI rounds sums over ranks in any
  /// order.
  [[nodiscard]] double potential_energy(const Field& density) const;

  /// One bin of the density spectrum, [n - 1/2, n + 1/2) times the smallest wave number.
  struct Bin {
    double k = 0;       ///< mean, h/Mpc
    double power = 0;   ///< mean, (Mpc/h)^3, corrected for the clouds' window but not for shot noise
    double linear = 0;  ///< mean of the linear spectrum today over the same modes
    double modes = 0;
  };
  /// Collective; MPI rounds sums over ranks in any order.
  [[nodiscard]] std::vector<Bin> spectrum(const Field& density) const;

 private:
  const Layout& layout_;
  const Options& options_;
  Fourier fourier_;
  std::vector<double> influence_;  ///< by mode; 1 / k^2 for long waves, in units of cells
};

}  // namespace universe
