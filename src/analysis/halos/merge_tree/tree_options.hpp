// What the analysis `merge_tree` reads from the configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/halos/finder/halo_options.hpp"

namespace sidestream::halos {

/// Whether a way leads from one cell to the other through cells whose values are >= `above`.
struct Question {
  Index3 from{}, to{};  ///< cells of the mesh
  double above = 0;
};

/// Which cells are kept with the tree.
struct KeptCells {
  std::string file;
  double above = 0;      ///< those whose values are >= this
  bool of_mean = false;  ///< times the mean of all finite values
};

struct TreeQuery {
  Field field;
  std::string file;  ///< of the pairs of maxima and saddles
  Pieces pieces = Pieces::automatic;
  double least = 0;  ///< maxima that are less above the saddle at which they meet a higher one are left out
  std::vector<Thresholds> thresholds;  ///< of which halos are wanted
  std::string halos_file;
  std::vector<Question> questions;
  std::string answers_file;
  std::optional<KeptCells> cells;
};

/// The options of the analysis `merge_tree`.
[[nodiscard]] std::vector<Option> tree_options();
/// Throws Error(configuration).
[[nodiscard]] TreeQuery read_tree(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::halos
