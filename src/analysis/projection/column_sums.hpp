// Exact sums for the columns of a projection, from the servers that have something for a column to those that write it.
//
// A column of a coarse level stays one number however many places of the result it covers: it is sent once to each
// server that writes some of them, and what a place gets from the levels above it is added up on the way down to it,
// once for all places that get nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "reduce/grid_sums.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

/// A column on a level. Rows lie along the slowest axis of the result, cells along the other, or all are cell 0.
struct LevelColumn {
  std::int32_t level = 0;
  Index row = 0, cell = 0;
};

/// The levels down to that of a result, and an order of their columns in which each stands in front of those in it.
class ColumnLevels {
 public:
  /// `ratios`: for each level, from 0 to that of the result, how many rows and cells lie along one of level 0. Keeps a
  /// reference to the shape, which is that of the finest level.
  ColumnLevels(const GridShape& shape, const std::vector<std::array<Index, 2>>& ratios);

  [[nodiscard]] const GridShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int32_t finest() const noexcept { return static_cast<std::int32_t>(fill_.size()) - 1; }
  /// How many rows and cells of the result a column of a level covers.
  [[nodiscard]] const std::array<Index, 2>& fill(std::int32_t level) const noexcept { return fill_[at(level)]; }
  /// How many rows and cells of a level lie along one of the level before; of level 0 how many there are.
  [[nodiscard]] const std::array<Index, 2>& step(std::int32_t level) const noexcept { return steps_[at(level)]; }
  /// The places of the result in their order have the keys 0, 1, 2 ...; a column has that of the first one in it.
  [[nodiscard]] std::uint64_t key(const LevelColumn& column) const noexcept;
  /// How many keys are in a column.
  [[nodiscard]] std::uint64_t keys(std::int32_t level) const noexcept {
    return static_cast<std::uint64_t>(fill(level)[0]) * static_cast<std::uint64_t>(fill(level)[1]);
  }

 private:
  static std::size_t at(std::int32_t level) noexcept { return static_cast<std::size_t>(level); }

  const GridShape& shape_;
  std::vector<std::array<Index, 2>> steps_, fill_;
};

/// Gathers sums of columns for a partial, `count` of each, at most 3.
class ColumnSums {
 public:
  ColumnSums(const ColumnLevels& levels, std::size_t count) : levels_(levels), count_(count) {}
  void add(const LevelColumn& column, std::span<const ExactSum> sums);
  /// To be called now and then: adds up what was added to a column several times, when that may have become much. So no
  /// more is held than about twice what the columns take.
  void add_up();
  [[nodiscard]] Bytes take();

 private:
  const ColumnLevels& levels_;
  std::size_t count_, added_up_ = 0;
  std::vector<std::uint32_t> words_;
};

/// Places of a result: rows and cells, from and to.
struct Places {
  Index first_row, end_row, first_cell, end_cell;
};

/// Collective. Calls `f(places, values)` for rectangles of this server's rows, all places of which have the same sums
/// of all partials, rounded once; not for those that have none. Throws Error(internal) if a partial is not of these
/// levels.
void for_each_sum(const ColumnLevels& levels, std::size_t count, std::span<const BytesView> partials,
                  Communicator& servers, const std::function<void(const Places&, const std::array<double, 3>&)>& f);

}  // namespace sidestream
