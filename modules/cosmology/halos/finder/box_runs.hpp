// Runs of cells in a box that reach a threshold, and their connected components.
#pragma once

#include <cstdint>
#include <vector>

#include "cosmology/halos/finder/lattice.hpp"
#include "sidestream/data/block.hpp"

namespace sidestream::halos {

/// Contiguous cells of a row; first and last are included.
struct Run {
  Index row = 0;
  std::int32_t first = 0, last = 0;
  [[nodiscard]] Index cells() const noexcept { return Index{last} - first + 1; }
  [[nodiscard]] bool before(const Run& other) const noexcept {
    return row != other.row ? row < other.row : first < other.first;
  }
};

/// Runs of a box, ordered by row and position, and the set of each run. Sets are numbered from 0 in the order of their
/// first runs.
struct BoxRuns {
  std::vector<Run> runs;
  std::vector<std::uint32_t> sets;
  std::uint32_t set_count = 0;
};

/// Rule for which cells are taken and which are neighbours.
struct Rule {
  double boundary = 0;  ///< cells >= this are taken; NaN never is
  int component = 0;
  std::vector<RowStep> steps;
};

/// `box`: of the block's own cells, in the mesh's indices. Ignores flagged cells. Throws Error(analysis) if there are
/// more runs than can be numbered.
[[nodiscard]] BoxRuns find_runs(const BlockView& view, const Box& box, const Lattice& lattice, const Rule& rule);

/// Tells whether cells of a run have neighbours outside the box but inside the mesh.
class Border {
 public:
  Border(const Box& box, const Lattice& lattice);
  [[nodiscard]] bool has(const Run& run) const noexcept;

 private:
  const Lattice& lattice_;
  /// The box, in cell indices from the mesh's lower end. Where the mesh ends, it extends beyond all cells.
  std::array<Index, 3> first_{}, last_{};
};

}  // namespace sidestream::halos
