#include "layout.hpp"

#include <string>

#include "options.hpp"

namespace universe {

Layout::Layout(MPI_Comm comm, int cells) : cells_(cells) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank_);
  // As square as possible.
  for (int rows = 1; rows * rows <= ranks; ++rows) {
    if (ranks % rows == 0) rows_ = rows;
  }
  columns_ = ranks / rows_;
  if (columns_ > cells || rows_ > cells / 2 + 1) {
    throw UserError(std::to_string(ranks) + " ranks are too many for a grid of " + std::to_string(cells) +
                    " cells along each axis: they would be " + std::to_string(rows_) + " by " +
                    std::to_string(columns_) + ", and each needs a layer of cells. Use fewer ranks, or a finer grid.");
  }
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_split(comm_, column(), row(), &across_rows_);
  MPI_Comm_split(comm_, row(), column(), &across_columns_);
}

Layout::~Layout() {
  MPI_Comm_free(&across_columns_);
  MPI_Comm_free(&across_rows_);
  MPI_Comm_free(&comm_);
}

}  // namespace universe
