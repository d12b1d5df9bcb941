// Particles of one domain of RAMSES.
#pragma once

#include <string>
#include <vector>

#include "importers/ramses/output.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream::ramses {

/// What files `part` have: the same in all domains.
struct ParticleColumns {
  std::vector<Column> columns;
  std::vector<Type> types;  ///< of columns
  std::vector<JoinedColumns> variables;
  std::string remark;  ///< where names are not those of a descriptor; empty: they are
};

/// From the descriptor, or where there is none from what the first domains with particles have: positions and
/// velocities (a number for each dimension), masses, identities, levels, and of runs with stars birth times and
/// metallicities. Throws Error(file); without any particles or descriptor there are no columns.
[[nodiscard]] ParticleColumns particle_columns(const Output& output);

/// The particles of a domain.
struct Particles {
  std::uint64_t count = 0;
  std::vector<std::vector<std::byte>> arrays;  ///< of `columns.variables`, components next to each other
};
[[nodiscard]] Particles read_particles(const Output& output, const ParticleColumns& columns, int domain);

/// The first component variable: where particles are. Throws Error(file) if `columns` have none.
[[nodiscard]] std::size_t position_of(const ParticleColumns& columns, int dimensions, const std::string& where);

}  // namespace sidestream::ramses
