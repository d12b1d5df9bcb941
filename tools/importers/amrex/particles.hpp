// Particles of an AMReX plotfile or checkpoint: a folder with a Header and files Level_L/DATA_NNNNN.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/amrex/plotfile.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::amrex {

/// The particles in one grid of a level, contiguous in a file.
struct ParticleGrid {
  std::size_t level = 0;
  std::int64_t file = 0;
  std::uint64_t count = 0, offset = 0;
};

/// A variable of particles, and the numbers of a particle that form it.
struct ParticleVariable {
  enum class From { position, id, cpu, integer, real };
  std::string name;  ///< position, id, cpu, and the names in the Header as letters, digits and underscores
  From from = From::real;
  Type type = Type::float64;
  std::size_t first = 0, components = 1;  ///< range in the particle's integer or real numbers
};

/// Content of a folder's Header. Numbers are in the byte order of x86, as the format requires.
struct ParticleFolder {
  std::string name, path;
  int dimensions = 3;
  Type real = Type::float64;
  std::size_t reals = 0, integers = 0;      ///< per particle, including positions and ids
  bool packed = false;                      ///< true if id and cpu are halves of one 64-bit number
  std::vector<ParticleVariable> variables;  ///< the position first
  std::vector<ParticleGrid> grids;          ///< only grids with particles
  std::uint64_t count = 0;
};

/// The names of the folders with particles, sorted. Their Headers begin with `Version_Two_Dot_`.
[[nodiscard]] std::vector<std::string> particle_folders(const Plotfile& plotfile);

/// Reads FOLDER/Header: Version_Two_Dot_Zero and Version_Two_Dot_One, single and double. Consecutive names NAME_x,
/// NAME_y, NAME_z become one variable. Throws Error(file).
[[nodiscard]] ParticleFolder read_particle_folder(const Plotfile& plotfile, const std::string& name);

/// Particles [first, first + count) of a grid: a contiguous array for each of `folder.variables`, with components
/// interleaved. Throws Error(file), before it allocates memory if a file is too short.
[[nodiscard]] std::vector<Bytes> read_particles(const ParticleFolder& folder, const ParticleGrid& grid,
                                                std::uint64_t first, std::uint64_t count);

/// Unpacks id and cpu of a particle from the number of newer versions: 1 bit for the sign (set: positive), 39 for the
/// id, 24 for the cpu.
[[nodiscard]] std::int64_t id_of(std::uint64_t packed) noexcept;
[[nodiscard]] std::int32_t cpu_of(std::uint64_t packed) noexcept;

}  // namespace sidestream::amrex
