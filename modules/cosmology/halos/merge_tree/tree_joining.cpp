// Joining of the trees of boxes at their borders.
//
// Every row of the mesh has a keeper among the servers. A border cell is sent to the keeper of its row, and to the
// keepers of later rows where it has neighbours outside its box (Posts). Each keeper sorts its cells by row and place
// and finds neighbours by binary search (BorderRows). Two neighbours give an edge between their maxima, with the lower
// cell as saddle. Edges are reduced to a maximum spanning forest whenever there are many (SpanningForest), so memory
// stays proportional to the number of maxima.
//
// join_forests merges forests over a binary tree of servers; tree_reduction.cpp has the sparser alternative.
#include "cosmology/halos/merge_tree/tree_joining.hpp"

#include <algorithm>
#include <unordered_map>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/reduce/union_find.hpp"

namespace sidestream::halos {
namespace {

std::vector<TreeEdge> as_edges(const std::vector<Triplet>& triplets) {
  std::vector<TreeEdge> edges;
  edges.reserve(triplets.size());
  for (const Triplet& triplet : triplets) edges.push_back({triplet.top, triplet.into, triplet.saddle});
  return edges;
}

/// Edges of the maximum spanning forest.
std::vector<ServerEdge> maximum_spanning_forest(std::vector<ServerEdge> edges) {
  std::sort(edges.begin(), edges.end(), [](const ServerEdge& x, const ServerEdge& y) {
    const TreeEdge &a = x.edge, &b = y.edge;
    if (!(a.saddle == b.saddle)) return b.saddle.below(a.saddle);
    return a.a.id != b.a.id ? a.a.id < b.a.id : a.b.id < b.b.id;
  });
  std::unordered_map<Index, std::uint32_t> numbers;
  const auto number_of = [&](const ValuedCell& cell) {
    return numbers.emplace(cell.id, static_cast<std::uint32_t>(numbers.size())).first->second;
  };
  for (const ServerEdge& one : edges) {
    number_of(one.edge.a);
    number_of(one.edge.b);
  }
  UnionFind<std::uint32_t> joined(numbers.size());
  const auto needless = [&](const ServerEdge& one) {
    const std::uint32_t a = joined.find(number_of(one.edge.a)), b = joined.find(number_of(one.edge.b));
    if (a != b) joined.join(a, b);
    return a == b;
  };
  edges.erase(std::remove_if(edges.begin(), edges.end(), needless), edges.end());
  return edges;
}

/// Sends border cells to the keepers of their rows, and of the later rows in which they have neighbours elsewhere.
class Posts {
 public:
  Posts(const Lattice& lattice, const std::vector<RowStep>& steps, int servers)
      : lattice_(lattice), steps_(steps), to_(static_cast<std::size_t>(servers)) {}

  void put(const BorderCell& cell) {
    // Few servers keep the neighbouring rows; mostly it is one.
    std::array<std::size_t, 6> keepers{keeper(cell.row)};
    std::size_t count = 1;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if ((cell.ways >> (s + 1) & 1) == 0) continue;
      const std::optional<Index> row = lattice_.row_beside(cell.row, steps_[s].step0, steps_[s].step1);
      if (!row) continue;
      const std::size_t other = keeper(*row);
      if (std::find(keepers.begin(), keepers.begin() + count, other) == keepers.begin() + count) {
        keepers[count++] = other;
      }
    }
    for (std::size_t n = 0; n < count; ++n) to_[keepers[n]].push_back(cell);
  }
  [[nodiscard]] std::vector<BorderCell> exchange(Communicator& servers) {
    std::vector<BorderCell> here = std::move(to_[static_cast<std::size_t>(servers.rank())]);
    std::vector<MemberMessage> out;
    for (std::size_t r = 0; r < to_.size(); ++r) {
      if (to_[r].empty()) continue;
      out.push_back({static_cast<int>(r), bytes_of(to_[r])});
      std::vector<BorderCell>().swap(to_[r]);
    }
    for (MemberMessage& message : servers.exchange(std::move(out))) {
      const auto cells = records_of<BorderCell>(message.bytes);
      Bytes().swap(message.bytes);  // frees memory, since messages may be large
      here.insert(here.end(), cells.begin(), cells.end());
    }
    return here;
  }

 private:
  [[nodiscard]] std::size_t keeper(Index row) const {
    return static_cast<std::size_t>(lattice_.keeper(row, static_cast<int>(to_.size())));
  }

  const Lattice& lattice_;
  const std::vector<RowStep>& steps_;
  std::vector<std::vector<BorderCell>> to_;
};

/// Border cells sorted by row and place.
class BorderRows {
 public:
  BorderRows(std::vector<BorderCell> cells, const Lattice& lattice) : cells_(std::move(cells)), lattice_(lattice) {
    std::sort(cells_.begin(), cells_.end(),
              [](const BorderCell& a, const BorderCell& b) { return a.before(b.row, b.place); });
  }
  [[nodiscard]] const std::vector<BorderCell>& all() const noexcept { return cells_; }
  /// Calls `f` for the cells at places of a row, which may extend beyond both ends.
  template <class F>
  void for_each(Index row, Index first, Index last, F&& f) const {
    const Index n = lattice_.size[lattice_.along];
    within(row, std::max<Index>(first, 0), std::min(last, n - 1), f);
    if (!lattice_.periodic[lattice_.along]) return;
    if (first < 0) within(row, n - 1, n - 1, f);
    if (last >= n) within(row, 0, 0, f);
  }

 private:
  template <class F>
  void within(Index row, Index first, Index last, F&& f) const {
    auto at = std::lower_bound(cells_.begin(), cells_.end(), first,
                               [&](const BorderCell& a, Index place) { return a.before(row, place); });
    for (; at != cells_.end() && at->row == row && at->place <= last; ++at) f(*at);
  }

  std::vector<BorderCell> cells_;
  const Lattice& lattice_;
};

}  // namespace

void SpanningForest::add(const ServerEdge& edge) {
  edges_.push_back(edge);
  if (edges_.size() < most_) return;
  edges_ = maximum_spanning_forest(std::move(edges_));
  most_ = std::max(least, 2 * edges_.size());
}

std::vector<ServerEdge> SpanningForest::take() { return maximum_spanning_forest(std::move(edges_)); }

std::vector<ServerEdge> border_edges(std::vector<BorderCell> border, const Lattice& lattice,
                                     const std::vector<RowStep>& steps, Communicator& servers) {
  if (servers.size() > 1) {
    Posts posts(lattice, steps, servers.size());
    for (const BorderCell& cell : border) posts.put(cell);
    std::vector<BorderCell>().swap(border);
    border = posts.exchange(servers);
  }
  const BorderRows rows(std::move(border), lattice);
  const int rank = servers.rank(), size = servers.size();
  SpanningForest edges;
  for (const BorderCell& cell : rows.all()) {
    const auto meet = [&](const BorderCell& other) {
      if (other.top == cell.top) return;
      const ValuedCell& saddle = other.cell.below(cell.cell) ? other.cell : cell.cell;
      edges.add({{other.top, cell.top, saddle},
                 static_cast<std::int32_t>(other.owner),
                 static_cast<std::int32_t>(cell.owner)});
    };
    const bool mine = lattice.keeper(cell.row, size) == rank;
    if (mine && (cell.ways & 1) != 0) rows.for_each(cell.row, Index{cell.place} + 1, Index{cell.place} + 1, meet);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if ((cell.ways >> (s + 1) & 1) == 0) continue;
      const std::optional<Index> row = lattice.row_beside(cell.row, steps[s].step0, steps[s].step1);
      if (!row || lattice.keeper(*row, size) != rank) continue;
      rows.for_each(*row, cell.place + steps[s].low, cell.place + steps[s].high, meet);
    }
  }
  return edges.take();
}

std::vector<Triplet> join_forests(std::vector<TreeEdge> mine, Communicator& servers) {
  const int rank = servers.rank(), size = servers.size();
  std::vector<TreeEdge> edges = as_edges(spanning(std::move(mine)));
  for (int step = 1; step < size; step *= 2) {
    std::vector<MemberMessage> out;
    if (rank % (2 * step) == step) {
      out.push_back({rank - step, bytes_of(edges)});
      std::vector<TreeEdge>().swap(edges);
    }
    for (const MemberMessage& message : servers.exchange(std::move(out))) {
      const auto theirs = records_of<TreeEdge>(message.bytes);
      edges.insert(edges.end(), theirs.begin(), theirs.end());
      edges = as_edges(spanning(std::move(edges)));
    }
  }
  Bytes bytes;
  if (rank == 0) bytes = bytes_of(spanning(std::move(edges)));
  servers.broadcast(bytes, 0);
  return records_of<Triplet>(bytes);
}

}  // namespace sidestream::halos
