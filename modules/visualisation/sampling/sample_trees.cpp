// Sampling of octrees: targets are distributed from each cell to its children, down to the leaves.
//
// Targets are first sorted by root cell. Each refined cell splits its targets by the middle planes and passes them on,
// so that subtrees without targets are never visited. The cost is proportional to the number of targets times the
// depth.
#include <algorithm>
#include <limits>

#include "sidestream/kit/mesh/owned_leaves.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream::sampling {
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
