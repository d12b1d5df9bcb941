// All blocks of all servers, and which points count as whose.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// A block and the server that receives it.
struct PlacedBlock {
  Block block;
  std::int32_t server = 0;
};

/// The global view of a mesh's geometry, the same on every server. Finds neighbours without looking at every block:
/// entries are sorted along the first axis.
class BlockTable {
 public:
  BlockTable() = default;
  explicit BlockTable(std::vector<PlacedBlock> blocks);

  /// Blocks of `mesh` and `level` whose cells, grown by one, overlap `cells`: neighbours that may share nodes are
  /// found.
  [[nodiscard]] std::vector<const PlacedBlock*> near(std::int32_t mesh, std::int32_t level, const Box& cells) const;
  /// The points of `variable` in the block's cells that no block of lower id has: disjoint boxes.
  [[nodiscard]] std::vector<Box> owned(const Variable& variable, const Block& block) const;
  [[nodiscard]] const std::vector<PlacedBlock>& blocks() const noexcept { return blocks_; }

 private:
  std::vector<PlacedBlock> blocks_;  ///< by mesh, level, lower end in i, id
  Index longest_ = 0;                ///< largest extent in i
};

}  // namespace sidestream
