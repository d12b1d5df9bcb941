// The particles of a rank: those in its cells.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace universe {

struct Particle {
  std::array<double, 3> place;     ///< in cells of the grid, [0, cells) along each axis
  std::array<double, 3> momentum;  ///< a^2 dx/dt, x in cells, t in 1 / H0
  std::int64_t id;                 ///< index of its original lattice site, x fastest
};

using Particles = std::vector<Particle>;

/// The position in [0, cells), modulo the period.
[[nodiscard]] double wrapped(double place, int cells);

/// Collective: sends each particle to the rank that owns its cell. Positions must be wrapped.
void migrate(const Layout& layout, Particles& particles);

/// Collective: all particles by id on rank 0; none on others.
[[nodiscard]] Particles gathered(const Layout& layout, const Particles& particles);

}  // namespace universe
