// The cells of a block whose points have coordinates, as places are looked for in them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "visualisation/sampling/samplers.hpp"

namespace sidestream::sampling {

/// A cell that contains a place.
struct InCell {
  Rank rank;
  double margin = 0;   ///< distance from the nearest face; see Located
  bool inner = false;  ///< all cells that touch this one are in the same block
};

/// Cells of one block. Mesh, variables and arrays must outlive them. Not for several threads: calls share scratch
/// space.
class SearchedCells {
 public:
  virtual ~SearchedCells() = default;
  [[nodiscard]] virtual Index count() const noexcept = 0;

  enum class State { left_out, searched, unknown };  ///< unknown: of a type that cannot be searched
  /// The bounds of a cell, widened by a rounding error, and undefined if the cell is left out: a ghost, one without an
  /// interior, one that a finer level covers.
  [[nodiscard]] virtual State bounds_of(Index cell, Place& low, Place& high) = 0;
  /// Writes all values of the query at a place in a cell that was `searched`. Nothing if the place is outside.
  [[nodiscard]] virtual std::optional<InCell> take(Index cell, const Place& place, std::span<double> values) = 0;
};

/// Calls `f` for the cells of each of this server's blocks, in ascending order of the blocks' ids. The mesh is
/// curvilinear or unstructured. `reads`: expected number of places in each block.
void for_each_block_of_cells(const Query& query, const LocalInput& input, std::int64_t reads,
                             const std::function<void(std::unique_ptr<SearchedCells>)>& f);

// The cells of each kind of mesh; see above. Null if an array that defines them was not delivered.
[[nodiscard]] std::unique_ptr<SearchedCells> curvilinear_cells(const Query& query, const LocalInput& input,
                                                               SampledBlock block, std::int64_t reads);
[[nodiscard]] std::unique_ptr<SearchedCells> unstructured_cells(const Query& query, const LocalInput& input,
                                                                SampledBlock block);

}  // namespace sidestream::sampling
