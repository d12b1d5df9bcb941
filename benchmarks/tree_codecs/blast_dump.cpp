#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

#include "morton.hpp"
#include "tree_data.hpp"

namespace benchmark {

namespace {

using Conserved = std::array<double, 5>;
using Level = std::map<Key, std::pair<Conserved, bool>>;  // and true if it is refined

std::vector<Level> read_leaves(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + file);
  std::vector<Level> levels;
  struct {
    std::int32_t level;
    std::int32_t at[3];
    double values[5];
  } leaf;
  static_assert(sizeof leaf == 56);
  while (in.read(reinterpret_cast<char*>(&leaf), sizeof leaf)) {
    const auto level = static_cast<std::size_t>(leaf.level);
    if (level >= levels.size()) levels.resize(level + 1);
    Conserved values;
    std::copy(std::begin(leaf.values), std::end(leaf.values), values.begin());
    levels[level][key_of({leaf.at[0], leaf.at[1], leaf.at[2]})] = {values, false};
  }
  return levels;
}

void add_parents(std::vector<Level>& levels) {
  for (std::size_t level = levels.size() - 1; level > 0; --level) {
    for (auto cell = levels[level].begin(); cell != levels[level].end();) {
      const Key parent = cell->first >> 3;
      std::array<Conserved, 8> children;
      for (Conserved& child : children) child = (cell++)->second.first;
      Conserved mean;
      for (std::size_t n = 0; n < mean.size(); ++n) {
        const auto pair = [&](std::size_t c) { return children[c][n] + children[c + 1][n]; };
        mean[n] = 0.125 * ((pair(0) + pair(2)) + (pair(4) + pair(6)));
      }
      levels[level - 1][parent] = {mean, true};
    }
  }
}

}  // namespace

TreeData read_blast(const std::string& file, double gamma) {
  std::vector<Level> levels = read_leaves(file);
  add_parents(levels);
  TreeData tree;
  tree.name = "blast " + file.substr(file.find_last_of('/') + 1);
  declare_gas(tree, gamma);
  for (const Level& level : levels) {
    std::vector<std::uint8_t>& refined = tree.refined.emplace_back();
    for (TreeVariable& variable : tree.variables) variable.levels.emplace_back();
    for (const auto& [key, cell] : level) {
      const Conserved& c = cell.first;
      const double u = c[1] / c[0], v = c[2] / c[0], w = c[3] / c[0];
      const double pressure = (gamma - 1) * (c[4] - 0.5 * (c[1] * u + c[2] * v + c[3] * w));
      std::size_t n = 0;
      for (const double value : {c[0], u, v, w, pressure}) tree.variables[n++].levels.back().push_back(value);
      refined.push_back(cell.second);
    }
  }
  return tree;
}

}  // namespace benchmark
