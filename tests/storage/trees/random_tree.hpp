// Forests of random trees that are cut into domains.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "storage/trees/structure.hpp"

namespace sidestream::testing {

/// The path to a cell: the root's number, then the numbers of children.
using Way = std::vector<int>;

/// A tree as it is stored, and the path to each cell.
struct WayTree {
  std::vector<Way> ways;
  std::vector<std::uint8_t> refined, owned;
};

/// A whole forest: the cells that are refined, and the domain of each leaf.
struct Forest {
  TreeShape shape;
  std::map<Way, bool> refined;
  std::map<Way, int> domain;  ///< domain of each leaf
  int domains = 1;

  Forest(std::mt19937& random, int dimensions, Index roots, int domains_of, int depth, double chance)
      : shape{dimensions, roots}, domains(domains_of) {
    const bool scattered = random() % 2 == 0;
    std::vector<Way> leaves;
    for (int root = 0; root < roots; ++root) grow(random, {root}, depth, chance, leaves);
    // Leaves get domains in their order, as along a space-filling curve, or at random.
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      domain[leaves[n]] = scattered ? static_cast<int>(random() % static_cast<unsigned>(domains))
                                    : static_cast<int>(n * static_cast<std::size_t>(domains) / leaves.size());
    }
  }

  [[nodiscard]] bool has(const Way& way, int of) const {
    for (auto leaf = domain.lower_bound(way); leaf != domain.end(); ++leaf) {
      if (!std::equal(way.begin(), way.end(), leaf->first.begin(),
                      leaf->first.begin() + static_cast<std::ptrdiff_t>(std::min(way.size(), leaf->first.size())))) {
        return false;
      }
      if (leaf->second == of) return true;
    }
    return false;
  }

  /// The tree that a domain publishes: its leaves, their ancestors, and some cells of others.
  [[nodiscard]] WayTree published(std::mt19937& random, int of) const {
    WayTree tree;
    for (int root = 0; root < shape.roots; ++root) tree.ways.push_back({root});
    for (std::size_t n = 0; n < tree.ways.size(); ++n) {
      const Way way = tree.ways[n];
      const bool is_parent = refined.at(way);
      const bool needed = is_parent && has(way, of);
      const bool shown = needed || (is_parent && random() % 3 != 0);
      tree.refined.push_back(shown ? 1 : 0);
      // Flags of parents and ghosts may be anything, as in programs.
      tree.owned.push_back(is_parent ? static_cast<std::uint8_t>(shown && random() % 2) : domain.at(way) == of ? 1 : 0);
      if (!shown) continue;
      for (int child = 0; child < 1 << shape.dimensions; ++child) {
        Way below = way;
        below.push_back(child);
        tree.ways.push_back(std::move(below));
      }
    }
    return tree;
  }

 private:
  void grow(std::mt19937& random, const Way& way, int depth, double chance, std::vector<Way>& leaves) {
    const bool splits = depth > 0 && std::uniform_real_distribution<>()(random) < chance;
    refined[way] = splits;
    if (!splits) {
      leaves.push_back(way);
      return;
    }
    for (int child = 0; child < 1 << shape.dimensions; ++child) {
      Way below = way;
      below.push_back(child);
      grow(random, below, depth - 1, chance, leaves);
    }
  }
};

}  // namespace sidestream::testing
