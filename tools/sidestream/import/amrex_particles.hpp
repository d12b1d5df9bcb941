// The particles of a plotfile of AMReX in a database: each folder (DM, Tracer) is a mesh of points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/imported.hpp"
#include "importers/amrex/particles.hpp"

namespace sidestream::importing {

class AmrexParticles {
 public:
  /// Reads FOLDER/Header and declares the mesh FOLDER, with FOLDER_position, FOLDER_id, FOLDER_cpu (if it has them) and
  /// a variable for each thing more. `part_bytes`: of values, that a part has at most.
  AmrexParticles(const amrex::Plotfile& plotfile, const std::string& folder, Imported& imported,
                 std::uint64_t part_bytes);

  /// How many parts there are: particles of one grid are a block, of large ones several.
  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }
  /// Reads a part and puts it into the database. Bounds of the block are those of its particles. Returns the bytes that
  /// it takes there.
  std::uint64_t add(std::size_t part, Imported::Part& to) const;

  [[nodiscard]] const amrex::ParticleFolder& folder() const noexcept { return folder_; }
  [[nodiscard]] std::uint64_t bytes_each() const noexcept { return bytes_each_; }

 private:
  struct Piece {
    std::size_t grid = 0;
    std::uint64_t first = 0, count = 0;
  };

  amrex::ParticleFolder folder_;
  std::int32_t mesh_ = -1;
  std::vector<std::int32_t> variables_;
  std::uint64_t bytes_each_ = 0;           ///< of values of a particle
  std::vector<std::vector<Piece>> parts_;  ///< each piece is a block; ids in this order
  std::vector<std::int64_t> first_id_;
};

}  // namespace sidestream::importing
