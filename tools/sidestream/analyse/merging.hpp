// Iterations of files as one run: their meshes and variables, and the blocks as they are published.
// Large blocks are published in parts, which are shared among the ranks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream::analysing {

/// Collects the meshes and variables of iterations that may each lack some.
class Merging {
 public:
  /// `where` names the iteration in messages. Throws Error(file) if a mesh or variable differs from that of another
  /// iteration. Mixed 32-bit and 64-bit reals become 64-bit.
  void add(const Metadata& metadata, const std::string& where);
  [[nodiscard]] const Metadata& result() const noexcept { return all_; }

 private:
  void add_mesh(const Mesh& mesh, const std::string& where);
  void add_variable(const Variable& variable, const std::string& mesh, const std::string& where);

  Metadata all_;
  std::map<std::string, std::string> first_;  ///< iteration in which a mesh or variable was first seen
};

/// A published block, and the stored one that contains it.
struct Piece {
  Block block;             ///< its mesh id counts in the metadata that it was cut for
  std::size_t stored = 0;  ///< position among the stored blocks
};

/// Cuts stored blocks into parts, sorted by mesh, level and id. Cuts only depend on the blocks, so that results are the
/// same for every number of ranks. Boxes with more than 1/256 of their mesh's cells (at least 2^15 and at most 2^24)
/// are halved along their longest axis until they are small enough, at multiples of the ratio between their level and
/// the one below. Ids are those of the file if no block of the mesh is cut, otherwise they number the parts.
[[nodiscard]] std::vector<Piece> cut(const std::vector<Block>& stored, const Metadata& metadata);

/// The rank of each part: consecutive parts of each mesh, with equal bytes per rank. `bytes`: bytes read of each part
/// in the iteration with the most.
[[nodiscard]] std::vector<int> shares(const std::vector<Piece>& parts, const std::vector<std::uint64_t>& bytes,
                                      int ranks);

}  // namespace sidestream::analysing
