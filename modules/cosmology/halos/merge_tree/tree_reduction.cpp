// Sparsified distributed merge trees (Morozov and Weber, "Distributed merge trees", 2013).
//
// 1. Each server starts as a group of one with the edges of its own maxima. A sweep (Sweep) goes through the edges
//    inside the group from the highest saddle down and joins maxima with union-find. If the dying component has no edge
//    out of the group above the saddle, its triplet is final. Otherwise the edge remains for larger groups. Edges out
//    of the group are redirected from finished maxima to those that continue.
// 2. Groups merge pairwise: the second server sends its remaining edges to the first, which matches the edges that both
//    know (joined_edges) and sweeps again. This takes log2(servers) steps.
// 3. On the way back each merged group sends its halves the triplets to which their maxima lead (led_to).
#include "cosmology/halos/merge_tree/tree_joining.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/gathered_records.hpp"
#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {
namespace {

/// Servers first to last - 1.
struct Group {
  int first = 0, last = 0;
  [[nodiscard]] bool has(std::int32_t server) const noexcept { return first <= server && server < last; }
};

/// An edge of a group. `a` and `b` are the maxima that now represent its original ones, as far as the group knows.
struct GroupEdge {
  ValuedCell a, b, saddle;
  /// Its original maxima, which identify the edge on both sides; -1 for edges inside a group, which no longer need
  /// them.
  Index from_a = -1, from_b = -1;
  std::int32_t owner_a = 0, owner_b = 0;
  [[nodiscard]] auto key() const noexcept { return std::make_tuple(from_a, from_b, saddle.id); }
  [[nodiscard]] bool inside(const Group& group) const noexcept { return group.has(owner_a) && group.has(owner_b); }
};

struct Settled {
  std::vector<Triplet> triplets;
  std::vector<GroupEdge> rest;  ///< edges that larger groups need
};

/// Components of the maxima of a group while the level decreases.
class Sweep {
 public:
  explicit Sweep(const Group& group) : group_(group) {}

  Settled run(std::vector<GroupEdge> edges) {
    for (const GroupEdge& edge : edges) {
      if (group_.has(edge.owner_a)) touch(number_of(edge.a, edge.owner_a), edge);
      if (group_.has(edge.owner_b)) touch(number_of(edge.b, edge.owner_b), edge);
    }
    const auto out = std::partition(edges.begin(), edges.end(), [&](const GroupEdge& e) { return e.inside(group_); });
    std::sort(edges.begin(), out, [](const GroupEdge& x, const GroupEdge& y) {
      if (!(x.saddle == y.saddle)) return y.saddle.below(x.saddle);
      return std::tie(x.a.id, x.b.id) < std::tie(y.a.id, y.b.id);
    });
    joined_ = UnionFind<std::uint32_t>(eldest_.size());
    Settled settled;
    for (auto edge = edges.begin(); edge != out; ++edge) meet(*edge, settled);
    const TripletMap certain(settled.triplets);
    for (auto edge = out; edge != edges.end(); ++edge) {
      ValuedCell& mine = group_.has(edge->owner_a) ? edge->a : edge->b;
      mine = certain.follow(mine, edge->saddle);
      settled.rest.push_back(*edge);
    }
    return settled;
  }

 private:
  std::uint32_t number_of(const ValuedCell& top, std::int32_t owner) {
    const auto [at, is_new] = numbers_.emplace(top.id, static_cast<std::uint32_t>(eldest_.size()));
    if (is_new) {
      eldest_.push_back(top);
      owners_.push_back(owner);
      touched_.emplace_back();
    }
    return at->second;
  }
  /// Records the highest edge out of the group.
  void touch(std::uint32_t n, const GroupEdge& edge) {
    if (!edge.inside(group_)) raise(touched_[n], edge.saddle);
  }
  static void raise(ValuedCell& highest, const ValuedCell& other) {
    if (other.id >= 0 && (highest.id < 0 || highest.below(other))) highest = other;
  }
  void meet(const GroupEdge& edge, Settled& settled) {
    const std::uint32_t a = joined_.find(numbers_.at(edge.a.id)), b = joined_.find(numbers_.at(edge.b.id));
    if (a == b) return;
    const bool a_dies = eldest_[a].below(eldest_[b]);
    const std::uint32_t dies = a_dies ? a : b, lives = a_dies ? b : a;
    const ValuedCell top = eldest_[lives], reached = touched_[dies];
    if (reached.id >= 0 && edge.saddle.below(reached)) {
      settled.rest.push_back({eldest_[dies], top, edge.saddle, -1, -1, owners_[dies], owners_[lives]});
    } else {
      settled.triplets.push_back({eldest_[dies], edge.saddle, top});
    }
    const std::int32_t owner = owners_[lives];
    ValuedCell highest = touched_[lives];
    raise(highest, reached);
    joined_.join(a, b);
    const std::uint32_t both = joined_.find(a);
    eldest_[both] = top;
    owners_[both] = owner;
    touched_[both] = highest;
  }

  Group group_;
  std::unordered_map<Index, std::uint32_t> numbers_;
  std::vector<ValuedCell> eldest_, touched_;  ///< touched: id -1: no edge leads out
  std::vector<std::int32_t> owners_;          ///< servers of the highest maxima
  UnionFind<std::uint32_t> joined_;
};

/// Merges the edges of two groups. Both know each edge between them, and each knows the present representative of its
/// own maximum.
std::vector<GroupEdge> joined_edges(std::vector<GroupEdge> low, const std::vector<GroupEdge>& high,
                                    const Group& low_group, const Group& high_group) {
  const auto between = [&](const GroupEdge& e) {
    return (low_group.has(e.owner_a) && high_group.has(e.owner_b)) ||
           (low_group.has(e.owner_b) && high_group.has(e.owner_a));
  };
  std::map<std::tuple<Index, Index, Index>, const GroupEdge*> theirs;
  for (const GroupEdge& edge : high) {
    if (between(edge)) theirs[edge.key()] = &edge;
  }
  for (GroupEdge& edge : low) {
    if (!between(edge)) continue;
    const GroupEdge& other = *theirs.at(edge.key());
    (high_group.has(edge.owner_a) ? edge.a : edge.b) = high_group.has(edge.owner_a) ? other.a : other.b;
    edge.from_a = edge.from_b = -1;
  }
  for (const GroupEdge& edge : high) {
    if (!between(edge)) low.push_back(edge);
  }
  return low;
}

using Names = std::unordered_set<Index>;

/// Maxima of a group that larger groups know.
Names names_in(const std::vector<GroupEdge>& edges, const Group& group) {
  Names names;
  for (const GroupEdge& edge : edges) {
    if (group.has(edge.owner_a)) names.insert(edge.a.id);
    if (group.has(edge.owner_b)) names.insert(edge.b.id);
  }
  return names;
}

/// The triplets of this server's maxima.
std::vector<Triplet> led_to(const Names& names, const TripletMap& all) {
  std::vector<Triplet> found;
  Names seen;
  for (Index top : names) {
    for (const Triplet* next = all.find(top); next && seen.insert(top).second; next = all.find(top)) {
      found.push_back(*next);
      top = next->into.id;
    }
  }
  return found;
}

/// Data that the first server of a group keeps for the way back.
struct Stage {
  int step = 0;
  std::vector<Triplet> triplets;
  Names low, high;  ///< maxima of both halves
};

/// Sends each server the edges of its own maxima. Collective.
std::vector<GroupEdge> edges_of_own(const std::vector<TreeEdge>& own, const std::vector<ServerEdge>& met,
                                    Communicator& servers) {
  std::map<int, std::vector<GroupEdge>> to;
  for (const ServerEdge& one : met) {
    const GroupEdge edge{one.edge.a,    one.edge.b,  one.edge.saddle, one.edge.a.id,
                         one.edge.b.id, one.owner_a, one.owner_b};
    to[one.owner_a].push_back(edge);
    if (one.owner_b != one.owner_a) to[one.owner_b].push_back(edge);
  }
  std::vector<GroupEdge> mine = exchanged(to, servers);
  // Several keepers of rows may have found the same edge.
  std::sort(mine.begin(), mine.end(), [](const GroupEdge& x, const GroupEdge& y) { return x.key() < y.key(); });
  mine.erase(std::unique(mine.begin(), mine.end(), [](const auto& x, const auto& y) { return x.key() == y.key(); }),
             mine.end());
  const std::int32_t rank = servers.rank();
  for (const TreeEdge& edge : own) mine.push_back({edge.a, edge.b, edge.saddle, -1, -1, rank, rank});
  return mine;
}

}  // namespace

std::vector<Triplet> reduce_trees(const std::vector<TreeEdge>& own, const std::vector<ServerEdge>& met,
                                  Communicator& servers) {
  const int rank = servers.rank(), size = servers.size();
  Settled here = Sweep({rank, rank + 1}).run(edges_of_own(own, met, servers));
  std::vector<Triplet> result = std::move(here.triplets);
  std::vector<Stage> stages;
  int top = 1;
  for (; top < size; top *= 2) {
    std::vector<MemberMessage> out;
    if (rank % (2 * top) == top) {
      out.push_back({rank - top, bytes_of(here.rest)});
      here.rest = {};
    }
    for (const MemberMessage& message : servers.exchange(std::move(out))) {
      const auto theirs = records_of<GroupEdge>(message.bytes);
      const Group low{rank, rank + top}, high{rank + top, std::min(rank + 2 * top, size)};
      Stage& stage = stages.emplace_back();
      stage = {top, {}, names_in(here.rest, low), names_in(theirs, high)};
      const Group both{low.first, high.last};
      here = Sweep(both).run(joined_edges(std::move(here.rest), theirs, low, high));
      stage.triplets = std::move(here.triplets);
    }
  }
  std::vector<Triplet> from_above;
  for (int step = top / 2; step >= 1; step /= 2) {
    std::vector<MemberMessage> out;
    if (!stages.empty() && stages.back().step == step) {
      const Stage& stage = stages.back();
      TripletMap all(stage.triplets);
      all.add(from_above);
      out.push_back({rank + step, bytes_of(led_to(stage.high, all))});
      from_above = led_to(stage.low, all);
      stages.pop_back();
    }
    for (const MemberMessage& message : servers.exchange(std::move(out))) {
      from_above = records_of<Triplet>(message.bytes);
    }
  }
  result.insert(result.end(), from_above.begin(), from_above.end());
  return result;
}

}  // namespace sidestream::halos
