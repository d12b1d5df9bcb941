// The uniform grid of results, as configured.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/analysis/grid_result.hpp"

namespace sidestream {

/// The grid, by axis.
struct ResampleGrid {
  int dimensions = 3;
  std::array<Index, 3> size{1, 1, 1};
  std::array<double, 3> low{}, high{};

  [[nodiscard]] std::vector<double> middles(std::size_t a) const {
    std::vector<double> positions;
    const auto cells = static_cast<double>(size[a]);
    for (Index i = 0; i < size[a]; ++i) {
      positions.push_back(low[a] + (high[a] - low[a]) * ((static_cast<double>(i) + 0.5) / cells));
    }
    return positions;
  }
  [[nodiscard]] GridShape shape() const {
    std::vector<Index> extents;
    for (int a = dimensions - 1; a >= 0; --a) extents.push_back(size[static_cast<std::size_t>(a)]);
    return GridShape(std::move(extents));
  }
};

/// A grid as it is written.
struct GridOptions {
  std::vector<Index> size{};
  std::optional<std::int32_t> level{};
  std::vector<double> low{}, high{};
};

/// The options of a grid, and the grid for a mesh or tree. Throws Error(configuration).
[[nodiscard]] OptionTable<GridOptions> grid_options();
[[nodiscard]] ResampleGrid read_grid(const Settings& settings, const GridOptions& options, const Mesh& given);

}  // namespace sidestream
