// Exact sums for the cells of a grid: from the servers that have something for a cell to the one that writes it.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "reduce/packed_sum.hpp"
#include "sidestream/data/box.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// A grid of results: its extents, the slowest axis first. It is divided along that axis: every server has some rows,
/// whatever lies at one index of it, and the servers' rows follow each other in the order of ranks.
class GridShape {
 public:
  explicit GridShape(std::vector<Index> extents);
  [[nodiscard]] const std::vector<Index>& extents() const noexcept { return extents_; }
  [[nodiscard]] Index rows() const noexcept { return extents_[0]; }
  [[nodiscard]] Index row_cells() const noexcept { return row_cells_; }
  /// The first row of a server; of the one after the last the number of rows.
  [[nodiscard]] Index first_row(int server, int servers) const noexcept;
  [[nodiscard]] int owner(Index row, int servers) const noexcept;

 private:
  std::vector<Index> extents_;
  Index row_cells_ = 1;
};

/// Words that go to rows of a grid, as a partial result carries them.
class RowWords {
 public:
  /// Where to append the words of a row.
  [[nodiscard]] std::vector<std::uint32_t>& row(Index row) { return rows_[row]; }
  [[nodiscard]] std::map<Index, std::vector<std::uint32_t>>& rows() noexcept { return rows_; }
  /// All of them, with room for `more` bytes behind.
  [[nodiscard]] Bytes take(std::size_t more = 0);

 private:
  std::map<Index, std::vector<std::uint32_t>> rows_;
};

/// The words of a row, which lie in several places.
using RowParts = std::vector<std::span<const std::uint32_t>>;

/// What all partials have for a server's rows: of its own partials where it lies, of others' as they were sent.
class RowsOfServer {
 public:
  /// `rows`: how many.
  explicit RowsOfServer(std::size_t rows) : rows_(rows) {}
  /// Words for a row, as bytes that stay where they are.
  void add(std::size_t row, BytesView words);
  /// Takes over what words lie in.
  void keep(std::vector<Bytes> bytes) { kept_ = std::move(bytes); }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] const RowParts& operator[](std::size_t row) const { return rows_.at(row); }

 private:
  std::vector<RowParts> rows_;
  std::vector<Bytes> kept_;
  std::list<std::vector<std::uint32_t>> copies_;  ///< of words that do not lie where words can be read
};

/// Collective: [r] has the words for row first_row + r, in no order that means anything. `partials` stay as long as it
/// is used.
[[nodiscard]] RowsOfServer rows_of(std::span<const BytesView> partials, const GridShape& grid, Communicator& servers);

/// Gathers sums of cells for a partial, `count` of each cell.
class GridSums {
 public:
  GridSums(const GridShape& grid, std::size_t count) : grid_(grid), count_(count) {}
  /// Adds sums to those of a cell, which is counted with the fastest axis fastest.
  void add(Index cell, std::span<const ExactSum> sums);
  /// To be called now and then: adds up what was added to a cell several times, when that may have become much. So no
  /// more is held than about twice what the cells take.
  void add_up();
  [[nodiscard]] Bytes take() { return words_.take(); }

 private:
  void put(std::vector<std::uint32_t>& words, Index in_row, std::span<const ExactSum> sums);

  const GridShape& grid_;
  std::size_t count_;
  RowWords words_;
  std::size_t size_ = 0, added_up_ = 0;  ///< words now, and when they were added up
};

/// Calls `f(cell in the row, its sums)` for each cell of a row for which there is something, in ascending order. A cell
/// has `count` sums, of which `f` gets the totals.
void for_each_sum(const RowParts& row, std::size_t count,
                  const std::function<void(Index, std::span<const ExactSum>)>& f);

}  // namespace sidestream
