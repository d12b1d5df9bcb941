// Values at places of curvilinear and unstructured meshes, found one by one.
// A tree of bounds finds the boxes that contain a place.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "visualisation/mesh/sample_points.hpp"
#include "visualisation/sampling/searched_cells.hpp"

namespace sidestream::sampling {

/// A tree of bounds over numbered boxes, after Kay and Kajiya, "Ray tracing complex scenes" (1986). Each node encloses
/// the boxes below it; boxes are divided at the median of their middles, along the axis on which these are spread most.
/// So boxes may overlap, and their sizes may differ by any factor. It takes some 100 bytes a box.
class BoxTree {
 public:
  struct Region {
    Place low{}, high{};
    [[nodiscard]] bool contains(const Place& place) const noexcept {
      bool inside = true;
      for (std::size_t a = 0; a < 3; ++a) inside = inside && place[a] >= low[a] && place[a] <= high[a];
      return inside;
    }
  };

  BoxTree() = default;
  /// `numbers` has the number of each box. All bounds are finite.
  BoxTree(std::vector<Region> boxes, std::vector<std::int64_t> numbers);

  /// Calls `f(number)` for each box that contains the place, in no particular order.
  template <class F>
  void at(const Place& place, F&& f) const {
    for (std::size_t n = 0; n < nodes_.size();) {
      const Node& node = nodes_[n];
      if (!node.region.contains(place)) {
        n = node.next;
        continue;
      }
      for (std::size_t b = node.begin; b < node.end; ++b) {
        if (boxes_[b].contains(place)) f(numbers_[b]);
      }
      ++n;
    }
  }

 private:
  /// Nodes are in the order of a walk that visits the lower half first.
  struct Node {
    Region region;
    std::size_t begin = 0, end = 0;  ///< boxes of a leaf; none: the two halves follow
    std::size_t next = 0;            ///< the node after all descendants of this one
  };
  void build(std::vector<std::size_t>& order, std::size_t begin, std::size_t end, const std::vector<Region>& boxes);

  std::vector<Region> boxes_;  ///< in the order of leaves
  std::vector<std::int64_t> numbers_;
  std::vector<Node> nodes_;
};

/// Searches this server's cells for places that are not known beforehand, such as those along a line. A tree of the
/// cells' bounds finds those that may contain a place, and the map of each is inverted there. The blocks' coordinates
/// and values are copied. Query and input must outlive it.
class CellFinder {
 public:
  CellFinder(const Query& query, const LocalInput& input);

  struct Found {
    Rank rank;
    /// A cell of another server may contain the place, too: it lies on a face, within a millionth of the cell's size.
    bool shared = false;
  };
  /// Writes the values in the cell of least rank that contains the place; nothing without one.
  [[nodiscard]] std::optional<Found> at(const Place& place, std::span<double> values);

  /// Number of cells of types that cannot be searched.
  [[nodiscard]] std::int64_t unknown() const noexcept { return unknown_; }

 private:
  struct Searched {
    std::unique_ptr<SearchedCells> cells;
    BoxTree tree;
  };
  std::vector<Searched> blocks_;
  std::vector<double> scratch_;
  std::int64_t unknown_ = 0;
};

}  // namespace sidestream::sampling
