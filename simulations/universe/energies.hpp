// Energies and momenta of all matter over time.
#pragma once

#include <string>
#include <vector>

#include "state.hpp"

namespace universe {

/// Energies at one time, in units of a cell's mean mass, of cells and of 1 / H0. Peculiar speeds are proper, v = a
/// dx/dt with x in cells. Without other forces d(a (kinetic + potential)) = -kinetic da (Layzer 1963, Irvine 1961).
struct Energies {
  double a = 0;
  double kinetic = 0;
  double potential = 0;              ///< of the density in its own potential, equation 7 of the Nyx paper
  std::array<double, 3> momentum{};  ///< sum of mass a^2 dx/dt
  double speeds = 0;                 ///< sum of mass |a^2 dx/dt|, the scale for the momentum
};

/// Collective. MPI rounds sums over ranks in any order.
[[nodiscard]] Energies energies(const State& state);

/// Collective: rank 0 writes a table. Throws UserError on all ranks alike.
void write_energies(const Layout& layout, const std::string& file, const std::vector<Energies>& all);

}  // namespace universe
