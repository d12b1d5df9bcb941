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
  std::int64_t id;                 ///< of its place in the lattice that it came from, x fastest
};

using Particles = std::vector<Particle>;

/// A place in [0, cells), whatever period it was in.
[[nodiscard]] double wrapped(double place, int cells);

/// Collective: each particle goes to the rank that has its cell. Places must be wrapped.
void migrate(const Layout& layout, Particles& particles);

/// Collective: all particles by id, on rank 0 (others: none).
[[nodiscard]] Particles gathered(const Layout& layout, const Particles& particles);

}  // namespace universe
