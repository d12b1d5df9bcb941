// The values of a block in a VTK file: what lies at points and in cells, flags of what does not count, coordinates.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "storage/formats/vtk_xml.hpp"

namespace sidestream {

/// A variable with the block that holds its values; null: not delivered, written as not-a-number or 0.
struct BlockArray {
  const Variable* variable = nullptr;
  const BlockView* values = nullptr;
};

/// What goes into one file.
struct VtkBlock {
  Block block{};
  std::vector<BlockArray> arrays{};  ///< those of the mesh among them
  std::vector<Box> covered{};        ///< see BlockView::covered
  bool gap = false;                  ///< cells that no block has, which must not be shown

  /// The values of the mesh's array of that role; null: not delivered, or the mesh has none.
  [[nodiscard]] const BlockView* of(Role role) const noexcept;
};

/// Memory for putting values together whose own memory has gaps.
inline constexpr std::uint64_t vtk_copy_bytes = 4u << 20;

/// PointData and CellData: values, global ids, and `vtkGhostType` where the mesh has flags, refinement levels, or nodes
/// with coordinates of their own, of which gaps have none.
void write_vtk_fields(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);
/// The same arrays without values, for the file that lists blocks.
void declare_vtk_fields(OutputFile& file, const Mesh& mesh, const std::vector<const Variable*>& variables);

/// The coordinates of all points, three each; those that did not come are not-a-number.
void write_vtk_points(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);

// The cells of lists in a VTK file.

/// The cells of an unstructured block, as published. Throws Error(analysis) if numbers point outside what they count,
/// which readers would follow into other memory.
void write_vtk_cells(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);

/// A cell for each of `count` points.
void write_vtk_verts(OutputFile& file, Index count, VtkCompression compression);

// The cells of a tree in a VTK file.

/// Corners of one cell of a tree, none of which it shares: 2, 4 or 8.
[[nodiscard]] constexpr int vtk_tree_corners(int dimensions) noexcept { return 1 << dimensions; }

/// All cells of a tree, parents included, as lines, pixels or voxels with corners of their own. Flags of the fields
/// hide parents. Throws Error(usage) if the flags of the role `refined` are not those of a tree with as many cells.
void write_vtk_tree(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);

}  // namespace sidestream
