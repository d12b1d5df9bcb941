// The counted cells of a block, which is a tree or a patch.
#pragma once

#include <functional>
#include <memory>

#include "cosmology/halos/amr/amr_grid.hpp"
#include "cosmology/halos/finder/distances.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

class AmrBlock {
 public:
  virtual ~AmrBlock() = default;
  /// Arguments: a cell, its value, and its index in the block's arrays.
  using Visit = std::function<void(const AmrCell&, double, const Index3& place)>;
  /// Arguments: level of a cell, square of its distance, and its index in the block's arrays.
  using NearVisit = std::function<void(std::int32_t level, double squared, const Index3& place)>;
  /// Calls `f` for each counted cell of the block with a value >= the boundary.
  virtual void for_each_above(double boundary, const Visit& f) const = 0;
  /// Calls `f` for all counted cells.
  virtual void for_each(const Visit& f) const = 0;
  /// Calls `f` for all counted cells within the distance; distant ones are skipped together.
  virtual void for_each_near(const Distances<AmrGrid>& distances, const NearVisit& f) const = 0;
  /// True if all counted cells in this place, or the counted cell that contains it, belong to this block, so that no
  /// other block has a part of it.
  [[nodiscard]] virtual bool has_all_of(const AmrCell& cell) const = 0;
  /// True if the counted cell that contains `cell`, a cell of the finest possible level, belongs to this block.
  [[nodiscard]] virtual bool counts_at(const AmrCell& cell) const = 0;
};

/// Returns null if the arrays that tell which cells count are missing. Throws Error(usage) if the flags of a tree are
/// wrong. Keeps references.
[[nodiscard]] std::unique_ptr<AmrBlock> amr_block(const AmrGrid& grid, const LocalInput& input, const BlockView& view,
                                                  int component);

}  // namespace sidestream::halos
