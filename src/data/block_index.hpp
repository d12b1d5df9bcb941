// Finding blocks by where they are.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Blocks in buckets as large as the largest block of their mesh and level, so that whatever overlaps a block is in a
/// few buckets round it: n blocks that tile a mesh are found in time proportional to what is found, whether they
/// form slabs, pencils or bricks.
class BlockIndex {
 public:
  BlockIndex() = default;
  explicit BlockIndex(std::span<const Block> blocks);

  /// Positions, ascending, in the list the index was made from, of the non-empty blocks of `mesh` and `level` that
  /// overlap `cells`. Replaces the content of `found`.
  void overlapping(std::int32_t mesh, std::int32_t level, const Box& cells, std::vector<std::int64_t>& found) const;

 private:
  struct Layer {
    Index3 largest{1, 1, 1};  ///< extents of the largest block
    std::int64_t count = 0;
  };
  struct Key {
    std::uint64_t layer;
    Index3 bucket;
    bool operator==(const Key&) const noexcept = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Entry {
    Box cells;
    std::int64_t position;
  };
  [[nodiscard]] static std::uint64_t layer_of(std::int32_t mesh, std::int32_t level) noexcept;

  std::unordered_map<std::uint64_t, Layer> layers_;
  std::unordered_map<Key, std::pair<std::int64_t, std::int64_t>, Hash> buckets_;  ///< begin and end in entries_
  std::vector<Entry> entries_;
};

}  // namespace sidestream
