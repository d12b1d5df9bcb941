// Distribution of the grid: pencils along x, distributed over a rectangle of ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace universe {

/// [lo, hi) of [0, n).
struct Share {
  int lo = 0, hi = 0;
  [[nodiscard]] int size() const { return hi - lo; }
};

/// Part `part` of `parts` of [0, n).
[[nodiscard]] inline Share share_of(int n, int part, int parts) {
  const auto at = [&](int p) { return static_cast<int>(static_cast<std::int64_t>(n) * p / parts); };
  return {at(part), at(part + 1)};
}

/// The part that contains `index`.
[[nodiscard]] inline int part_of(int n, int parts, int index) {
  int part = static_cast<int>((static_cast<std::int64_t>(index) * parts + parts - 1) / n);
  while (part > 0 && share_of(n, part, parts).lo > index) --part;
  while (part + 1 < parts && share_of(n, part, parts).hi <= index) ++part;
  return part;
}

/// Rank row * columns + column has all of x, the share `row` of y and the share `column` of z. Duplicates `comm`, and
/// frees its own communicators.
class Layout {
 public:
  /// Collective. Throws UserError on all ranks if there are more ranks than lines of cells.
  Layout(MPI_Comm comm, int cells);
  ~Layout();
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  [[nodiscard]] int cells() const { return cells_; }  ///< along each axis
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return rows_ * columns_; }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int row() const { return rank_ / columns_; }
  [[nodiscard]] int column() const { return rank_ % columns_; }
  [[nodiscard]] Share y() const { return share_of(cells_, row(), rows_); }
  [[nodiscard]] Share z() const { return share_of(cells_, column(), columns_); }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] MPI_Comm across_rows() const { return across_rows_; }        ///< ranks of one column, by row
  [[nodiscard]] MPI_Comm across_columns() const { return across_columns_; }  ///< ranks of one row, by column
  /// The owner of cell (any x, y_cell, z_cell).
  [[nodiscard]] int owner(int y_cell, int z_cell) const {
    return part_of(cells_, rows_, y_cell) * columns_ + part_of(cells_, columns_, z_cell);
  }

 private:
  int cells_, rank_ = 0, rows_ = 1, columns_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL, across_rows_ = MPI_COMM_NULL, across_columns_ = MPI_COMM_NULL;
};

}  // namespace universe
