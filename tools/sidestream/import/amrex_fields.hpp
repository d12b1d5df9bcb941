// Contents of AMReX plotfiles besides the values that their Header lists: fields at other places, and particles.
// Fields lie at nodes, faces and edges. Each folder of particles (DM, Tracer) becomes a mesh of points in the database.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "import/imported.hpp"
#include "importers/amrex/level_data.hpp"
#include "importers/amrex/particles.hpp"

namespace sidestream::importing {

/// Files NAME_H in `Level_L` and `raw_fields/Level_L`, where WarpX writes fields at their own positions. Each is a
/// variable NAME with the components of the file. Fields on the boxes of the mesh are read, others left out.
class AmrexFields {
 public:
  /// Declares the variables on `mesh`. `levels`: the boxes of the mesh by level. `part_bytes`: largest size of a part's
  /// values, unless one box is larger.
  AmrexFields(const amrex::Plotfile& plotfile, const std::vector<amrex::LevelData>& levels, std::int32_t mesh,
              Imported& imported, std::uint64_t part_bytes);

  [[nodiscard]] std::size_t parts() const noexcept { return parts_.size(); }
  /// Reads a part and stores it in the database. `first_id`: of the blocks, by level. Returns its size there in bytes.
  std::uint64_t add(std::size_t part, const std::vector<std::int64_t>& first_id, Imported::Part& to) const;

  [[nodiscard]] std::size_t variables() const noexcept { return fields_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }  ///< of all values
  /// A sentence for each file that is left out.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  struct Field {
    std::int32_t variable = -1;
    Type type = Type::float64;
    int components = 1;
    Centering centering = Centering::cell;
    std::map<std::size_t, amrex::LevelData> levels;
  };
  /// Boxes [first, last) of a level of a field.
  struct Boxes {
    std::size_t field = 0, level = 0, first = 0, last = 0;
  };

  void take(const std::string& path, const std::string& name, std::size_t level, const amrex::LevelData& boxes);
  void declare(std::int32_t mesh, Imported& imported);
  void make_parts(std::uint64_t part_bytes);

  int dimensions_;
  std::map<std::string, Field> found_;  ///< by name, until declared
  std::vector<Field> fields_;
  std::vector<Boxes> parts_;
  std::int32_t mesh_ = -1;
  std::uint64_t bytes_ = 0;
  std::vector<std::string> remarks_;
};

/// The particles of one folder.
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
