// Parts of AmrGraph: the counted cells of a block, the servers that keep cells, and sums over cells.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "cosmology/halos/amr/amr_grid.hpp"
#include "cosmology/halos/finder/distances.hpp"
#include "cosmology/halos/finder/halo.hpp"
#include "cosmology/halos/finder/run_sums.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// The counted cells of a block, which is a tree or a patch.
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
  /// Calls `f` for all counted cells within the distance; skips distant cells together.
  virtual void for_each_near(const Distances<AmrGrid>& distances, const NearVisit& f) const = 0;
  /// True if all counted cells in this place, or the counted cell that contains it, belong to this block, so that no
  /// other block has a part of it.
  [[nodiscard]] virtual bool has_all_of(const AmrCell& cell) const = 0;
  /// True if the counted cell that contains `cell`, a cell of the finest possible level, belongs to this block.
  [[nodiscard]] virtual bool counts_at(const AmrCell& cell) const = 0;
};

/// Returns null if the arrays with the counted cells are missing. Throws Error(usage) if the flags of a tree are wrong.
/// Keeps references.
[[nodiscard]] std::unique_ptr<AmrBlock> amr_block(const AmrGrid& grid, const LocalInput& input, const BlockView& view,
                                                  int component);

class AmrGraph;

/// Distributes the cells of one level to servers by their hashes, always in the same way. That level has many more
/// cells than there are servers. One server keeps everything in such a cell; a coarser cell is kept by all servers that
/// have a part of it. Keeps a reference to the grid.
class CellOwners {
 public:
  CellOwners(const AmrGraph& graph, int servers);
  /// Server where a cell counts; for a coarser cell the server of its first part.
  [[nodiscard]] int home_of(const AmrCell& cell) const noexcept { return keeper_of(first_part(cell)); }
  [[nodiscard]] std::set<int> keepers_of(const AmrCell& cell) const;

 private:
  [[nodiscard]] AmrCell first_part(const AmrCell& cell) const noexcept;
  [[nodiscard]] int keeper_of(const AmrCell& dealt) const noexcept {
    return static_cast<int>(dealt.hash() % static_cast<std::uint64_t>(servers_));
  }

  const AmrGrid& grid_;
  int servers_;
  std::int32_t level_ = 0;  ///< the level whose cells are distributed
};

class AmrGraph;

/// The level and index along an axis that cells of a plane share.
struct AmrPlace {
  std::int32_t level = 0;
  Index index = 0;
  bool operator<(const AmrPlace& other) const noexcept {
    return level != other.level ? level < other.level : index < other.index;
  }
};

/// Sums by plane, of several parts.
class AmrMergedSums : public PlaneSums<AmrPlace> {
 public:
  [[nodiscard]] Halo<AmrId> finish(const AmrGraph& graph, const Peak<AmrId>& peak, Index cells) const;
};

/// Sums of a part.
class AmrPartSums : public AmrMergedSums {
 public:
  AmrPartSums(const AmrGraph& graph, const std::vector<AmrCell>&, std::span<const std::uint32_t>) : graph_(graph) {}
  void add(const AmrCell& cell, double value);

 protected:
  const AmrGraph& graph_;
};

/// Sums over the cells of a halo whose peak is known. Bitwise equal to sums of the same cells in several parts.
class AmrHaloSums : public AmrPartSums {
 public:
  AmrHaloSums(const AmrGraph& graph, const Peak<AmrId>& peak) : AmrPartSums(graph, {}, {}), peak_(peak) {}
  void add(const AmrCell& cell, double value) {
    ++cells_;
    AmrPartSums::add(cell, value);
  }
  [[nodiscard]] Halo<AmrId> finish() const { return AmrMergedSums::finish(graph_, peak_, cells_); }

 private:
  Peak<AmrId> peak_;
  Index cells_ = 0;
};

}  // namespace sidestream::halos
