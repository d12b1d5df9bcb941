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

  /// The block at `position` is `after` from now on. False, and nothing is promised of the index any more, if it has to
  /// be made anew: the block is larger than any of its mesh and level was, or lies apart from them, or much has
  /// changed. Takes the time of looking up a bucket.
  [[nodiscard]] bool replace(std::int64_t position, const Block& before, const Block& after);

  /// Positions, ascending, in the list the index was made from, of the non-empty blocks of `mesh` and `level` that
  /// overlap `cells`; none that are lists, whose indices say nothing of where they are. Replaces the content of
  /// `found`.
  void overlapping(std::int32_t mesh, std::int32_t level, const Box& cells, std::vector<std::int64_t>& found) const;

 private:
  /// One mesh and level. Its buckets have the numbers from `base` on, i fastest, if they fill most of a box of buckets,
  /// as blocks that tile a mesh do; otherwise numbers are looked up.
  struct Layer {
    Index3 largest{1, 1, 1};  ///< extents of the largest block
    std::int64_t count = 0;
    Index3 first{}, extent{};  ///< of buckets
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
  std::unordered_map<Key, std::int64_t, Hash> numbers_;  ///< of buckets whose layer has no base
  std::vector<std::int64_t> begins_;                     ///< by number, in entries_; one more at the end
  std::vector<Entry> entries_;                           ///< position -1: it has gone from there
  std::unordered_multimap<std::int64_t, Entry> added_;   ///< since then, by number of the bucket
};

}  // namespace sidestream
