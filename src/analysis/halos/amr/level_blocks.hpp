// The cells of a block of a tree, or of a patch, that count.
#pragma once

#include <functional>
#include <memory>

#include "analysis/halos/amr/level_distances.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

class LevelBlock {
 public:
  virtual ~LevelBlock() = default;
  /// A cell, its value, and its place in the block's arrays.
  using Visit = std::function<void(const LevelCell&, double, const Index3& place)>;
  /// The level of a cell, the square of its distance, its value and its place.
  using NearVisit = std::function<void(std::int32_t level, double squared, double value, const Index3& place)>;
  /// Calls `f` for each cell that counts as the block's, if its value is >= the boundary.
  virtual void for_each_above(double boundary, const Visit& f) const = 0;
  /// Calls `f` for all cells that count.
  virtual void for_each(const Visit& f) const = 0;
  /// Calls `f` for all cells that count and are near: what is far off is passed over together.
  virtual void for_each_near(const LevelDistances& distances, const NearVisit& f) const = 0;
  /// Whether all that counts in this place, or the cell round it, is this block's: no other block has a part of it.
  [[nodiscard]] virtual bool has_all_of(const LevelCell& cell) const = 0;
  /// Whether the cell that counts in this place, of which `cell` is as small a part as there may be, is this block's.
  [[nodiscard]] virtual bool counts_at(const LevelCell& cell) const = 0;
};

/// Null if what says which cells count is not here. Throws Error(usage) if the flags of a tree are wrong. Keeps
/// references.
[[nodiscard]] std::unique_ptr<LevelBlock> level_block(const AmrGrid& levels, const LocalInput& input,
                                                      const BlockView& view, int component);

}  // namespace sidestream::halos
