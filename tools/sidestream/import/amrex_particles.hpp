// The particles of an AMReX plotfile in a database: each folder (DM, Tracer) is a mesh of points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/imported.hpp"
#include "importers/amrex/particles.hpp"

namespace sidestream::importing {

class AmrexParticles {
 public:
  /// Reads FOLDER/Header and declares the mesh FOLDER, with FOLDER_position, FOLDER_id, FOLDER_cpu (if present) and the
  /// further variables. `part_bytes`: largest size of a part's values.
  AmrexParticles(const amrex::Plotfile& plotfile, const std::string& folder, Imported& imported,
                 std::uint64_t part_bytes);

  /// Number of parts. A grid's particles are one block, or several for large grids.
  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }
  /// Reads a part and stores it in the database. The block's bounds are those of its particles. Returns its size there
  /// in bytes.
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
  std::uint64_t bytes_each_ = 0;           ///< bytes of a particle's values
  std::vector<std::vector<Piece>> parts_;  ///< each piece is a block; ids in this order
  std::vector<std::int64_t> first_id_;
};

}  // namespace sidestream::importing
