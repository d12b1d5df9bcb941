// Particles of a plotfile or checkpoint of AMReX: a folder with a Header and files Level_L/DATA_NNNNN.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/amrex/plotfile.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::amrex {

/// The particles in one grid of a level: a list of its own in a file.
struct ParticleGrid {
  std::size_t level = 0;
  std::int64_t file = 0;
  std::uint64_t count = 0, offset = 0;
};

/// A variable of particles, and from which numbers of a particle it comes.
struct ParticleVariable {
  enum class From { position, id, cpu, integer, real };
  std::string name;  ///< position, id, cpu, and those of the Header in letters, digits and underscores
  From from = From::real;
  Type type = Type::float64;
  std::size_t first = 0, components = 1;  ///< of the particle's whole or real numbers, where they are
};

/// What the Header of a folder says. Numbers are in the byte order of x86, as the format has them.
struct ParticleFolder {
  std::string name, path;
  int dimensions = 3;
  Type real = Type::float64;
  std::size_t reals = 0, integers = 0;      ///< of each particle, places and ids among them
  bool packed = false;                      ///< id and cpu are halves of one number of 64 bits
  std::vector<ParticleVariable> variables;  ///< the place first
  std::vector<ParticleGrid> grids;          ///< those with particles
  std::uint64_t count = 0;
};

/// The names of the folders with particles, sorted: those whose Header begins with `Version_Two_Dot_`.
[[nodiscard]] std::vector<std::string> particle_folders(const Plotfile& plotfile);

/// Reads FOLDER/Header: Version_Two_Dot_Zero and Version_Two_Dot_One, single and double. Names NAME_x, NAME_y, NAME_z
/// that follow each other are one variable. Throws Error(file).
[[nodiscard]] ParticleFolder read_particle_folder(const Plotfile& plotfile, const std::string& name);

/// Particles [first, first + count) of a grid: a gapless array for each of `folder.variables`, components next to each
/// other. Throws Error(file), before memory is taken where a file is too short.
[[nodiscard]] std::vector<Bytes> read_particles(const ParticleFolder& folder, const ParticleGrid& grid,
                                                std::uint64_t first, std::uint64_t count);

/// Id and cpu of a particle out of the number that newer versions write: 1 bit for the sign (set: positive), 39 for the
/// id, 24 for the cpu.
[[nodiscard]] std::int64_t id_of(std::uint64_t packed) noexcept;
[[nodiscard]] std::int32_t cpu_of(std::uint64_t packed) noexcept;

}  // namespace sidestream::amrex
