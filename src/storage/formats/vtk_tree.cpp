#include "storage/formats/vtk_fields.hpp"

#include <cmath>

#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

namespace {

/// Writes `x y z` of all corners, x fastest.
void write_corners(OutputFile& file, const Mesh& mesh, const std::vector<TreeCell>& cells, VtkCompression compression) {
  const auto& tree = dynamic_cast<const OctreeGeometry&>(*mesh.geometry);
  const int corners = vtk_tree_corners(mesh.dimensions);
  const auto points = static_cast<std::uint64_t>(corners) * cells.size();
  file.write("<Points>\n");
  VtkArray out(file, "Points", Type::float64, 3, points * 3 * sizeof(double), compression);
  for (const TreeCell& cell : cells) {
    std::array<double, 24> at{};
    for (int corner = 0; corner < corners; ++corner) {
      for (int a = 0; a < mesh.dimensions; ++a) {
        const auto axis = static_cast<std::size_t>(a);
        const auto node = static_cast<double>(cell.index[axis] + (corner >> a & 1));
        // Powers of two are exact, so neighbours on any level have bitwise equal corners.
        at[static_cast<std::size_t>(3 * corner + a)] =
            tree.origin()[axis] + tree.spacing()[axis] * std::ldexp(node, -cell.level);
      }
    }
    out.append(std::as_bytes(std::span(at).first(static_cast<std::size_t>(3 * corners))));
  }
  out.finish();
  file.write("</Points>\n");
}

}  // namespace

void write_vtk_tree(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression) {
  constexpr std::uint8_t vtk_types[] = {0, 3, 8, 11};  // VTK_LINE, VTK_PIXEL, VTK_VOXEL
  const BlockView* refined = block.of(Role::refined);
  const auto cells = refined ? tree_cells(mesh, block.block, refined->array) : std::vector<TreeCell>();
  const int corners = vtk_tree_corners(mesh.dimensions);
  write_corners(file, mesh, cells, compression);
  file.write("<Cells>\n");
  const auto count = static_cast<Index>(cells.size());
  write_vtk_counting(file, "connectivity", 0, 1, count * corners, compression);
  write_vtk_counting(file, "offsets", corners, corners, count, compression);
  const std::vector<std::uint8_t> types(cells.size(), vtk_types[mesh.dimensions]);
  write_vtk_array(file, "types", Type::uint8, 1, std::span<const std::uint8_t>(types), compression);
  file.write("</Cells>\n");
}

}  // namespace sidestream
