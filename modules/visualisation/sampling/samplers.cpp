// Sampling of uniform and rectilinear meshes, and of octrees.
//
// On uniform and rectilinear meshes the finest level at a place counts. A target's cell is found by arithmetic
// (uniform) or binary search (rectilinear), starting at the cell of the previous target. Values are interpolated
// linearly axis by axis, between nodes or between cell centres; points outside the block come from its halo. If a
// neighbour has no value, the cell's own value is taken.
//
// In octrees targets are distributed from each cell to its children, down to the leaves. Targets are first sorted by
// root cell. Each refined cell splits its targets by the middle planes and passes them on, so that subtrees without
// targets are never visited. The cost is proportional to the number of targets times the depth.
#include "visualisation/sampling/samplers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "visualisation/contour/marching_cubes_cell.hpp"

namespace sidestream::sampling {

namespace {

struct Found {
  std::int64_t target;
  Index3 cell;
};

Between between_nodes(const LevelAxes& axes, int axis, Index cell, double x, bool linear) {
  const double low = axes.node(axis, cell), high = axes.node(axis, cell + 1);
  const double t = (x - low) / (high - low);
  if (linear) return {cell, cell + 1, t};
  return t <= 0.5 ? Between{cell, cell, 0} : Between{cell + 1, cell + 1, 0};
}

/// Sampler for one block of one level.
class BoxSampler {
 public:
  BoxSampler(const Query& query, const Metadata& metadata, const SampledBlock& block)
      : query_(query),
        metadata_(metadata),
        mesh_(mesh_of(query, metadata)),
        axes_(mesh_, block.block.level),
        block_(block) {}

  /// Samples all targets in the block in batches, so that memory does not grow with their number.
  void run(const SamplePoints& targets, const Sink& sink) {
    constexpr std::size_t together = std::size_t{1} << 16;
    Place low{}, high{};
    const Box& cells = block_.block.cells;
    for (int a = 0; a < mesh_.dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      std::tie(low[n], high[n]) = std::minmax({axes_.node(a, cells.lo[n]), axes_.node(a, cells.hi[n])});
    }
    Index3 cell = cells.lo;
    targets.within(low, high, [&](std::int64_t target) {
      const Place place = targets.at(target);
      for (int a = 0; a < mesh_.dimensions; ++a) {
        cell[static_cast<std::size_t>(a)] =
            axes_.cell_at(a, place[static_cast<std::size_t>(a)], cell[static_cast<std::size_t>(a)]);
      }
      if (!cells.contains(cell)) return;  // on an upper face: belongs to the next block
      if (!is_chosen(query_, block_, cell)) return;
      found_.push_back({target, cell});
      if (found_.size() < together) return;
      give(targets, sink);
      found_.clear();
    });
    if (!found_.empty()) give(targets, sink);
  }

 private:
  void give(const SamplePoints& targets, const Sink& sink) const {
    const std::size_t count = value_count(query_, metadata_);
    std::vector<double> values(count * found_.size());
    std::size_t column = 0;
    for (std::size_t v = 0; v < query_.variables.size(); ++v) {
      const Variable& variable = metadata_.variables.at(static_cast<std::size_t>(query_.variables[v]));
      for (int c = 0; c < variable.components; ++c, ++column) {
        const PointValues points(block_.views[v], c, reach(variable.centering),
                                 static_cast<std::int64_t>(found_.size()));
        for (std::size_t n = 0; n < found_.size(); ++n) {
          values[n * count + column] = value(variable.centering, points, found_[n], targets.at(found_[n].target));
        }
      }
    }
    const Rank rank{-block_.block.level, block_.block.id, 0};
    for (std::size_t n = 0; n < found_.size(); ++n) {
      sink(found_[n].target, rank, std::span(values).subspan(n * count, count));
    }
  }

  /// Box of the points that may be needed for the targets' cells.
  [[nodiscard]] Box reach(Centering centering) const {
    Box box{found_.front().cell, found_.front().cell};
    for (const Found& found : found_) {
      for (std::size_t a = 0; a < 3; ++a) {
        box.lo[a] = std::min(box.lo[a], found.cell[a]);
        box.hi[a] = std::max(box.hi[a], found.cell[a]);
      }
    }
    for (std::size_t a = 0; a < 3; ++a) {
      const bool used = static_cast<int>(a) < mesh_.dimensions;
      const Index wide = used && query_.linear_cells && !at_nodes(centering, static_cast<int>(a)) ? 1 : 0;
      box.lo[a] -= wide;
      box.hi[a] += 1 + std::max<Index>(wide, at_nodes(centering, static_cast<int>(a)) ? 1 : 0);
    }
    return box;
  }

  [[nodiscard]] double value(Centering centering, const PointValues& points, const Found& found,
                             const Place& place) const {
    const double v = value(centering, points, found, place, query_.linear_cells);
    // Next to a finer or coarser level, or to missing values, only the cell's own value is available.
    return query_.linear_cells && std::isnan(v) ? value(centering, points, found, place, false) : v;
  }

  [[nodiscard]] double value(Centering centering, const PointValues& points, const Found& found, const Place& place,
                             bool linear_cells) const {
    std::array<Between, 3> between;
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      if (a >= mesh_.dimensions || (!at_nodes(centering, a) && !linear_cells)) {
        between[n] = {found.cell[n], found.cell[n], 0};
      } else if (at_nodes(centering, a)) {
        between[n] = between_nodes(axes_, a, found.cell[n], place[n], query_.linear_nodes);
      } else {
        between[n] = between_centres(axes_, a, found.cell[n], place[n]);
      }
    }
    return mixed(points, between, 2, {});
  }

  static double mixed(const PointValues& points, const std::array<Between, 3>& between, int axis, Index3 p) {
    if (axis < 0) return points.at(p);
    const auto n = static_cast<std::size_t>(axis);
    p[n] = between[n].lower;
    const double lower = between[n].t == 1 ? 0 : mixed(points, between, axis - 1, p);
    p[n] = between[n].upper;
    const double upper = between[n].t == 0 ? 0 : mixed(points, between, axis - 1, p);
    return mix(lower, upper, between[n].t);
  }

  const Query& query_;
  const Metadata& metadata_;
  const Mesh& mesh_;
  LevelAxes axes_;
  const SampledBlock& block_;
  std::vector<Found> found_;
};

}  // namespace

Between between_centres(const LevelAxes& axes, int axis, Index cell, double x) {
  const auto a = static_cast<std::size_t>(axis);
  const double centre = axes.position(Centering::cell, axis, cell);
  const bool up = axes.node(axis, cell) <= axes.node(axis, cell + 1);
  const Index lower = (up ? x >= centre : x <= centre) ? cell : cell - 1;
  if (lower < axes.cells().lo[a] || lower + 1 >= axes.cells().hi[a]) return {cell, cell, 0};
  const double low = axes.position(Centering::cell, axis, lower),
               high = axes.position(Centering::cell, axis, lower + 1);
  return {lower, lower + 1, (x - low) / (high - low)};
}

void sample_boxes(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink) {
  for (const SampledBlock& block : blocks_of(query, input)) {
    if (block.block.cells.empty() || !is_chosen(query, block)) continue;
    BoxSampler sampler(query, input.metadata, block);
    sampler.run(targets, sink);
  }
}

namespace {

struct Wanted {
  std::int64_t target;
  Place place;
};

/// Number of points per batch; each takes some 160 bytes meanwhile.
constexpr std::size_t batch = std::size_t{1} << 17;

struct FoundLeaf {
  std::int64_t target;
  Index number;
  std::int32_t level;
};

/// Sampler for one block.
class TreeSampler {
 public:
  TreeSampler(const Query& query, const Mesh& mesh, const OwnedLeaves& tree)
      : query_(query), mesh_(mesh), levels_(as_levels(mesh, 0)), roots_(levels_, 0), places_(mesh), tree_(tree) {}

  /// Calls `f(leaf)` for the leaves of targets, batch by batch, so that memory does not grow with their number. Leaves
  /// are in the order of targets within a batch, and, for a grid in that order, altogether.
  template <class F>
  void find(const SamplePoints& targets, const Bounds& bounds, F&& f) {
    const auto [low, high] = reach(bounds);
    std::vector<Wanted> wanted;
    const auto look = [&] {
      deal_out(wanted);
      wanted.clear();
      std::sort(found_.begin(), found_.end(),
                [](const FoundLeaf& a, const FoundLeaf& b) { return a.target < b.target; });
      for (const FoundLeaf& leaf : found_) f(leaf);
      found_.clear();
    };
    targets.within(low, high, [&](std::int64_t target) {
      wanted.push_back({target, targets.at(target)});
      if (wanted.size() == batch) look();
    });
    look();
  }

 private:
  /// Region that may contain leaves of the block.
  [[nodiscard]] std::pair<Place, Place> reach(const Bounds& bounds) const {
    Place low{}, high{};
    for (int a = 0; a < mesh_.dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      std::tie(low[n], high[n]) = std::minmax({roots_.node(a, 0), roots_.node(a, roots_.cells().hi[n])});
    }
    if (bounds.known()) {
      Place from = bounds.low, to = bounds.high;
      widen(from, to);
      for (std::size_t a = 0; a < 3; ++a) {
        low[a] = std::max(low[a], from[a]);
        high[a] = std::min(high[a], to[a]);
      }
    }
    return {low, high};
  }

  void deal_out(const std::vector<Wanted>& wanted) {
    std::vector<std::pair<Index, Wanted>> by_root;
    Index3 near{0, 0, 0};
    for (const Wanted& one : wanted) {
      Index number = 0;
      bool inside = true;
      for (int a = 2; a >= 0; --a) {
        const auto n = static_cast<std::size_t>(a);
        if (a < mesh_.dimensions) near[n] = roots_.cell_at(a, one.place[n], near[n]);
        inside = inside && near[n] >= 0;
        number = number * roots_.cells().extent(a) + near[n];
      }
      if (inside) by_root.emplace_back(number, one);
    }
    std::stable_sort(by_root.begin(), by_root.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t first = 0; first < by_root.size();) {
      const Index root = by_root[first].first;
      std::vector<Wanted> in_root;
      for (; first < by_root.size() && by_root[first].first == root; ++first) in_root.push_back(by_root[first].second);
      const Index row = roots_.cells().extent(0), plane = row * roots_.cells().extent(1);
      descend(root, {0, {root % row, root % plane / row, root / plane}}, in_root);
    }
  }

  void descend(Index number, const TreeCell& cell, const std::vector<Wanted>& wanted) {
    if (wanted.empty()) return;
    if (!tree_.index().refined(number)) {
      if (!tree_.owns(number) || !query_.choice.has_level(cell.level)) return;
      for (const Wanted& one : wanted) found_.push_back({one.target, number, cell.level});
      return;
    }
    std::array<double, 3> middle{};
    std::array<bool, 3> up{};
    for (int a = 0; a < mesh_.dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      middle[n] = places_.node(a, cell.level + 1, 2 * cell.index[n] + 1);
      up[n] = places_.node(a, cell.level, cell.index[n]) <= middle[n];
    }
    std::array<std::vector<Wanted>, 8> parts;
    for (const Wanted& one : wanted) {
      std::size_t child = 0;
      for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
        const bool upper = up[a] ? one.place[a] >= middle[a] : one.place[a] <= middle[a];
        child |= upper ? std::size_t{1} << a : 0;
      }
      parts[child].push_back(one);
    }
    const Index first = tree_.index().first_child(number);
    for (int c = 0; c < tree_.index().children(); ++c) {
      descend(first + c, tree_.index().child(cell, c), parts[static_cast<std::size_t>(c)]);
    }
  }

  const Query& query_;
  const Mesh& mesh_;
  const Mesh levels_;
  LevelAxes roots_;
  TreePlaces places_;
  const OwnedLeaves& tree_;
  std::vector<FoundLeaf> found_;
};

}  // namespace

void sample_trees(const Query& query, const SamplePoints& targets, const LocalInput& input, const Sink& sink) {
  const Mesh& mesh = mesh_of(query, input.metadata);
  std::vector<double> values(value_count(query, input.metadata));
  for (const SampledBlock& block : blocks_of(query, input)) {
    const auto tree = OwnedLeaves::of(input, mesh, block.block);
    if (!tree || tree->index().cells() == 0) continue;
    TreeSampler(query, mesh, *tree).find(targets, block.block.bounds, [&](const FoundLeaf& found) {
      std::size_t n = 0;
      for (std::size_t v = 0; v < query.variables.size(); ++v) {
        const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables[v]));
        for (int c = 0; c < variable.components; ++c) {
          values[n++] = block.views[v] == nullptr ? std::numeric_limits<double>::quiet_NaN()
                                                  : number_at(block.views[v]->array, {found.number, 0, 0}, c);
        }
      }
      sink(found.target, {-found.level, block.block.id, 0}, values);
    });
  }
}

}  // namespace sidestream::sampling
