#include "analysis/halos/tree_joining.hpp"

#include <algorithm>

#include "base/records.hpp"

namespace sidestream::halos {
namespace {

/// Places of a row in which the neighbours of a border cell are.
struct Sought {
  Index row = 0, first = 0, last = 0;
  TreeCell cell, top;
};

std::vector<TreeEdge> as_edges(const std::vector<Triplet>& triplets) {
  std::vector<TreeEdge> edges;
  edges.reserve(triplets.size());
  for (const Triplet& triplet : triplets) edges.push_back({triplet.top, triplet.into, triplet.saddle});
  return edges;
}

/// Edges, thinned out whenever there are many.
class Thinned {
 public:
  void add(const TreeEdge& edge) {
    edges_.push_back(edge);
    if (edges_.size() < most_) return;
    edges_ = as_edges(spanning(std::move(edges_)));
    most_ = std::max(least, 2 * edges_.size());
  }
  [[nodiscard]] std::vector<Triplet> take() { return spanning(std::move(edges_)); }

 private:
  static constexpr std::size_t least = std::size_t{1} << 17;
  std::vector<TreeEdge> edges_;
  std::size_t most_ = least;
};

class Posts {
 public:
  Posts(const Lattice& lattice, int servers)
      : lattice_(lattice), here_(static_cast<std::size_t>(servers)), sought_(here_.size()) {}

  void put(const BorderCell& cell) { here_[keeper(cell.row)].push_back(cell); }
  void seek(Index row, Index first, Index last, const BorderCell& from) {
    const Index n = lattice_.size[lattice_.along];
    add({row, std::max<Index>(first, 0), std::min(last, n - 1), from.cell, from.top});
    if (!lattice_.periodic[lattice_.along]) return;
    if (first < 0) add({row, n - 1, n - 1, from.cell, from.top});
    if (last >= n) add({row, 0, 0, from.cell, from.top});
  }
  void exchange(Communicator& servers, std::vector<BorderCell>& here, std::vector<Sought>& sought) {
    std::vector<MemberMessage> out;
    for (std::size_t r = 0; r < here_.size(); ++r) {
      if (here_[r].empty() && sought_[r].empty()) continue;
      ByteWriter bytes;
      bytes.reserve(2 * sizeof(std::size_t) + here_[r].size() * sizeof(BorderCell) +
                    sought_[r].size() * sizeof(Sought));
      bytes.put(here_[r]);
      bytes.put(sought_[r]);
      out.push_back({static_cast<int>(r), bytes.take()});
      std::vector<BorderCell>().swap(here_[r]);
      std::vector<Sought>().swap(sought_[r]);
    }
    std::vector<MemberMessage> came = servers.exchange(std::move(out));
    for (MemberMessage& message : came) {
      std::vector<BorderCell> cells;
      std::vector<Sought> places;
      ByteReader in(message.bytes);
      in.get(cells);
      in.get(places);
      Bytes().swap(message.bytes);  // there may be much of it
      if (here.empty() && sought.empty()) {
        here = std::move(cells);
        sought = std::move(places);
        continue;
      }
      here.insert(here.end(), cells.begin(), cells.end());
      sought.insert(sought.end(), places.begin(), places.end());
    }
  }

 private:
  [[nodiscard]] std::size_t keeper(Index row) const {
    return static_cast<std::size_t>(lattice_.keeper(row, static_cast<int>(here_.size())));
  }
  void add(const Sought& places) {
    if (places.first <= places.last) sought_[keeper(places.row)].push_back(places);
  }

  const Lattice& lattice_;
  std::vector<std::vector<BorderCell>> here_;
  std::vector<std::vector<Sought>> sought_;
};

}  // namespace

std::vector<Triplet> meet_at_borders(std::vector<BorderCell> border, const Lattice& lattice,
                                     const std::vector<RowStep>& steps, Communicator& servers) {
  Posts posts(lattice, servers.size());
  for (const BorderCell& cell : border) {
    posts.put(cell);
    if (cell.ways & 1) posts.seek(cell.row, cell.place + 1, cell.place + 1, cell);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if ((cell.ways >> (s + 1) & 1) == 0) continue;
      const std::optional<Index> row = lattice.row_beside(cell.row, steps[s].step0, steps[s].step1);
      if (row) posts.seek(*row, cell.place + steps[s].low, cell.place + steps[s].high, cell);
    }
  }
  std::vector<BorderCell>().swap(border);
  std::vector<BorderCell> here;
  std::vector<Sought> sought;
  posts.exchange(servers, here, sought);
  const auto before = [](const auto& a, Index row, Index place) {
    return a.row != row ? a.row < row : a.place < place;
  };
  std::sort(here.begin(), here.end(),
            [&](const BorderCell& a, const BorderCell& b) { return before(a, b.row, b.place); });
  Thinned edges;
  for (const Sought& places : sought) {
    auto at = std::lower_bound(here.begin(), here.end(), places,
                               [&](const BorderCell& a, const Sought& b) { return before(a, b.row, b.first); });
    for (; at != here.end() && at->row == places.row && at->place <= places.last; ++at) {
      if (at->top == places.top) continue;
      edges.add({at->top, places.top, at->cell.below(places.cell) ? at->cell : places.cell});
    }
  }
  return edges.take();
}

std::vector<Triplet> join_forests(std::vector<Triplet> mine, Communicator& servers) {
  const int rank = servers.rank(), size = servers.size();
  std::vector<TreeEdge> edges = as_edges(spanning(as_edges(mine)));
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
