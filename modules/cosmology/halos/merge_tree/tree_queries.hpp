// Queries of a merge tree, which every server answers for its own cells.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "cosmology/halos/merge_tree/forest.hpp"

namespace sidestream::halos {

/// A branch of the whole tree: a maximum, and the saddle at which it meets a higher maximum; saddle.id -1: it is the
/// highest of its connected component. Trivially copyable; sent between servers.
struct Branch {
  ValuedCell top, saddle;
  Index into = -1;
};

/// Persistence of a branch with maximum `birth` and saddle `death`: 0 if both are the same infinity.
[[nodiscard]] inline double persistence(double birth, double death) noexcept {
  return birth == death ? 0 : birth - death;
}

/// A cell, and the maximum of its component at its own level. Trivially copyable; sent between servers.
struct KeptCell {
  ValuedCell cell;
  Index top = -1;
};

/// Path from a cell down the tree: the successive highest maxima of its component, and the cells at which each begins.
struct DescentPath {
  std::vector<ValuedCell> tops, from;  ///< from[0] is the cell itself, the others are saddles
};

/// A server's part of the whole tree: a forest, and all triplets to which its cells may lead. No query needs another
/// server. Refers to the forest.
template <class Forest>
class TreeAnswers {
 public:
  TreeAnswers(const Forest& forest, const std::vector<Triplet>& shared) : forest_(forest), triplets_(shared) {
    for (std::size_t t = 0; t < forest.trees(); ++t) triplets_.add(forest.certain(t));
  }

  /// Branches that begin here and have at least that persistence.
  [[nodiscard]] std::vector<Branch> branches(double least) const {
    std::vector<Branch> branches;
    for (std::size_t t = 0; t < forest_.trees(); ++t) {
      for (const ValuedCell& top : forest_.maxima(t)) {
        const Triplet* triplet = triplets_.find(top.id);
        if (!triplet) {
          branches.push_back({top, {}, -1});
        } else if (!(triplet->saddle == top) && persistence(top.value, triplet->saddle.value) >= least) {
          branches.push_back({top, triplet->saddle, triplets_.follow(triplet->into, triplet->saddle).id});
        }
      }
    }
    return branches;
  }

  /// This server's part of each halo for given thresholds: components >= boundary with a maximum >= peak.
  [[nodiscard]] std::vector<TreeHalo> halos(double boundary, double peak) const {
    constexpr std::int32_t unknown = -1, none = -2;
    std::vector<TreeHalo> halos;
    std::unordered_map<Index, std::int32_t> known;  // by peak
    for (std::size_t t = 0; t < forest_.trees(); ++t) {
      const std::vector<ValuedCell>& maxima = forest_.maxima(t);
      std::vector<std::int32_t> slots(maxima.size(), unknown);
      const auto slot_of = [&](std::int32_t number) {
        std::int32_t& slot = slots[static_cast<std::size_t>(number)];
        if (slot != unknown) return slot;
        const ValuedCell top = triplets_.follow(maxima[static_cast<std::size_t>(number)], level_of(boundary));
        if (!(top.value >= peak)) return slot = none;
        const auto [at, is_new] = known.emplace(top.id, static_cast<std::int32_t>(halos.size()));
        if (is_new) halos.push_back({top, 0, {}, {}});
        return slot = at->second;
      };
      forest_.for_each_cell(t, boundary, [&](const auto& cell, double value, std::int32_t number) {
        const std::int32_t slot = slot_of(number);
        if (slot == none) return;
        TreeHalo& halo = halos[static_cast<std::size_t>(slot)];
        ++halo.cells;
        forest_.add(cell, value, halo);
      });
    }
    return halos;
  }

  /// This server's cells >= `above`.
  [[nodiscard]] std::vector<KeptCell> cells(double above) const {
    std::vector<KeptCell> kept;
    for (std::size_t t = 0; t < forest_.trees(); ++t) {
      forest_.for_each_cell(t, above, [&](const auto& cell, double value, std::int32_t number) {
        const ValuedCell at{value, forest_.id_of(cell)};
        kept.push_back({at, triplets_.follow(forest_.maxima(t)[static_cast<std::size_t>(number)], at).id});
      });
    }
    return kept;
  }

  /// Empty if the cell at a place is not on this server, or is NaN.
  [[nodiscard]] DescentPath descent_path(const Index3& place) const {
    DescentPath way;
    const std::optional<FoundCell> found = forest_.find(place);
    if (!found) return way;
    way.from.push_back(found->cell);
    way.tops.push_back(triplets_.follow(found->top, found->cell));
    for (const Triplet* next = triplets_.find(way.tops.back().id); next; next = triplets_.find(way.tops.back().id)) {
      way.from.push_back(next->saddle);
      way.tops.push_back(triplets_.follow(next->into, next->saddle));
    }
    return way;
  }

 private:
  const Forest& forest_;
  TripletMap triplets_;
};

/// The highest level where two paths meet; id -1: never.
[[nodiscard]] ValuedCell common_saddle(const DescentPath& a, const DescentPath& b);

}  // namespace sidestream::halos
