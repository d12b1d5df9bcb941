// Linear interpolation between cell centres across levels.
//
// For each target, the cells of its own level around it get the weights of (bi-, tri-)linear interpolation (stencil).
// Each block adds its part of each such cell: the cell's own value, or the values of finer cells in its place (each
// with its share of the weight), or the value of the coarser cell that contains it. For patches this is an intersection
// of boxes (intersect), for trees a descent from the root (descend, give_below). Sums of weight times value are exact,
// as is the sum of weights, which is 1 if every cell was found.
#include "visualisation/sampling/level_mixing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream::sampling {
namespace {

/// Cells of one level, also of a tree.
struct LevelOf {
  LevelOf(const Mesh& of, std::int32_t level)
      : mesh(of.kind() == MeshKind::octree ? as_levels(of, level) : of),
        axes(mesh, level),
        ratio(mesh.ratio_to(level)) {}
  LevelOf(const LevelOf&) = delete;
  Mesh mesh;
  LevelAxes axes;
  Index3 ratio;  ///< number of its cells along one of level 0
};

/// A cell on a target's level around it, and its weight.
struct StencilCell {
  Index3 cell;
  double weight;
};

class Mixer {
 public:
  Mixer(const Query& query, const SamplePoints& targets, const LocalInput& input, BytesView levels, GridSums& sums)
      : query_(query),
        targets_(targets),
        input_(input),
        mesh_(mesh_of(query, input.metadata)),
        levels_(levels),
        sums_(sums),
        sum_(mixed_count(query, input.metadata) + 1) {}

  void add(const SampledBlock& block) {
    const auto tree = mesh_.kind() == MeshKind::octree ? OwnedLeaves::of(input_, mesh_, block.block) : std::nullopt;
    if (mesh_.kind() == MeshKind::octree && !tree) return;
    block_ = &block;
    tree_ = tree ? &*tree : nullptr;
    counted_.clear();
    for (const BlockView* view : block.views) {
      if (tree_ || view == nullptr || !in_cells(*view)) continue;
      counted_ = view->counted();
      flags_ = view->ghosts;
      break;
    }
    reaches_.clear();
    const Region& all = reach(0);
    targets_.within(all.low, all.high, [&](std::int64_t target) { add(target); });
    sums_.add_up();
  }

 private:
  [[nodiscard]] bool in_cells(const BlockView& view) const {
    for (std::size_t v = 0; v < block_->views.size(); ++v) {
      if (block_->views[v] == &view) return is_in_cells(v);
    }
    return false;
  }
  [[nodiscard]] bool is_in_cells(std::size_t v) const {
    return input_.metadata.variables[static_cast<std::size_t>(query_.variables[v])].centering == Centering::cell;
  }

  struct Region {
    Place low{}, high{};
  };

  /// The targets of a level that the block may contribute to. Cells around finer targets are smaller, so a block
  /// reaches less far.
  [[nodiscard]] const Region& reach(std::int32_t of) {
    const auto [known, is_new] = reaches_.try_emplace(of);
    Region& region = known->second;
    if (!is_new) return region;
    const LevelOf &coarsest = level(0), &own = level(of);
    const Bounds bounds = bounds_of(coarsest.mesh, block_->block);
    const Bounds& given = block_->block.bounds;
    for (int a = 0; a < mesh_.dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      const Box &cells = coarsest.axes.cells(), &fine = own.axes.cells();
      const double size = reach_in_cells * std::fabs(own.axes.node(a, fine.lo[n] + 1) - own.axes.node(a, fine.lo[n]));
      const auto [first, last] = std::minmax({coarsest.axes.node(a, cells.lo[n]), coarsest.axes.node(a, cells.hi[n])});
      const bool listed = block_->block.is_list();
      region.low[n] = listed ? (given.known() ? given.low[n] - size : first) : bounds.low[n] - size;
      region.high[n] = listed ? (given.known() ? given.high[n] + size : last) : bounds.high[n] + size;
    }
    widen(region.low, region.high);
    return region;
  }

  [[nodiscard]] bool reaches(std::int32_t of, const Place& place) {
    const Region& region = reach(of);
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
      if (place[a] < region.low[a] || place[a] > region.high[a]) return false;
    }
    return true;
  }

  [[nodiscard]] const LevelOf& level(std::int32_t number) {
    auto& known = known_[number];
    if (!known) known = std::make_unique<LevelOf>(mesh_, number);
    return *known;
  }

  void add(std::int64_t target) {
    const auto of = static_cast<std::int8_t>(levels_[static_cast<std::size_t>(target)]);
    if (of < 0 || !reaches(of, targets_.at(target))) return;
    const LevelOf& at = level(of);
    any_ = false;
    for (ExactSum& sum : sum_) sum = ExactSum();
    for (const StencilCell& cell : stencil(at, targets_.at(target))) {
      if (tree_) {
        descend(cell, of);
      } else {
        intersect(cell, at);
      }
    }
    if (any_) sums_.add(target, sum_);
  }

  [[nodiscard]] std::vector<StencilCell> stencil(const LevelOf& at, const Place& place) const {
    std::vector<StencilCell> cells{{{0, 0, 0}, 1}};
    for (int a = 0; a < mesh_.dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      const Index cell = at.axes.cell_at(a, place[n], at.axes.cells().lo[n]);
      if (cell < at.axes.cells().lo[n]) return {};
      const Between between = between_centres(at.axes, a, cell, place[n]);
      std::vector<StencilCell> wider;
      for (const StencilCell& one : cells) {
        for (const auto& [index, weight] : {std::pair{between.lower, 1 - between.t}, {between.upper, between.t}}) {
          if (weight == 0) continue;
          wider.push_back(one);
          wider.back().cell[n] = index;
          wider.back().weight *= weight;
        }
      }
      cells = std::move(wider);
    }
    for (StencilCell& one : cells) {
      for (std::size_t a = static_cast<std::size_t>(mesh_.dimensions); a < 3; ++a) one.cell[a] = mesh_.cells.lo[a];
    }
    return cells;
  }

  /// Adds the block's part of a cell of a target's level, or of the coarser cell that contains it.
  void intersect(const StencilCell& stencil, const LevelOf& at) {
    const Index3& mine = level(block_->block.level).ratio;
    Box part;
    double share = stencil.weight;
    for (std::size_t a = 0; a < 3; ++a) {
      const Index i = stencil.cell[a];
      if (mine[a] >= at.ratio[a]) {
        const Index finer = mine[a] / at.ratio[a];
        part.lo[a] = i * finer;
        part.hi[a] = (i + 1) * finer;
        share /= static_cast<double>(finer);
      } else {
        const Index coarser = at.ratio[a] / mine[a];
        part.lo[a] = i / coarser - (i % coarser < 0 ? 1 : 0);
        part.hi[a] = part.lo[a] + 1;
      }
    }
    for (const Box& counted : counted_) {
      const Box both = intersection(counted, part);
      for (Index k = both.lo[2]; k < both.hi[2]; ++k) {
        for (Index j = both.lo[1]; j < both.hi[1]; ++j) {
          for (Index i = both.lo[0]; i < both.hi[0]; ++i) {
            if (flags_.data != nullptr && *flags_.at<std::uint8_t>(i, j, k) != 0) continue;
            give({i, j, k}, share);
          }
        }
      }
    }
  }

  /// Descends the tree to the cell, or to the leaf that contains it.
  void descend(const StencilCell& stencil, std::int32_t to) {
    const Box& roots = level(0).axes.cells();
    Index number = 0;
    for (int a = 2; a >= 0; --a) {
      const auto n = static_cast<std::size_t>(a);
      number = number * roots.extent(a) + (a < mesh_.dimensions ? stencil.cell[n] >> to : 0);
    }
    const TreeIndex& index = tree_->index();
    if (index.cells() == 0) return;
    int depth = 1;
    for (; depth <= to && index.refined(number); ++depth) {
      int child = 0;
      for (int a = 0; a < mesh_.dimensions; ++a) {
        child |= static_cast<int>(stencil.cell[static_cast<std::size_t>(a)] >> (to - depth) & 1) << a;
      }
      number = index.first_child(number) + child;
    }
    give_below(number, depth - 1, stencil.weight);
  }

  void give_below(Index number, std::int32_t level, double share) {
    if (!tree_->index().refined(number)) {
      if (tree_->owns(number) && query_.choice.has_level(level)) give({number, 0, 0}, share);
      return;
    }
    const Index first = tree_->index().first_child(number);
    const int children = tree_->index().children();
    for (int c = 0; c < children; ++c) give_below(first + c, level + 1, share / children);
  }

  void give(const Index3& p, double share) {
    any_ = true;
    std::size_t n = 0;
    for (std::size_t v = 0; v < query_.variables.size(); ++v) {
      if (!is_in_cells(v)) continue;
      const Variable& variable = input_.metadata.variables[static_cast<std::size_t>(query_.variables[v])];
      for (int c = 0; c < variable.components; ++c) {
        const BlockView* view = block_->views[v];
        sum_[n++].add(view ? share * number_at(view->array, p, c) : std::numeric_limits<double>::quiet_NaN());
      }
    }
    sum_[n].add(share);
  }

  const Query& query_;
  const SamplePoints& targets_;
  const LocalInput& input_;
  const Mesh& mesh_;
  BytesView levels_;
  GridSums& sums_;
  std::vector<ExactSum> sum_;  ///< of the current target
  bool any_ = false;
  const SampledBlock* block_ = nullptr;
  std::map<std::int32_t, Region> reaches_;  ///< of the block, by level
  const OwnedLeaves* tree_ = nullptr;
  std::vector<Box> counted_;
  ArrayView flags_{};
  std::map<std::int32_t, std::unique_ptr<LevelOf>> known_;
};

}  // namespace

bool mixes_levels(const Query& query, const Metadata& metadata) {
  const Mesh& mesh = mesh_of(query, metadata);
  return query.linear_cells && mixed_count(query, metadata) > 0 &&
         (mesh.kind() == MeshKind::octree || !mesh.refinement.empty());
}

std::size_t mixed_count(const Query& query, const Metadata& metadata) {
  std::size_t count = 0;
  for (const std::int32_t id : query.variables) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    count += variable.centering == Centering::cell ? static_cast<std::size_t>(variable.components) : 0;
  }
  return count;
}

Bytes levels_of(const Query& query, const SamplePoints& targets, const LocalInput& input) {
  Bytes levels(static_cast<std::size_t>(targets.count()), static_cast<std::byte>(-1));
  Query own = query;
  own.linear_cells = false;
  static_cast<void>(sample(own, targets, input, [&](std::int64_t target, const Rank& rank, std::span<const double>) {
    std::byte& level = levels[static_cast<std::size_t>(target)];
    level = static_cast<std::byte>(std::max<std::int64_t>(static_cast<std::int8_t>(level), -rank.coarseness));
  }));
  return levels;
}

Bytes joined_levels(std::span<const Bytes> partials, std::int64_t targets, Communicator& servers) {
  constexpr std::int64_t at_once = 1 << 16;
  Bytes joined(static_cast<std::size_t>(targets));
  for (std::int64_t first = 0; first < targets; first += at_once) {
    std::vector<std::int64_t> some(static_cast<std::size_t>(std::min(at_once, targets - first)), -1);
    for (const Bytes& partial : partials) {
      if (partial.size() != joined.size()) {
        fail(Code::internal, "the levels of {} places have {} bytes", targets, partial.size());
      }
      for (std::size_t n = 0; n < some.size(); ++n) {
        const auto level = static_cast<std::int8_t>(partial[static_cast<std::size_t>(first) + n]);
        some[n] = std::max<std::int64_t>(some[n], level);
      }
    }
    servers.maximum(some);
    for (std::size_t n = 0; n < some.size(); ++n) {
      joined[static_cast<std::size_t>(first) + n] = static_cast<std::byte>(some[n]);
    }
  }
  return joined;
}

void add_mixed(const Query& query, const SamplePoints& targets, const LocalInput& input, BytesView levels,
               GridSums& sums) {
  Mixer mixer(query, targets, input, levels, sums);
  const bool tree = mesh_of(query, input.metadata).kind() == MeshKind::octree;
  for (const SampledBlock& block : blocks_of(query, input)) {
    if (!block.block.cells.empty() && (tree || is_chosen(query, block))) mixer.add(block);
  }
}

void take_mixed(const Query& query, const Metadata& metadata, std::span<const ExactSum> sums,
                std::span<double> values) {
  if (!(std::fabs(sums.back().value() - 1) < 1e-9)) return;
  std::size_t n = 0, at = 0;
  for (const std::int32_t id : query.variables) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    for (int c = 0; c < variable.components; ++c, ++at) {
      if (variable.centering != Centering::cell) continue;
      const double mixed = sums[n++].value();
      if (!std::isnan(mixed)) values[at] = mixed;
    }
  }
}

}  // namespace sidestream::sampling
