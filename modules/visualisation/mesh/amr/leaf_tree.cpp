// Finds the corners at which leaves of a tree meet, by simultaneous descent (Ju et al. 2002; Schaefer and Warren 2004;
// references in leaf_tree.hpp).
//
// The recursion visits elements: nodes, faces between two nodes, edges between four, corners between eight. An element
// carries the 2^n nodes around it. To divide an element, each refined node is replaced by its children next to the
// element; a leaf stays and stands for all its descendants. Each child element is reached in exactly one way, since
// along each axis it is either a plane between children or as wide as a child. A corner between leaves has a dual cell.
//
// Every node knows the range of the numbers below it. An element is skipped, with everything below it, if the common
// range of its nodes has no contour value. So the cost follows the size of the surface and not of the tree. The caller
// decides if unknown nodes (other blocks may have leaves there) are kept or skipped.
#include "visualisation/mesh/amr/leaf_tree.hpp"

#include <algorithm>
#include <cmath>

namespace sidestream {

namespace {

Index product(const Index3& n) { return n[0] * n[1] * n[2]; }

}  // namespace

void LeafTree::find_ratios(const Lattice& lattice) {
  Index3 halves{1, 1, 1};
  for (int a = 0; a < dimensions_; ++a) halves[static_cast<std::size_t>(a)] = 2;
  Index widest = 1;
  for (int a = 0; a < 3; ++a) {
    widest = std::max(widest, lattice.domain().extent(a) / lattice.steps(0)[static_cast<std::size_t>(a)]);
  }
  for (above_ = 0; Index{1} << above_ < widest; ++above_) ratios_.push_back(halves);
  for (std::size_t level = 1; level < lattice.levels(); ++level) {
    const Index3 &coarse = lattice.steps(static_cast<std::int32_t>(level) - 1),
                 &fine = lattice.steps(static_cast<std::int32_t>(level));
    ratios_.push_back({coarse[0] / fine[0], coarse[1] / fine[1], coarse[2] / fine[2]});
  }
}

/// Sets the range of a parent from its children's ranges.
void LeafTree::gather(std::size_t node, std::size_t depth) {
  Node& parent = nodes_[node];
  parent.some_unknown = false;
  parent.low = 1, parent.high = 0;
  for (Index n = parent.first; n < parent.first + product(ratios_[depth]); ++n) {
    const Node& child = nodes_[static_cast<std::size_t>(n)];
    parent.some_unknown = parent.some_unknown || child.some_unknown;
    if (child.low > child.high) continue;
    const bool first = parent.low > parent.high;
    parent.low = first ? child.low : std::min(parent.low, child.low);
    parent.high = first ? child.high : std::max(parent.high, child.high);
  }
}

LeafTree::Node LeafTree::join_roots(const Lattice& lattice, std::size_t depth, const Index3& index,
                                    std::span<const Node> roots) {
  Index3 extents, first;
  for (std::size_t a = 0; a < 3; ++a) {
    extents[a] = lattice.domain().extent(static_cast<int>(a)) / lattice.steps(0)[a];
    first[a] = index[a] * (a < static_cast<std::size_t>(dimensions_) ? Index{1} << (above_ - depth) : 1);
    if (first[a] >= extents[a]) return {outside, 1, 0, false};
  }
  if (depth == above_) {
    const auto number = static_cast<std::size_t>((first[2] * extents[1] + first[1]) * extents[0] + first[0]);
    return roots.empty() ? Node{} : roots[number];
  }
  const Index children = static_cast<Index>(nodes_.size());
  const Index3& ratio = ratios_[depth];
  nodes_.resize(nodes_.size() + static_cast<std::size_t>(product(ratio)));
  for (Index n = 0; n < product(ratio); ++n) {
    const Index3 child{ratio[0] * index[0] + n % ratio[0], ratio[1] * index[1] + n / ratio[0] % ratio[1],
                       ratio[2] * index[2] + n / (ratio[0] * ratio[1])};
    nodes_[static_cast<std::size_t>(children + n)] = join_roots(lattice, depth + 1, child, roots);
  }
  nodes_.push_back({children});
  gather(nodes_.size() - 1, depth);
  const Node parent = nodes_.back();
  nodes_.pop_back();
  return parent;
}

LeafTree::LeafTree(const Lattice& lattice, const ArrayView& refined, std::span<const std::uint8_t> absent,
                   std::span<const double> numbers)
    : dimensions_(lattice.dimensions()), nodes_(absent.size()) {
  find_ratios(lattice);
  Index next = 1;
  for (int a = 0; a < 3; ++a) next *= lattice.domain().extent(a) / lattice.steps(0)[static_cast<std::size_t>(a)];
  const auto roots = static_cast<std::size_t>(next);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    Node& node = nodes_[n];
    if (*refined.at<std::uint8_t>(static_cast<Index>(n), 0, 0) != 0) {
      node.first = next;
      next += Index{1} << dimensions_;
    } else if (absent[n] == 0) {
      node.first = leaf_code(static_cast<std::int64_t>(n));
      node.some_unknown = false;
      const double number = numbers.empty() ? std::numeric_limits<double>::quiet_NaN() : numbers[n];
      if (std::isfinite(number)) node.low = node.high = number;
    }
  }
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    if (nodes_[n].first >= 0) gather(n, above_);  // trees have the same ratio everywhere
  }
  const std::vector<Node> coarsest(nodes_.begin(),
                                   nodes_.begin() + static_cast<std::ptrdiff_t>(std::min(roots, nodes_.size())));
  const Node top = join_roots(lattice, 0, {0, 0, 0}, coarsest);
  top_ = static_cast<Index>(nodes_.size());
  nodes_.push_back(top);
}

LeafTree::LeafTree(const Lattice& lattice, const LeafSet& leaves) : dimensions_(lattice.dimensions()) {
  find_ratios(lattice);
  nodes_.emplace_back();
  for (std::size_t n = 0; n < leaves.cells.size(); ++n) {
    insert(lattice, leaves.cells[n], static_cast<std::int64_t>(n), leaves.at(0, n));
  }
}

/// Walks down from the root and adds the number to the range of each node on the way.
void LeafTree::insert(const Lattice& lattice, const TreeCell& cell, std::int64_t leaf, double number) {
  const Box& domain = lattice.domain();
  const Index3& coarsest = lattice.steps(0);
  const Box box = lattice.box(cell);
  const std::size_t depth = above_ + static_cast<std::size_t>(cell.level);
  Index3 length, offset;  // length of the node, and the place of the cell in it
  for (std::size_t a = 0; a < 3; ++a) {
    length[a] = coarsest[a] << (a < static_cast<std::size_t>(dimensions_) ? above_ : 0);
    offset[a] = box.lo[a] - domain.lo[a];
  }
  std::size_t node = 0;
  for (std::size_t d = 0;; ++d) {
    if (std::isfinite(number)) {
      Node& on_way = nodes_[node];
      const bool first = on_way.low > on_way.high;
      on_way.low = first ? number : std::min(on_way.low, number);
      on_way.high = first ? number : std::max(on_way.high, number);
    }
    if (d == depth) break;
    const Index3& ratio = ratios_[d];
    if (nodes_[node].first < 0) {
      const auto children = static_cast<Index>(nodes_.size());
      nodes_.resize(nodes_.size() + static_cast<std::size_t>(product(ratio)));
      nodes_[node].first = children;
    }
    Index child = 0;
    for (std::size_t a = 3; a-- > 0;) {
      length[a] /= ratio[a];
      child = child * ratio[a] + offset[a] / length[a];
      offset[a] %= length[a];
    }
    node = static_cast<std::size_t>(nodes_[node].first + child);
  }
  if (nodes_[node].first == unknown) nodes_[node].first = leaf_code(leaf);
}

struct LeafTree::Search {
  std::span<const double> values;
  bool skip_unknown;
  const Corner& found;
};

void LeafTree::for_each_corner(std::span<const double> values, bool skip_unknown, const Corner& f) const {
  Around top{};
  top[0] = top_;
  descend({values, skip_unknown, f}, 0, 0, top);
}

/// Visits an element: the intersection of 2^n nodes, two along each of n axes (the bits of `closed`). It is a node, a
/// face, an edge or a corner. nodes[b] is on the upper side of the axes in b. Refined nodes have the depth of the
/// element.
void LeafTree::descend(const Search& search, std::size_t depth, unsigned closed, const Around& nodes) const {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool refined = false, some_unknown = false;
  for (unsigned b = 0; b < 8; ++b) {
    if ((b & ~closed) != 0) continue;
    const Node& node = nodes_[static_cast<std::size_t>(nodes[b])];
    if (node.first == outside || (node.first == unknown && search.skip_unknown)) return;
    refined = refined || node.first >= 0;
    some_unknown = some_unknown || node.some_unknown;
    if (node.low > node.high) continue;
    low = std::min(low, node.low);
    high = std::max(high, node.high);
  }
  if (!(some_unknown && !search.skip_unknown) && !any_between(search.values, low, high)) return;
  if (!refined) {
    if (closed != (1u << dimensions_) - 1) return;
    DualCell corner{};
    for (unsigned b = 0; b <= closed; ++b) {
      const Index code = nodes_[static_cast<std::size_t>(nodes[b])].first;
      corner[b] = code == unknown ? -1 : leaf_code(code);  // its own inverse
    }
    search.found(corner);
    return;
  }
  descend_below(search, depth, closed, nodes);
}

/// Visits the elements between children inside this element.
void LeafTree::descend_below(const Search& search, std::size_t depth, unsigned closed, const Around& nodes) const {
  const Index3& ratio = ratios_[depth];
  Index3 choices;
  for (std::size_t a = 0; a < 3; ++a) choices[a] = (closed >> a & 1) != 0 ? 1 : 2 * ratio[a] - 1;
  Index3 choice;
  for (choice[2] = 0; choice[2] < choices[2]; ++choice[2]) {
    for (choice[1] = 0; choice[1] < choices[1]; ++choice[1]) {
      for (choice[0] = 0; choice[0] < choices[0]; ++choice[0]) {
        unsigned now = closed;  // an odd choice is a plane between two children, an even one the width of a child
        for (unsigned a = 0; a < 3; ++a) now |= static_cast<unsigned>(choice[a] & 1) << a;
        Around below{};
        for (unsigned b = 0; b < 8; ++b) {
          if ((b & ~now) != 0) continue;
          const Index parent = nodes[b & closed];
          const Index first = nodes_[static_cast<std::size_t>(parent)].first;
          below[b] = parent;  // a leaf stands for all its descendants
          if (first < 0) continue;
          Index child = 0;
          for (unsigned a = 3; a-- > 0;) {
            const Index upper = b >> a & 1;
            const Index along = (closed >> a & 1) != 0 ? (upper != 0 ? 0 : ratio[a] - 1) : choice[a] / 2 + upper;
            child = child * ratio[a] + along;
          }
          below[b] = first + child;
        }
        descend(search, depth + 1, now, below);
      }
    }
  }
}

}  // namespace sidestream
