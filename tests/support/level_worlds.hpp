// Trees and patches on refinement levels, made by hand and divided among blocks in any way.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sidestream/kit/data/octree.hpp"
#include "support/list_blocks.hpp"

namespace sidestream::testing {

/// A tree over the whole mesh, with a value in each leaf and a rule for which block owns it.
struct TreeWorld {
  int dimensions = 3;
  Index3 roots{1, 1, 1};
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
  std::function<bool(const TreeCell&)> refined;
  std::function<double(const TreeCell&, const std::array<double, 3>& centre)> value;
  std::function<std::size_t(const TreeCell&, std::size_t blocks)> owner;

  [[nodiscard]] std::array<double, 3> centre(const TreeCell& cell) const {
    std::array<double, 3> x{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      x[a] = origin[a] + spacing[a] * (static_cast<double>(cell.index[a]) + 0.5) / std::exp2(cell.level);
    }
    return x;
  }
  /// True if a cell touches the faces of the mesh.
  [[nodiscard]] bool at_face(const TreeCell& cell) const {
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      if (cell.index[a] == 0 || cell.index[a] + 1 == roots[a] << cell.level) return true;
    }
    return false;
  }
  [[nodiscard]] std::vector<TreeCell> root_cells() const {
    std::vector<TreeCell> all;
    for (Index n = 0; n < roots[0] * roots[1] * roots[2]; ++n) {
      all.push_back({0, {n % roots[0], n / roots[0] % roots[1], n / (roots[0] * roots[1])}});
    }
    return all;
  }
  [[nodiscard]] std::vector<TreeCell> children(const TreeCell& of) const {
    std::vector<TreeCell> all;
    for (int child = 0; child < 1 << dimensions; ++child) {
      TreeCell cell{of.level + 1, of.index};
      for (int a = 0; a < dimensions; ++a) {
        Index& index = cell.index[static_cast<std::size_t>(a)];
        index = 2 * index + (child >> a & 1);
      }
      all.push_back(cell);
    }
    return all;
  }
  /// The part of the tree that a block has: its leaves, their parents, and the neighbours of these. Leaves of other
  /// blocks have wrong values.
  [[nodiscard]] ListBlock block(std::size_t number, std::size_t blocks) const {
    std::vector<std::uint8_t> split, mine;
    std::vector<double> t, pair;
    const std::function<bool(const TreeCell&)> has_leaf = [&](const TreeCell& cell) {
      if (!refined(cell)) return owner(cell, blocks) == number;
      const std::vector<TreeCell> below = children(cell);
      return std::any_of(below.begin(), below.end(), has_leaf);
    };
    std::vector<TreeCell> cells = root_cells();
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const TreeCell cell = cells[n];
      const bool parent = refined(cell) && has_leaf(cell);
      const bool own = !refined(cell) && owner(cell, blocks) == number;
      split.push_back(parent ? 1 : 0);
      mine.push_back(own ? 1 : 0);
      t.push_back(own ? value(cell, centre(cell)) : static_cast<double>(n % 3));
      pair.insert(pair.end(), {centre(cell)[0], own ? 10.0 * cell.level : -1});
      if (!parent) continue;
      for (const TreeCell& child : children(cell)) cells.push_back(child);
    }
    ListBlock block{static_cast<Index>(cells.size()), 0, 0, {}};
    block.values = {{"split", split}, {"mine", mine}, {"t", t}, {"pair", pair}};
    return block;
  }
};

/// Blocks of a tree as an analysis sees them. The last one is empty.
struct TreeBlocks {
  ListDomain domain{MeshKind::points, 3};
  std::vector<ListBlock> blocks;

  TreeBlocks(const TreeWorld& world, std::size_t count) {
    Mesh& mesh = domain.metadata.meshes[0];
    mesh.dimensions = world.dimensions;
    mesh.geometry = std::make_shared<OctreeGeometry>(world.roots, world.origin, world.spacing);
    domain.add("split", Type::uint8, 1, Centering::cell, Role::refined);
    domain.add("mine", Type::uint8, 1, Centering::cell, Role::owned);
    domain.add("t", Type::float64, 1, Centering::cell);
    domain.add("pair", Type::float64, 2, Centering::cell);
    for (std::size_t block = 0; block < count; ++block) blocks.push_back(world.block(block, count));
    blocks.emplace_back();
    blocks.back().values = {{"split", std::vector<std::uint8_t>()},
                            {"mine", std::vector<std::uint8_t>()},
                            {"t", std::vector<double>()},
                            {"pair", std::vector<double>()}};
  }
};

/// Patches, which are boxes of cells on a level. Each lies within the next coarser level.
struct PatchWorld {
  int dimensions = 3;
  Box cells;  ///< of level 0
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
  std::vector<Index3> refinement;
  std::vector<std::pair<std::int32_t, Box>> patches;  ///< level, and cells on it; a block each
  std::array<bool, 3> periodic{};
  std::function<double(const TreeCell&, const std::array<double, 3>& centre)> value;
  bool nodes = false;  ///< values are at nodes; node p gets the value of the cell above it, at the node's position

  [[nodiscard]] Metadata metadata() const {
    Metadata metadata;
    Mesh mesh{0, "m", cells, dimensions, std::make_shared<UniformGeometry>(origin, spacing)};
    mesh.refinement = refinement;
    mesh.periodic = periodic;
    metadata.meshes.push_back(mesh);
    for (const auto& [name, components] : {std::pair("t", 1), std::pair("pair", 2)}) {
      Variable v;
      v.id = static_cast<std::int32_t>(metadata.variables.size());
      v.name = name;
      v.mesh = 0;
      v.components = components;
      v.centering = nodes ? nodes_of(dimensions) : Centering::cell;
      metadata.variables.push_back(v);
    }
    return metadata;
  }
  [[nodiscard]] std::array<double, 3> centre(const Mesh& mesh, const TreeCell& cell) const {
    const Index3 ratio = mesh.ratio_to(cell.level);
    std::array<double, 3> x{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
      x[a] = origin[a] +
             spacing[a] * (static_cast<double>(cell.index[a]) + (nodes ? 0 : 0.5)) / static_cast<double>(ratio[a]);
    }
    return x;
  }
};

/// Views of some patches. Their ghosts and covered cells have wrong values. So do nodes that a patch of lower number
/// owns, whose right values are in the halo.
class PatchViews {
 public:
  PatchViews(const PatchWorld& world, const Metadata& metadata, const std::vector<std::size_t>& ids)
      : views_(metadata.variables.size()) {
    for (const std::size_t id : ids) add(world, metadata, id);
  }
  [[nodiscard]] const std::vector<std::vector<BlockView>>& views() const { return views_; }

 private:
  void add(const PatchWorld& world, const Metadata& metadata, std::size_t id) {
    const auto& [level, box] = world.patches[id];
    BlockView view;
    view.block.id = static_cast<std::int64_t>(id);
    view.block.level = level;
    view.block.cells = box;
    view.points = points_of(metadata.variables[0].centering, box);
    view.owned = {view.points};
    for (std::size_t other = 0; world.nodes && other < id; ++other) {
      if (world.patches[other].first != level) continue;
      view.owned = difference(view.owned, points_of(metadata.variables[0].centering, world.patches[other].second));
    }
    for (const auto& [finer, cells] : world.patches) {
      if (finer != level + 1) continue;
      Box coarse = cells;
      for (std::size_t a = 0; a < 3; ++a) {
        coarse.lo[a] /= world.refinement[static_cast<std::size_t>(level)][a];
        coarse.hi[a] /= world.refinement[static_cast<std::size_t>(level)][a];
      }
      coarse = intersection(coarse, grown(box, 1));
      if (!coarse.empty()) view.covered.push_back(coarse);
    }
    Box ghosted = view.points;
    for (std::size_t a = 0; a < static_cast<std::size_t>(world.dimensions); ++a) --ghosted.lo[a], ++ghosted.hi[a];
    for (std::size_t v = 0; v < views_.size(); ++v) {
      const int components = metadata.variables[v].components;
      view.array.box = ghosted;
      view.array.components = components;
      view.array.strides = packed_strides(ghosted, components, Order::column);
      std::vector<double>& values = memory_.emplace_back();
      values.resize(static_cast<std::size_t>(ghosted.count() * components));
      view.array.data = values.data();
      for (Index n = 0; n < ghosted.count(); ++n) {
        const Index3 p{ghosted.lo[0] + n % ghosted.extent(0), ghosted.lo[1] + n / ghosted.extent(0) % ghosted.extent(1),
                       ghosted.lo[2] + n / (ghosted.extent(0) * ghosted.extent(1))};
        const auto covers = [&](const Box& covered) { return covered.contains(p); };
        const bool owned =
            std::any_of(view.owned.begin(), view.owned.end(), [&](const Box& b) { return b.contains(p); });
        // Nodes of covered cells may also be nodes of cells that are not covered.
        const bool counts = owned && (world.nodes || std::none_of(view.covered.begin(), view.covered.end(), covers));
        const TreeCell cell{level, p};
        const auto x = world.centre(metadata.meshes[0], cell);
        for (int c = 0; c < components; ++c) {
          const double right = v == 0 ? world.value(cell, x) : c == 0 ? x[0] : level;
          *const_cast<double*>(view.array.at<double>(p[0], p[1], p[2], c)) =
              counts ? right : static_cast<double>(p[0] % 2);
        }
      }
      add_halo(world, metadata, v, view);
      views_[v].push_back(view);
      view.halo.clear();
    }
  }

  /// Adds the nodes of the patch that other patches own.
  void add_halo(const PatchWorld& world, const Metadata& metadata, std::size_t v, BlockView& view) {
    std::vector<Box> others{view.points};
    for (const Box& owned : view.owned) others = difference(others, owned);
    for (const Box& box : others) {
      HaloPiece piece{box, view.array};
      piece.array.box = box;
      piece.array.strides = packed_strides(box, view.array.components, Order::column);
      std::vector<double>& values = memory_.emplace_back(static_cast<std::size_t>(box.count() * view.array.components));
      piece.array.data = values.data();
      for (Index n = 0; n < box.count(); ++n) {
        const Index3 p{box.lo[0] + n % box.extent(0), box.lo[1] + n / box.extent(0) % box.extent(1),
                       box.lo[2] + n / (box.extent(0) * box.extent(1))};
        const TreeCell cell{view.block.level, p};
        const auto x = world.centre(metadata.meshes[0], cell);
        for (int c = 0; c < view.array.components; ++c) {
          *const_cast<double*>(piece.array.at<double>(p[0], p[1], p[2], c)) = v == 0   ? world.value(cell, x)
                                                                              : c == 0 ? x[0]
                                                                                       : view.block.level;
        }
      }
      view.halo.push_back(piece);
    }
  }

  std::vector<std::vector<BlockView>> views_;
  std::deque<std::vector<double>> memory_;
};

/// Runs an analysis of one pass on the members of `communicator`. Blocks are dealt out in turn, and each member makes
/// `partials` partials.
inline CapturedResults run_patches(const AnalysisKind& kind, const std::string& yaml, const PatchWorld& world,
                                   Communicator& communicator, std::size_t partials = 1) {
  const Metadata metadata = world.metadata();
  const auto analysis = kind.create(fake_settings(kind, yaml, metadata), metadata);
  const auto servers = static_cast<std::size_t>(communicator.size()),
             me = static_cast<std::size_t>(communicator.rank());
  std::vector<std::vector<std::size_t>> mine(partials);
  for (std::size_t id = me; id < world.patches.size(); id += servers) mine[id / servers % partials].push_back(id);
  CapturedResults results;
  Bytes feedback;
  for (int pass = 0; pass < analysis->passes(); ++pass) {
    std::vector<Bytes> all;
    const Iteration iteration;
    std::deque<PatchViews> views;
    std::deque<LocalInput> inputs;
    for (const auto& ids : mine) {
      views.emplace_back(world, metadata, ids);
      inputs.push_back({iteration, metadata, views.back().views(), pass, feedback});
      all.push_back(analysis->local(inputs.back()));
    }
    feedback = analysis->combine(
        {iteration, metadata, all, pass, communicator, results, partials == 1 ? &inputs.front() : nullptr});
  }
  return results;
}

}  // namespace sidestream::testing
