// Particles displaced from a lattice by a random linear density field.
#pragma once

#include "options.hpp"
#include "particles.hpp"

namespace universe {

/// Collective. A share of the particles, at any positions, at the scale factor `a`. Displacements are Zel'dovich's, or
/// of second order (Scoccimarro 1998, appendix D1). Random numbers belong to waves, and so are the same on any number
/// of ranks and, for long waves, on any lattice.
[[nodiscard]] Particles displaced(const Layout& layout, const Options& options, double a);

}  // namespace universe
