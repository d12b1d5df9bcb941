// Checks that the lists which a client publishes for an unstructured mesh match the declared block.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Checks connectivity, offsets, types and faces as they are published, so that no consumer fails, or silently uses
/// half of the cells. Each list is compared with the lengths of its block, and with the others once both are known in
/// an iteration. Keeps three bytes for each cell, and sixteen for each polyhedron.
class ListCheck {
 public:
  /// Checks the values of a record (`list`). Throws Error(usage) if they contradict the declarations. Ignores lists of
  /// other roles, and of meshes that are not unstructured.
  void read(const Mesh& mesh, const BlockRecord& record, const ArrayView& list, std::int64_t iteration);
  /// Forgets the lists that were published of the block.
  void forget(std::int32_t mesh, std::int64_t block) { known_.erase({mesh, block}); }

 private:
  enum Kept : std::size_t { offsets, types, faces, face_offsets, kept_count };
  struct Known {
    std::vector<std::uint8_t> corners;     ///< number of each cell's points, by the offsets; 255: at least as many
    std::vector<std::uint8_t> types;       ///< type of each cell
    std::vector<std::uint8_t> polyhedron;  ///< by the face offsets: 1 for cells with faces
    std::vector<std::int64_t> ends_of_faces, face_ends;       ///< of each polyhedron, by the faces and by their offsets
    std::array<std::int64_t, kept_count> of{-1, -1, -1, -1};  ///< iterations of the lists; `always` for those that do
                                                              ///< not vary in time
  };
  static constexpr std::int64_t always = INT64_MAX;

  static void compare(const Mesh& mesh, const Block& block, const Known& known, Kept changed, std::int64_t iteration);

  std::map<std::pair<std::int32_t, std::int64_t>, Known> known_;
};

}  // namespace sidestream
