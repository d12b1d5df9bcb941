// Particles of one domain of RAMSES.
#pragma once

#include <string>
#include <vector>

#include "importers/ramses/output.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream::ramses {

/// Columns of the files `part`, equal in all domains.
struct ParticleColumns {
  std::vector<Column> columns;
  std::vector<Type> types;  ///< type of each column
  std::vector<JoinedColumns> variables;
  std::string remark;  ///< explains names that are not from a descriptor; empty if they are
};

/// Reads the columns from the descriptor. Without one they are those of the first domains with particles: positions and
/// velocities (one column per dimension), masses, identities, levels and, in runs with stars, birth times and
/// metallicities. Throws Error(file). Without particles and descriptor there are no columns.
[[nodiscard]] ParticleColumns particle_columns(const Output& output);

/// The particles of a domain.
struct Particles {
  std::uint64_t count = 0;
  std::vector<std::vector<std::byte>> arrays;  ///< an array for each of `columns.variables`, components interleaved
};
[[nodiscard]] Particles read_particles(const Output& output, const ParticleColumns& columns, int domain);

/// Index of the variable with the positions. Throws Error(file) if `columns` have none.
[[nodiscard]] std::size_t position_of(const ParticleColumns& columns, int dimensions, const std::string& where);

}  // namespace sidestream::ramses
