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

Leaf child(const Leaf& parent, unsigned number) {
  Leaf made{parent.level + 1, {}};
  for (std::size_t a = 0; a < 3; ++a) made.at[a] = 2 * parent.at[a] + static_cast<std::int32_t>(number >> a & 1u);
  return made;
}

// The child of the leaf's ancestor at level - 1 that contains the leaf.
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

  std::vector<Tree> build(int blocks) {
    const auto count = static_cast<std::size_t>(blocks);
    for (std::size_t b = 0; b < count; ++b) {
      Part& part = parts_.emplace_back();
      part.tree.begin = forest_.local() * b / count;
      part.tree.end = forest_.local() * (b + 1) / count;
      list(part);
      up_where_whole(part);
    }
    share();
    std::vector<Tree> trees;
    for (Part& part : parts_) {
      up_elsewhere(part);
      trees.push_back(std::move(part.tree));
    }
    return trees;
  }

 private:
  // A cell with its range of the tree's own leaves, and the position of its children in the list.
  struct Node {
    std::size_t begin, end, children;
    bool whole;  // true if the tree has all of it
  };
  struct Part {
    Tree tree;
    std::vector<Node> nodes;
  };
  struct Shared {
    Key key;
    Values values;
  };

  void add(Part& part, const Leaf& cell, std::size_t begin, std::size_t end) const {
    const bool leaf = end == begin + 1 && forest_.leaves()[begin] == cell;
    part.nodes.push_back({begin, end, 0, leaf});
    part.tree.cells.push_back(cell);
    part.tree.owned.push_back(leaf);
    part.tree.refined.push_back(begin < end && !leaf);
    part.tree.values.push_back(leaf ? values_[begin] : Values{});
  }

  void list(Part& part) const {
    add(part, Leaf{}, part.tree.begin, part.tree.end);
    for (std::size_t at = 0; at < part.nodes.size(); ++at) {  // grows during the loop, level by level
      if (part.tree.refined[at] == 0) continue;
      part.nodes[at].children = part.nodes.size();
      const Leaf cell = part.tree.cells[at];
      const auto leaves = forest_.leaves().begin();
      std::size_t begin = part.nodes[at].begin;
      const std::size_t end = part.nodes[at].end;
      for (unsigned c = 0; c < 8; ++c) {
        const auto next =
            std::partition_point(leaves + static_cast<std::ptrdiff_t>(begin), leaves + static_cast<std::ptrdiff_t>(end),
                                 [&](const Leaf& leaf) { return branch(leaf, cell.level + 1) <= c; });
        const auto last = static_cast<std::size_t>(next - leaves);
        add(part, child(cell, c), begin, last);
        begin = last;
      }
    }
  }

  static void up_where_whole(Part& part) {
    for (std::size_t at = part.nodes.size(); at-- > 0;) {
      if (part.tree.refined[at] == 0) continue;
      const std::size_t children = part.nodes[at].children;
      const auto first = part.nodes.begin() + static_cast<std::ptrdiff_t>(children);
      part.nodes[at].whole = std::all_of(first, first + 8, [](const Node& node) { return node.whole; });
      if (part.nodes[at].whole) {
        part.tree.values[at] = mean_of_eight([&](unsigned c) { return part.tree.values[children + c]; });
      }
    }
  }

  // The largest cells that are completely in one tree.
  static void add_whole(const Part& part, std::vector<Shared>& own) {
    if (part.nodes[0].whole) own.push_back({key_of(part.tree.cells[0]), part.tree.values[0]});
    for (std::size_t at = 0; at < part.nodes.size(); ++at) {
      if (part.tree.refined[at] == 0 || part.nodes[at].whole) continue;
      for (std::size_t c = part.nodes[at].children; c < part.nodes[at].children + 8; ++c) {
        if (part.nodes[c].whole) own.push_back({key_of(part.tree.cells[c]), part.tree.values[c]});
      }
    }
  }

  // Sends these to all ranks, since cells above or next to a tree's own cells are made of them. They are few: at most
  // seven per level on each side where trees meet.
  void share() {
    std::vector<Shared> own;
    for (const Part& part : parts_) add_whole(part, own);
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

  // Values of a cell that is one of the shared ones or above some of them.
  Values known(const Leaf& cell) {
    if (const auto found = known_.find(key_of(cell)); found != known_.end()) return found->second;
    const Values mean = mean_of_eight([&](unsigned c) { return known(child(cell, c)); });
    known_.emplace(key_of(cell), mean);
    return mean;
  }

  void up_elsewhere(Part& part) {
    for (std::size_t at = 0; at < part.nodes.size(); ++at) {
      if (!part.nodes[at].whole) part.tree.values[at] = known(part.tree.cells[at]);
    }
  }

  const Forest& forest_;
  const std::vector<Values>& values_;
  std::vector<Part> parts_;
  std::unordered_map<Key, Values> known_;
};

}  // namespace

std::vector<Tree> make_trees(const Forest& forest, const std::vector<Values>& values, int blocks) {
  return Builder(forest, values).build(blocks);
}

}  // namespace blast
