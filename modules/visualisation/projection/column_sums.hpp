// Exact sums for the columns of a projection, sent from contributing servers to the servers that write a column.
//
// A column of a coarse level stays one entry, however many places of the result it covers. It is sent once to each
// server that writes some of them. Sums from coarser levels are added on the way down, once for all places without
// finer sums.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream {

/// A column on a level. Rows lie along the slowest axis of the result, cells along the other axis; without one, all are
/// cell 0.
struct LevelColumn {
  std::int32_t level = 0;
  Index row = 0, cell = 0;
};

/// Levels down to the result's, and an order in which each column precedes the columns that it contains.
class ColumnLevels {
 public:
  /// `ratios`: for each level, from 0 to the result's, the number of rows and cells along one of level 0. Keeps a
  /// reference to the shape, which is the finest level's.
  ColumnLevels(const GridShape& shape, const std::vector<std::array<Index, 2>>& ratios);

  [[nodiscard]] const GridShape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int32_t finest() const noexcept { return static_cast<std::int32_t>(fill_.size()) - 1; }
  /// Number of rows and cells of the result that a column of a level covers.
  [[nodiscard]] const std::array<Index, 2>& fill(std::int32_t level) const noexcept { return fill_[at(level)]; }
  /// Number of rows and cells of a level along one of the previous level; for level 0 their total number.
  [[nodiscard]] const std::array<Index, 2>& step(std::int32_t level) const noexcept { return steps_[at(level)]; }
  /// Key of a column: the key of its first place. The places of the result have the keys 0, 1, 2 ... in order.
  [[nodiscard]] std::uint64_t key(const LevelColumn& column) const noexcept;
  /// Number of keys in a column.
  [[nodiscard]] std::uint64_t keys(std::int32_t level) const noexcept {
    return static_cast<std::uint64_t>(fill(level)[0]) * static_cast<std::uint64_t>(fill(level)[1]);
  }

 private:
  static std::size_t at(std::int32_t level) noexcept { return static_cast<std::size_t>(level); }

  const GridShape& shape_;
  std::vector<std::array<Index, 2>> steps_, fill_;
};

/// Collects sums of columns for a partial, `count` for each column, at most 3.
class ColumnSums {
 public:
  ColumnSums(const ColumnLevels& levels, std::size_t count) : levels_(levels), count_(count) {}
  void add(const LevelColumn& column, std::span<const ExactSum> sums);
  /// Adds up repeated entries of columns when they may have become many; call it now and then. Memory stays below about
  /// twice the columns' size.
  void add_up();
  [[nodiscard]] Bytes take();

 private:
  const ColumnLevels& levels_;
  std::size_t count_, added_up_ = 0;
  std::vector<std::uint32_t> words_;
};

/// Range of places of a result, in rows and cells.
struct Places {
  Index first_row, end_row, first_cell, end_cell;
};

/// Collective. Calls `f(places, values)` for rectangles of this server's rows in which all places have the same sums
/// over all partials, rounded once. Skips places without sums. Throws Error(internal) if a partial does not match these
/// levels.
void for_each_sum(const ColumnLevels& levels, std::size_t count, std::span<const BytesView> partials,
                  Communicator& servers, const std::function<void(const Places&, const std::array<double, 3>&)>& f);

}  // namespace sidestream
