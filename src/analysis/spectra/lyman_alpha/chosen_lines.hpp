// Lines of sight that are written: every n-th along both axes across.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/spectra/lyman_alpha/query.hpp"
#include "reduce/grid_sums.hpp"
#include "sidestream/extend/results.hpp"

namespace sidestream::lyman_alpha {

/// Lines along one axis of a mesh: those whose indices across, from where the mesh begins, are multiples of a number.
struct LineGrid {
  LineGrid(const Mesh& mesh, int along, Index every);

  int along, fast, slow;  ///< axes; the fast one across is the lower one
  Index every;
  Box cells;  ///< of the mesh
  [[nodiscard]] Index lines(int axis) const { return (cells.extent(axis) + every - 1) / every; }
  /// The number of the chosen line at or after an index.
  [[nodiscard]] Index from(int axis, Index index) const {
    return (index - cells.lo[static_cast<std::size_t>(axis)] + every - 1) / every;
  }
  [[nodiscard]] bool chosen(int axis, Index index) const {
    return (index - cells.lo[static_cast<std::size_t>(axis)]) % every == 0;
  }
};

/// The optical depths of some of them: a rectangle of lines, the fast axis first, of each all cells.
struct ChosenLines {
  std::int64_t axis = 0;  ///< number of the axis in the query
  std::array<Index, 2> low{}, high{};
  std::vector<double> depths{};

  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] static ChosenLines from(BytesView bytes);
};

/// Collective: gives all lines of all servers to the results, rows of them divided among the servers. Optical depths of
/// an axis are multiplied by its factor.
void write_lines(const LineOutput& how, std::vector<ChosenLines> mine, const Query& query, const Mesh& mesh,
                 const Cosmology& cosmology, const std::vector<double>& factors, Communicator& servers,
                 Results& results);

}  // namespace sidestream::lyman_alpha
