#include "visualisation/relevance/mixed_cells.hpp"

#include <algorithm>

#include "visualisation/mesh/cells/cell_shapes.hpp"

namespace sidestream {

namespace {

/// Numbers the nodes of a mesh, i fastest.
class CornerNumbers {
 public:
  explicit CornerNumbers(const Mesh& mesh) : mesh_(mesh), nodes_(points_of(nodes_of(mesh.dimensions), mesh.cells)) {}

  /// The corners of a box of cells, the lower position first on each axis, as VTK's cells on axes have them.
  void add_corners(const Box& cells, std::vector<std::int64_t>& corners) const {
    for (int c = 0; c < 1 << mesh_.dimensions; ++c) {
      Index3 p = cells.lo;
      for (int a = 0; a < mesh_.dimensions; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        const bool up = mesh_.axes()->node(a, cells.lo[axis]) <= mesh_.axes()->node(a, cells.hi[axis]);
        if (((c >> a & 1) != 0) == up) p[axis] = cells.hi[axis];
      }
      corners.push_back(((p[2] - nodes_.lo[2]) * nodes_.extent(1) + (p[1] - nodes_.lo[1])) * nodes_.extent(0) +
                        (p[0] - nodes_.lo[0]));
    }
  }
  [[nodiscard]] std::array<double, 3> place(std::int64_t number) const {
    const Index row = nodes_.extent(0), plane = row * nodes_.extent(1);
    const Axes& axes = *mesh_.axes();
    return {axes.node(0, nodes_.lo[0] + number % row), axes.node(1, nodes_.lo[1] + number % plane / row),
            axes.node(2, nodes_.lo[2] + number / plane)};
  }

 private:
  const Mesh& mesh_;
  Box nodes_;
};

}  // namespace

CellSet mixed_cells(const std::vector<ThinnedCells>& blocks, const Mesh& mesh, const std::string& name) {
  const std::uint8_t types[] = {vtk_line, vtk_pixel, vtk_voxel};
  const CornerNumbers numbers(mesh);
  CellSet set;
  Surface::Array values{name, 1, {}}, block_ids{mixed_block_name, 1, {}}, joined{mixed_joined_name, 1, {}};
  for (const ThinnedCells& block : blocks) {
    for (const Box& box : block.boxes) {
      numbers.add_corners(box, set.links);
      set.ends.push_back(static_cast<std::int64_t>(set.links.size()));
      set.types.push_back(types[mesh.dimensions - 1]);
      block_ids.values.push_back(static_cast<double>(block.head.id));
      joined.values.push_back(static_cast<double>(box.count()));
    }
    values.values.insert(values.values.end(), block.values.begin(), block.values.end());
  }
  std::vector<std::int64_t> used = set.links;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (std::int64_t& link : set.links) {
    link = std::lower_bound(used.begin(), used.end(), link) - used.begin();
  }
  for (const std::int64_t number : used) set.points.push_back(numbers.place(number));
  set.cell_data = {std::move(values), std::move(block_ids), std::move(joined)};
  return set;
}

}  // namespace sidestream
