// Values at places of curvilinear and unstructured meshes, found one by one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "visualisation/sampling/box_tree.hpp"
#include "visualisation/sampling/searched_cells.hpp"

namespace sidestream::sampling {

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
