// A tree as patches: one block of the root cells, and one of the children of each refined cell.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "modules/visualisation/tree_world.hpp"

namespace sidestream::testing {

/// A uniform mesh "m" with the tree's levels and the variables "t" and "level" of Trees. Cells that a block does not
/// own have wrong values.
class Patches {
 public:
  explicit Patches(const World& world) : views_(2) {
    Mesh mesh;
    mesh.id = 0;
    mesh.name = "m";
    mesh.dimensions = world.dimensions;
    mesh.cells = {{0, 0, 0}, world.roots};
    std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
    Index3 ratio{1, 1, 1};
    for (std::size_t a = 0; a < static_cast<std::size_t>(world.dimensions); ++a) {
      origin[a] = world.origin[a];
      spacing[a] = world.spacing[a];
      ratio[a] = 2;
    }
    mesh.geometry = std::make_shared<UniformGeometry>(origin, spacing);
    std::vector<std::vector<TreeCell>> patches{world.root_cells()};
    std::int32_t deepest = 0;
    for (std::size_t n = 0; n < patches.size(); ++n) {
      const std::vector<TreeCell> cells = patches[n];
      for (const TreeCell& cell : cells) {
        deepest = std::max(deepest, cell.level);
        if (world.refined(cell)) patches.push_back(world.children(cell));
      }
    }
    mesh.refinement.assign(static_cast<std::size_t>(deepest), ratio);
    metadata.meshes.push_back(mesh);
    for (const auto& [name, components] : {std::pair{"t", 1}, {"level", 2}}) {
      Variable v;
      v.id = static_cast<std::int32_t>(metadata.variables.size());
      v.name = name;
      v.mesh = 0;
      v.components = components;
      metadata.variables.push_back(v);
    }
    for (const auto& cells : patches) add(world, cells);
  }
  [[nodiscard]] const std::vector<std::vector<BlockView>>& views() const { return views_; }

  Metadata metadata;

 private:
  void add(const World& world, const std::vector<TreeCell>& cells) {
    BlockView view;
    view.block.id = static_cast<std::int64_t>(views_[0].size());
    view.block.level = cells.front().level;
    view.block.cells = {cells.front().index, cells.back().index};
    for (Index& end : view.block.cells.hi) ++end;
    view.points = view.block.cells;
    view.owned = {view.points};
    for (const TreeCell& cell : cells) {
      const Box box{cell.index, {cell.index[0] + 1, cell.index[1] + 1, cell.index[2] + 1}};
      if (world.refined(cell)) view.covered.push_back(box);
    }
    for (std::size_t v = 0; v < 2; ++v) {
      const int components = metadata.variables[v].components;
      std::vector<double>& values =
          memory_.emplace_back(static_cast<std::size_t>(view.points.count() * components), 117.0);
      view.array.box = view.points;
      view.array.components = components;
      view.array.strides = packed_strides(view.points, components, Order::column);
      view.array.data = values.data();
      for (const TreeCell& cell : cells) {
        if (world.refined(cell)) continue;
        const auto at = [&](int c) -> double& {
          return *const_cast<double*>(view.array.at<double>(cell.index[0], cell.index[1], cell.index[2], c));
        };
        at(0) = v == 0 ? world.value(cell) : static_cast<double>(cell.level);
        if (v == 1) at(1) = static_cast<double>(cell.index[0]);
      }
      views_[v].push_back(view);
    }
  }

  std::deque<std::vector<double>> memory_;
  std::vector<std::vector<BlockView>> views_;
};

/// Runs an analysis on the patches, only in this process.
inline CapturedResults run_patches(const AnalysisKind& kind, const std::string& yaml, const World& world) {
  const Patches patches(world);
  const auto analysis = kind.create(fake_settings(kind, yaml, patches.metadata), patches.metadata);
  MpiCommunicator self(MPI_COMM_SELF);
  CapturedResults results;
  Bytes feedback;
  for (int pass = 0; pass < analysis->passes(); ++pass) {
    const std::vector<Bytes> partials{analysis->local({{}, patches.metadata, patches.views(), pass, feedback})};
    feedback = analysis->combine({{}, patches.metadata, partials, pass, self, results});
  }
  return results;
}

}  // namespace sidestream::testing
