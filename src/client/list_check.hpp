// Whether the lists that a client publishes of an unstructured mesh are cells of the block that it declared.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Looks at connectivity, offsets, types and faces as they are published, so that no consumer has to find out, or
/// worse, takes half of the cells for all. Each list is compared with the lengths of its block, and with the others
/// once both are known in an iteration. Keeps three bytes for each cell, and sixteen for each polyhedron.
class ListCheck {
 public:
  /// `list`: what is published of the record. Throws Error(usage) if it cannot be what was declared; lists of other
  /// roles, and of other meshes than unstructured ones, are let pass.
  void look(const Mesh& mesh, const BlockRecord& record, const ArrayView& list, std::int64_t iteration);
  /// What was published of the block counts no longer.
  void forget(std::int32_t mesh, std::int64_t block) { known_.erase({mesh, block}); }

 private:
  enum Kept : std::size_t { offsets, types, faces, face_offsets, kept_count };
  struct Known {
    std::vector<std::uint8_t> corners;                   ///< of each cell, by the offsets; 255: as many or more
    std::vector<std::uint8_t> types;                     ///< of each cell
    std::vector<std::uint8_t> polyhedron;                ///< of each cell, by the face offsets: whether it has faces
    std::vector<std::int64_t> ends_of_faces, face_ends;  ///< of each polyhedron, by the faces and by their offsets
    std::array<std::int64_t, kept_count> of{-1, -1, -1, -1};  ///< iterations; of what does not vary in time `always`
  };
  static constexpr std::int64_t always = INT64_MAX;

  static void compare(const Mesh& mesh, const Block& block, const Known& known, Kept changed, std::int64_t iteration);

  std::map<std::pair<std::int32_t, std::int64_t>, Known> known_;
};

}  // namespace sidestream
