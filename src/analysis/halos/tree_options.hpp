// What the analysis `merge_tree` reads from the configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/halos/halo_options.hpp"

namespace sidestream::halos {

/// Two places.
struct Question {
  Index3 from{}, to{};
  double above = 0;
};

/// Which cells are kept with the tree.
struct KeptCells {
  std::string file;
  double above = 0;
  bool of_mean = false;
};

struct TreeQuery {
  Field field;
  std::string file;
  Pieces pieces = Pieces::automatic;
  double least = 0;
  std::vector<Thresholds> thresholds;
  std::string halos_file;
  std::vector<Question> questions;
  std::string answers_file;
  std::optional<KeptCells> cells;
};

[[nodiscard]] std::vector<Option> tree_options();
/// Throws Error(configuration).
[[nodiscard]] TreeQuery read_tree(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::halos
