#include "sidestream/kit/analysis/empty_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/data/beside_results.hpp"
#include "sidestream/kit/mesh/runs.hpp"

namespace sidestream {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Lower and upper corner.
struct SeenReach {
  std::array<double, 3> low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};
  void include(std::size_t axis, double x) {
    if (!std::isfinite(x)) return;
    low[axis] = std::min(low[axis], x);
    high[axis] = std::max(high[axis], x);
  }
};

void include_places(const BlockView& view, SeenReach& reach) {
  std::vector<double> values;
  for (const Box& box : view.owned) {
    values.resize(static_cast<std::size_t>(box.count()));
    for (int a = 0; a < view.array.components && a < 3 && !values.empty(); ++a) {
      copy_to_double(view.array, a, box, values.data(), box);
      for (const double value : values) reach.include(static_cast<std::size_t>(a), value);
    }
  }
}

/// Bounds of a mesh by its declaration; nothing if only its variables have them.
bool reach_of_axes(const Mesh& mesh, SeenReach& reach) {
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    for (std::size_t a = 0; a < 3; ++a) {
      reach.include(a, tree->origin()[a]);
      if (static_cast<int>(a) >= mesh.dimensions) continue;
      reach.include(a, tree->origin()[a] + static_cast<double>(tree->roots()[a]) * tree->spacing()[a]);
    }
    return true;
  }
  if (mesh.axes() == nullptr) return false;
  for (const auto& corner : bounds_of(mesh, mesh.cells)) {
    for (std::size_t a = 0; a < 3; ++a) reach.include(a, corner[a]);
  }
  return true;
}

}  // namespace

Selected SeenValues::entry() const {
  Selected selected(variable_, 0, BlockPredicate{Listener{told_}, {variable_, component_}});
  selected.wrap = false;
  selected.covered = false;
  return selected;
}

bool SeenValues::only_listens(const Selected& selected) {
  return selected.part.kind == Part::Kind::predicate && selected.part.predicate.needed.target<Listener>() != nullptr;
}

std::string SeenValues::text(const CombineInput& input) const {
  Range seen = *told_;
  if (input.local != nullptr) {
    for (const BlockView& view : input.local->of(variable_)) {
      for_each_owned_run(view, component_, [&](const auto* values, Index n, Index stride) {
        for (Index i = 0; i < n; ++i) {
          const auto x = static_cast<double>(values[i * stride]);
          if (!std::isnan(x)) seen.add({x, x});
        }
      });
    }
  }
  input.communicator.minimum(std::span(&seen.minimum, 1));
  input.communicator.maximum(std::span(&seen.maximum, 1));
  if (seen.empty()) return "none of its values was seen";
  return fmt::format("its values reach from {} to {}", seen.minimum, seen.maximum);
}

std::string reach_text(const Mesh& mesh, const CombineInput& input) {
  SeenReach reach;
  if (!reach_of_axes(mesh, reach)) {
    const std::int32_t coordinates = mesh.array(Role::coordinates);
    if (input.local != nullptr && coordinates >= 0) {
      for (const BlockView& view : input.local->of(coordinates)) include_places(view, reach);
    }
    input.communicator.minimum(reach.low);
    input.communicator.maximum(reach.high);
    for (std::size_t a = static_cast<std::size_t>(mesh.dimensions); a < 3; ++a) reach.include(a, 0);
  }
  if (reach.low[0] > reach.high[0]) return "none of its blocks came near";
  return fmt::format("it reaches from ({}) to ({})", fmt::join(reach.low, ", "), fmt::join(reach.high, ", "));
}

void remark(Results& results, const std::string& sentence) {
  if (auto* const listener = dynamic_cast<ResultServices*>(&results)) listener->remark(sentence);
}

void EmptyNotice::look(std::vector<std::int64_t> counts, const CombineInput& input,
                       const std::function<std::string(const std::vector<std::size_t>& absent)>& why) {
  if (told_) return;
  input.communicator.sum(counts);
  // Set before anything that could fail on one server only: the next call must be collective on all servers or on none.
  told_ = std::find(counts.begin(), counts.end(), 0) != counts.end();
  if (!told_) return;
  std::vector<std::size_t> absent;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    if (counts[n] == 0) absent.push_back(n);
  }
  const std::string sentence = why(absent);
  if (input.communicator.rank() != 0) return;
  remark(input.results, sentence);
  log::warning("'{}': in iteration {} {} (this is said once)", file_, input.iteration.index, sentence);
}

}  // namespace sidestream
