#include "tree_data.hpp"

namespace benchmark {

void declare_gas(TreeData& tree, double gamma) {
  using sidestream::MeanRelation;
  std::vector<TreeVariable>& all = tree.variables;
  for (const char* name : {"density", "velocity_x", "velocity_y", "velocity_z", "pressure"}) {
    all.push_back({name, {}, {}, {}});
  }
  all[0].relations.mean = MeanRelation{};
  for (std::size_t v = 1; v < 4; ++v) {
    all[v].relations.mean = MeanRelation{1, 0, {}};
    all[v].relations.companions = 1;
    all[v].companions = {0};
  }
  all[4].relations.mean =
      MeanRelation{1 / (gamma - 1), -1, {{0.5, {0, 1, 1}, {}}, {0.5, {0, 2, 2}, {}}, {0.5, {0, 3, 3}, {}}}};
  all[4].relations.companions = 4;
  all[4].companions = {0, 1, 2, 3};
}

}  // namespace benchmark
