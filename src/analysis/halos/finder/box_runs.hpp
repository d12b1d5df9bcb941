// The cells of a box that reach a threshold, as runs, and which of them hang together.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/halos/finder/lattice.hpp"
#include "sidestream/data/block.hpp"

namespace sidestream::halos {

/// Cells that follow each other in a row, first and last included.
struct Run {
  Index row = 0;
  std::int32_t first = 0, last = 0;
  [[nodiscard]] Index cells() const noexcept { return Index{last} - first + 1; }
};

/// The runs of a box, by rows and ascending in each; of each run its set, numbered from 0 in the order of their first
/// runs.
struct BoxRuns {
  std::vector<Run> runs;
  std::vector<std::uint32_t> sets;
  std::uint32_t set_count = 0;
};

/// What cells are taken and which are neighbours.
struct Rule {
  double boundary = 0;  ///< cells >= this are taken; NaN never is
  int component = 0;
  std::vector<RowStep> steps;
};

/// `box`: of the block's own cells, in the mesh's indices. Cells with a flag are left out. Throws Error(analysis) if
/// there are more runs than can be numbered.
[[nodiscard]] BoxRuns find_runs(const BlockView& view, const Box& box, const Lattice& lattice, const Rule& rule);

/// Whether neighbours of cells of a run lie outside of the box, in the mesh.
class Border {
 public:
  Border(const Box& box, const Lattice& lattice);
  [[nodiscard]] bool has(const Run& run) const noexcept;

 private:
  const Lattice& lattice_;
  /// In cells that are counted from the mesh's lower end; beyond all cells where nothing lies behind.
  std::array<Index, 3> first_{}, last_{};
};

}  // namespace sidestream::halos
