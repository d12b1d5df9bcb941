// Particles displaced from a lattice, as a random linear field of density says.
#pragma once

#include "options.hpp"
#include "particles.hpp"

namespace universe {

/// Collective. A share of the particles, wherever they are, at the scale factor `a`: Zel'dovich's displacements, or of
/// second order (Scoccimarro 1998, appendix D1). The random numbers are those of waves, and so the same on any number
/// of ranks, and for long waves the same on any lattice.
[[nodiscard]] Particles displaced(const Layout& layout, const Options& options, double a);

}  // namespace universe
