// Options of the analysis `merge_tree`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cosmology/halos/finder/halo_options.hpp"

namespace sidestream::halos {

/// Query whether a path leads from one cell to the other through cells >= `above`.
struct Question {
  Index3 from{}, to{};  ///< cells of the mesh
  double above = 0;
};

/// Rule for which cells are kept with the tree.
struct KeptCells {
  std::string file;
  double above = 0;      ///< least value of kept cells
  bool of_mean = false;  ///< true: `above` is in units of the mean of all finite values
};

struct TreeQuery {
  Field field;
  std::string file;  ///< table of the pairs of maxima and saddles
  Pieces pieces = Pieces::automatic;
  double least = 0;                    ///< least persistence of the maxima in the table
  std::vector<Thresholds> thresholds;  ///< thresholds of the requested halos
  std::string halos_file;
  std::vector<Question> questions;
  std::string answers_file;
  std::optional<KeptCells> cells;
};

/// Options of the analysis `merge_tree`. Places lie on the field's mesh.
[[nodiscard]] OptionTable<TreeQuery> tree_options(const Field& field = {});
/// Throws Error(configuration).
[[nodiscard]] TreeQuery read_tree(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::halos
