// Runs of cells that reach a threshold, along the rows of a uniform mesh, and their connected components. Lattice has
// the rows of the mesh and their neighbours, BoxRuns the runs in one box.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream::halos {

/// Rows of cells, counted from the lower end of the mesh. Cells of a row differ only along the axis that is fastest in
/// memory. Rows are numbered with the first of the other two axes fastest.
struct Lattice {
  Lattice() = default;
  Lattice(const Mesh& mesh, Order order);

  Index3 origin{}, size{1, 1, 1};
  std::array<bool, 3> periodic{};
  int dimensions = 3;
  std::size_t along = 0;                    ///< axis of the rows
  std::array<std::size_t, 2> across{1, 2};  ///< the other two axes

  [[nodiscard]] Index rows() const noexcept { return size[across[0]] * size[across[1]]; }
  [[nodiscard]] Index cells() const noexcept { return rows() * size[along]; }
  /// Row of a cell, counted from the lower end.
  [[nodiscard]] Index row_of(const Index3& cell) const noexcept {
    return cell[across[0]] + size[across[0]] * cell[across[1]];
  }
  /// Linear index (i * nj + j) * nk + k; the lower one wins ties.
  [[nodiscard]] Index id_of(const Index3& cell) const noexcept {
    return (cell[0] * size[1] + cell[1]) * size[2] + cell[2];
  }
  [[nodiscard]] Index3 cell_of(Index id) const noexcept {
    return {id / size[2] / size[1], id / size[2] % size[1], id % size[2]};
  }
  [[nodiscard]] Index3 cell_in(Index row, Index place) const noexcept {
    Index3 cell{};
    cell[along] = place;
    cell[across[0]] = row % size[across[0]];
    cell[across[1]] = row / size[across[0]];
    return cell;
  }
  /// Distance from `from` up to `to`; along periodic axes the shortest one, from -n/2 to n/2 - 1 for n cells.
  [[nodiscard]] Index difference(std::size_t axis, Index from, Index to) const noexcept {
    if (!periodic[axis]) return to - from;
    const Index n = size[axis], half = n / 2;
    return ((to - from + half) % n + n) % n - half;
  }
  /// The row at that distance from `row`, if there is one.
  [[nodiscard]] std::optional<Index> row_beside(Index row, Index step0, Index step1) const noexcept;
  /// The server that keeps a row: contiguous, equal shares of rows.
  [[nodiscard]] int keeper(Index row, int servers) const noexcept {
    return static_cast<int>(static_cast<__int128>(row) * servers / rows());
  }
};

/// Neighbours in another row: cells at x have the neighbours x + low to x + high in the row (step0, step1) further.
struct RowStep {
  Index step0 = 0, step1 = 0, low = 0, high = 0;
};

/// Neighbours of a cell in other rows; only the later row of each pair of opposite rows. Adjacent cells of a row are
/// neighbours as well. `connectivity`: 6 (faces), 18 (and edges), 26 (and corners), or 14: the edges of Freudenthal's
/// triangulation, offsets {0, 1}^3 and {-1, 0}^3.
[[nodiscard]] std::vector<RowStep> row_steps(int connectivity);

/// True if cells with this offset are neighbours.
[[nodiscard]] bool are_neighbours(int connectivity, const Index3& offset);

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

/// Rule that selects cells and defines neighbours.
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
