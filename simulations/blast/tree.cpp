#include "tree.hpp"

#include <algorithm>
#include <unordered_map>

namespace blast {

namespace {

using Key = std::uint64_t;

Key key_of(const Leaf& leaf) {
  const auto bits = [](std::int32_t n) { return static_cast<Key>(n); };
  return bits(leaf.level) << 48 | bits(leaf.at[2]) << 32 | bits(leaf.at[1]) << 16 | bits(leaf.at[0]);
}

Leaf child(const Leaf& father, unsigned number) {
  Leaf made{father.level + 1, {}};
  for (std::size_t a = 0; a < 3; ++a) made.at[a] = 2 * father.at[a] + static_cast<std::int32_t>(number >> a & 1u);
  return made;
}

// Which child of its ancestor at level - 1 holds the leaf.
unsigned branch(const Leaf& leaf, int level) {
  unsigned number = 0;
  for (std::size_t a = 0; a < 3; ++a) number |= (static_cast<unsigned>(leaf.at[a] >> (leaf.level - level)) & 1u) << a;
  return number;
}

template <class Get>
Values mean_of_eight(const Get& get) {
  std::array<Values, 8> children;
  for (unsigned c = 0; c < 8; ++c) children[c] = get(c);
  Values mean;
  for (std::size_t n = 0; n < fields; ++n) {
    const auto pair = [&](std::size_t c) { return children[c][n] + children[c + 1][n]; };
    mean[n] = 0.125 * ((pair(0) + pair(2)) + (pair(4) + pair(6)));
  }
  return mean;
}

class Builder {
 public:
  Builder(const Forest& forest, const std::vector<Values>& values) : forest_(forest), values_(values) {}

  Tree build() {
    list();
    up_where_whole();
    share();
    up_elsewhere();
    return std::move(tree_);
  }

 private:
  // Of a cell: which local leaves are in it, and where its children are listed.
  struct Node {
    std::size_t begin, end, children;
    bool whole;  // this rank has all of it
  };
  struct Shared {
    Key key;
    Values values;
  };

  void add(const Leaf& cell, std::size_t begin, std::size_t end) {
    const bool leaf = end == begin + 1 && forest_.leaves()[begin] == cell;
    nodes_.push_back({begin, end, 0, leaf});
    tree_.cells.push_back(cell);
    tree_.owned.push_back(leaf);
    tree_.refined.push_back(begin < end && !leaf);
    tree_.values.push_back(leaf ? values_[begin] : Values{});
  }

  void list() {
    add(Leaf{}, 0, forest_.local());
    for (std::size_t at = 0; at < nodes_.size(); ++at) {  // grows as it goes, level by level
      if (tree_.refined[at] == 0) continue;
      nodes_[at].children = nodes_.size();
      const Leaf cell = tree_.cells[at];
      const auto leaves = forest_.leaves().begin();
      std::size_t begin = nodes_[at].begin;
      const std::size_t end = nodes_[at].end;
      for (unsigned c = 0; c < 8; ++c) {
        const auto next =
            std::partition_point(leaves + static_cast<std::ptrdiff_t>(begin), leaves + static_cast<std::ptrdiff_t>(end),
                                 [&](const Leaf& leaf) { return branch(leaf, cell.level + 1) <= c; });
        const auto last = static_cast<std::size_t>(next - leaves);
        add(child(cell, c), begin, last);
        begin = last;
      }
    }
  }

  [[nodiscard]] Values mean(std::size_t at) const {
    return mean_of_eight([&](unsigned c) { return tree_.values[nodes_[at].children + c]; });
  }

  void up_where_whole() {
    for (std::size_t at = nodes_.size(); at-- > 0;) {
      if (tree_.refined[at] == 0) continue;
      const auto first = nodes_.begin() + static_cast<std::ptrdiff_t>(nodes_[at].children);
      nodes_[at].whole = std::all_of(first, first + 8, [](const Node& node) { return node.whole; });
      if (nodes_[at].whole) tree_.values[at] = mean(at);
    }
  }

  // The largest cells that one rank has all of: everybody gets those, since whatever is above or beside a rank's own
  // cells is made of them. They are few: where ranks meet, at most seven a level on each side.
  void share() {
    std::vector<Shared> own;
    if (nodes_[0].whole) own.push_back({key_of(tree_.cells[0]), tree_.values[0]});
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (tree_.refined[at] == 0 || nodes_[at].whole) continue;
      for (std::size_t c = nodes_[at].children; c < nodes_[at].children + 8; ++c) {
        if (nodes_[c].whole) own.push_back({key_of(tree_.cells[c]), tree_.values[c]});
      }
    }
    int ranks = 1;
    MPI_Comm_size(forest_.comm(), &ranks);
    const int bytes = static_cast<int>(own.size() * sizeof(Shared));
    std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts.size(), 0);
    MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, forest_.comm());
    for (std::size_t r = 1; r < places.size(); ++r) places[r] = places[r - 1] + counts[r - 1];
    std::vector<Shared> all(static_cast<std::size_t>(places.back() + counts.back()) / sizeof(Shared));
    MPI_Allgatherv(own.data(), bytes, MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE, forest_.comm());
    for (const Shared& shared : all) known_.emplace(shared.key, shared.values);
  }

  // Of any cell that is one of the shared ones or above some of them.
  Values known(const Leaf& cell) {
    if (const auto found = known_.find(key_of(cell)); found != known_.end()) return found->second;
    const Values mean = mean_of_eight([&](unsigned c) { return known(child(cell, c)); });
    known_.emplace(key_of(cell), mean);
    return mean;
  }

  void up_elsewhere() {
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (!nodes_[at].whole) tree_.values[at] = known(tree_.cells[at]);
    }
  }

  const Forest& forest_;
  const std::vector<Values>& values_;
  Tree tree_;
  std::vector<Node> nodes_;
  std::unordered_map<Key, Values> known_;
};

}  // namespace

Tree make_tree(const Forest& forest, const std::vector<Values>& values) { return Builder(forest, values).build(); }

}  // namespace blast
