// Lines of sight that are written: every n-th along both transverse axes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cosmology/spectra/lyman_alpha/query.hpp"
#include "sidestream/extend/results.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream::lyman_alpha {

/// Lines along one axis of a mesh whose transverse indices, from the begin of the mesh, are multiples of a number.
struct LineGrid {
  LineGrid(const Mesh& mesh, int along, Index every);

  int along, fast, slow;  ///< axes; the fast transverse axis is the lower one
  Index every;
  Box cells;  ///< cells of the mesh
  [[nodiscard]] Index lines(int axis) const { return (cells.extent(axis) + every - 1) / every; }
  /// Number of the chosen line at or after an index.
  [[nodiscard]] Index from(int axis, Index index) const {
    return (index - cells.lo[static_cast<std::size_t>(axis)] + every - 1) / every;
  }
  [[nodiscard]] bool chosen(int axis, Index index) const {
    return (index - cells.lo[static_cast<std::size_t>(axis)]) % every == 0;
  }
};

/// Optical depths of a rectangle of these lines, the fast axis first, with all cells of each line.
struct ChosenLines {
  std::int64_t axis = 0;  ///< index of the axis in the query
  std::array<Index, 2> low{}, high{};
  std::vector<double> depths{};

  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] static ChosenLines from(BytesView bytes);
};

/// Passes all lines of all servers to the results, with rows divided among the servers. Collective. Optical depths
/// along an axis are multiplied by its factor.
void write_lines(const LineOutput& how, std::vector<ChosenLines> mine, const Query& query, const Mesh& mesh,
                 const Cosmology& cosmology, const std::vector<double>& factors, Communicator& servers,
                 Results& results);

}  // namespace sidestream::lyman_alpha
