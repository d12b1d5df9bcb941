// Spatial index of blocks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Blocks in buckets as large as the largest block of their mesh and level, so that a few buckets around a block have
/// everything that overlaps it. Looking up n blocks that tile a mesh takes time proportional to the number of results.
/// This holds for slabs, pencils and bricks.
class BlockIndex {
 public:
  BlockIndex() = default;
  explicit BlockIndex(std::span<const Block> blocks);

  /// Replaces the block at `position` by `after`. Takes the time of looking up a bucket. Returns false if the index is
  /// unusable and has to be rebuilt. This happens if the block is larger than all earlier ones of its mesh and level,
  /// or lies apart from them, or if much has changed.
  [[nodiscard]] bool replace(std::int64_t position, const Block& before, const Block& after);

  /// Finds the non-empty blocks of `mesh` and `level` that overlap `cells`. Replaces the content of `found` by their
  /// positions, ascending, in the list from which the index was made. Ignores blocks that are lists, because their
  /// indices do not describe their positions.
  void overlapping(std::int32_t mesh, std::int32_t level, const Box& cells, std::vector<std::int64_t>& found) const;

 private:
  /// One mesh and level. If its buckets fill most of a box of buckets, as for blocks that tile a mesh, they have
  /// consecutive numbers from `base` on, i fastest; otherwise numbers are looked up.
  struct Layer {
    Index3 largest{1, 1, 1};  ///< extents of the largest block
    std::int64_t count = 0;
    Index3 first{}, extent{};  ///< in buckets
    std::int64_t base = -1;    ///< -1: looked up
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
  [[nodiscard]] static bool has_place(const Block& block) noexcept { return !block.cells.empty() && !block.is_list(); }
  void measure(std::span<const Block> blocks);
  /// The number of a bucket, -1 if there is none.
  [[nodiscard]] std::int64_t number_of(std::uint64_t name, const Layer& layer, const Index3& bucket) const noexcept;
  void look(std::int64_t number, const Box& cells, std::vector<std::int64_t>& found) const;
  [[nodiscard]] std::int64_t number_of(const Block& block) const;

  std::unordered_map<std::uint64_t, Layer> layers_;
  std::unordered_map<Key, std::int64_t, Hash> numbers_;  ///< numbers of buckets whose layer has no base
  std::vector<std::int64_t> begins_;                     ///< by number, in entries_; one more at the end
  std::vector<Entry> entries_;                           ///< position -1: removed
  std::unordered_multimap<std::int64_t, Entry> added_;   ///< entries added since the index was made, by number of the
                                                         ///< bucket
};

}  // namespace sidestream
