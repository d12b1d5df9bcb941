// Exact sums for the cells of a grid. The servers that contribute to a cell send them to the server that writes it.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"

namespace sidestream {

/// A grid of results with its extents, the slowest axis first. It is divided along that axis: a row has all cells at
/// one index, every server owns some rows, and the servers' rows follow each other in the order of ranks.
class GridShape {
 public:
  explicit GridShape(std::vector<Index> extents);
  [[nodiscard]] const std::vector<Index>& extents() const noexcept { return extents_; }
  [[nodiscard]] Index rows() const noexcept { return extents_[0]; }
  [[nodiscard]] Index row_cells() const noexcept { return row_cells_; }
  /// The first row of a server. If the argument is the number of servers, returns the number of rows.
  [[nodiscard]] Index first_row(int server, int servers) const noexcept;
  [[nodiscard]] int owner(Index row, int servers) const noexcept;

 private:
  std::vector<Index> extents_;
  Index row_cells_ = 1;
};

/// Words for rows of a grid, as a partial result carries them.
class RowWords {
 public:
  /// The vector to which words of a row are appended.
  [[nodiscard]] std::vector<std::uint32_t>& row(Index row) { return rows_[row]; }
  [[nodiscard]] std::map<Index, std::vector<std::uint32_t>>& rows() noexcept { return rows_; }
  /// Serialises all words, and reserves room for `more` bytes behind them.
  [[nodiscard]] Bytes take(std::size_t more = 0);

 private:
  std::map<Index, std::vector<std::uint32_t>> rows_;
};

/// The words of a row, in several separate parts.
using RowParts = std::vector<std::span<const std::uint32_t>>;

/// The words that all partials have for a server's rows. They are views of the server's own partials and of the
/// received messages.
class RowsOfServer {
 public:
  /// `rows` is the number of rows.
  explicit RowsOfServer(std::size_t rows) : rows_(rows) {}
  /// Adds words for a row, as bytes that stay in place.
  void add(std::size_t row, BytesView words);
  /// Takes ownership of the memory of words.
  void keep(std::vector<Bytes> bytes) { kept_ = std::move(bytes); }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] const RowParts& operator[](std::size_t row) const { return rows_.at(row); }

 private:
  std::vector<RowParts> rows_;
  std::vector<Bytes> kept_;
  std::list<std::vector<std::uint32_t>> copies_;  ///< copies of words that are not aligned
};

/// The words for this server's rows. Entry [r] has the words for row first_row + r, in arbitrary order. Collective.
/// `partials` must outlive the result.
[[nodiscard]] RowsOfServer rows_of(std::span<const BytesView> partials, const GridShape& grid, Communicator& servers);

/// Collects sums of cells for a partial, `count` for each cell.
class GridSums {
 public:
  GridSums(const GridShape& grid, std::size_t count) : grid_(grid), count_(count) {}
  /// Adds sums to those of a cell, numbered with the fastest axis fastest.
  void add(Index cell, std::span<const ExactSum> sums);
  /// Adds up the sums of the same cells, if there may be many. Call it from time to time; then memory stays below about
  /// twice the size of the cells' sums.
  void add_up();
  [[nodiscard]] Bytes take() { return words_.take(); }

 private:
  void put(std::vector<std::uint32_t>& words, Index in_row, std::span<const ExactSum> sums);

  const GridShape& grid_;
  std::size_t count_;
  RowWords words_;
  std::size_t size_ = 0, added_up_ = 0;  ///< number of words now, and after they were last added up
};

/// Calls `f(cell in the row, its sums)` for each cell of a row that has sums, in ascending order. `f` gets the totals
/// of the cell's `count` sums.
void for_each_sum(const RowParts& row, std::size_t count,
                  const std::function<void(Index, std::span<const ExactSum>)>& f);

}  // namespace sidestream
