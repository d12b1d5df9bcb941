// Options of the analysis `merge_tree`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cosmology/halos/amr/amr_grid.hpp"
#include "cosmology/halos/finder/halo_options.hpp"

namespace sidestream::halos {

/// Query whether a path leads from one cell to the other through cells >= `above`.
struct Question {
  Index3 from{}, to{};  ///< cells of the mesh, or of the finest possible level
  double above = 0;
};

/// Rule for which cells are kept with the tree.
struct KeptCells {
  std::string file;
  double above = 0;      ///< least value of kept cells
  bool of_mean = false;  ///< true: `above` is in units of the mean of all finite values
};

struct TreeQuery {
  std::string file;  ///< table of the pairs of maxima and saddles
  Pieces pieces = Pieces::automatic;
  double least = 0;                    ///< least persistence of the maxima in the table
  std::vector<Thresholds> thresholds;  ///< thresholds of the requested halos
  std::string halos_file;
  std::vector<Question> questions;
  std::string answers_file;
  std::optional<KeptCells> cells;
};

/// Finds the cell that contains a place; none outside of the mesh. `place` has a number for each dimension.
using CellAt = std::function<std::optional<Index3>(const std::vector<double>& place)>;
[[nodiscard]] CellAt cell_at(const Field& field);
[[nodiscard]] CellAt cell_at(const AmrGrid& grid);

/// Options of the analysis `merge_tree`, on a mesh of `dimensions` dimensions.
[[nodiscard]] OptionTable<TreeQuery> tree_options(int dimensions = 0, const CellAt& cell_at = {});

}  // namespace sidestream::halos
