// A tree for benchmarks: cells near a sphere are refined down to the deepest level, others to level 6.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "data/mesh_arrays.hpp"
#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/data/octree.hpp"

namespace benchmark {

using namespace sidestream;

/// A tree of one block over a cube with one root cell, and a variable. `layers`: number of layers of cells of the
/// deepest level on either side of the sphere.
class SphereTree {
 public:
  SphereTree(int deepest, double layers) {
    metadata_.meshes.push_back(
        {0,
         "m",
         {},
         3,
         std::make_shared<OctreeGeometry>(Index3{1, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0})});
    std::vector<TreeCell> level{{0, {0, 0, 0}}};
    while (!level.empty()) {
      std::vector<TreeCell> next;
      for (const TreeCell& cell : level) {
        const bool refined = is_refined(cell, deepest, layers);
        refined_.push_back(refined ? 1 : 0);
        values_.push_back(std::sin(static_cast<double>(values_.size())));
        for (int c = 0; refined && c < 8; ++c) {
          next.push_back(
              {cell.level + 1,
               {2 * cell.index[0] + (c & 1), 2 * cell.index[1] + (c >> 1 & 1), 2 * cell.index[2] + (c >> 2)}});
        }
        if (!refined) leaves_.push_back(cell);
      }
      level = std::move(next);
    }
    block_.space = IndexSpace::list;
    block_.cells = list_box(static_cast<Index>(refined_.size()));
    give("split", Type::uint8, refined_.data());
    give("t", Type::float64, values_.data());
    assign_role(metadata_, "m", Role::refined, "split");
  }
  [[nodiscard]] LocalInput input() const { return {iteration_, metadata_, views_, 0, {}}; }
  [[nodiscard]] const std::vector<TreeCell>& leaves() const { return leaves_; }
  [[nodiscard]] const Mesh& mesh() const { return metadata_.meshes[0]; }
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }

 private:
  static constexpr int least = 6;

  static bool is_refined(const TreeCell& cell, int deepest, double layers) {
    if (cell.level < least || cell.level >= deepest) return cell.level < least;
    const double size = std::ldexp(1.0, -cell.level);
    double r = 0;
    for (const Index i : cell.index) r = std::hypot(r, (static_cast<double>(i) + 0.5) * size - 0.5);
    return std::fabs(r - 0.3) < layers * size;
  }
  void give(const char* name, Type type, const void* data) {
    Variable v;
    v.id = static_cast<std::int32_t>(metadata_.variables.size());
    v.name = name;
    v.mesh = 0;
    v.type = type;
    metadata_.variables.push_back(v);
    BlockView& view = views_.emplace_back().emplace_back();
    view.block = block_;
    view.points = block_.cells;
    view.owned = {view.points};
    view.array = {data, type, MemorySpace::host, view.points, 1, {1, 0, 0, 0}};
  }

  Iteration iteration_;
  Metadata metadata_;
  Block block_;
  std::vector<std::uint8_t> refined_;
  std::vector<double> values_;
  std::vector<TreeCell> leaves_;
  std::vector<std::vector<BlockView>> views_;
};

}  // namespace benchmark
