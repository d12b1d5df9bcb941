// The values of a block in a VTK file: point and cell data, flags of entities that do not count, coordinates.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/kit/storage/codecs/stored_form.hpp"
#include "storage/formats/vtk_xml.hpp"

namespace sidestream {

/// A variable in the form that a file stores.
struct VtkVariable {
  VtkVariable(const Variable* of) : VtkVariable(of, StoredForm(of->type)) {}  // NOLINT: meant to convert
  VtkVariable(const Variable* of, StoredForm as) : variable(of), form(std::move(as)) {}
  const Variable* variable;
  StoredForm form;  ///< without a scale, which VTK lacks
};

/// A variable with the block that holds its values; null: not delivered, written as not-a-number or 0.
struct BlockArray : VtkVariable {
  BlockArray(VtkVariable of, const BlockView* view) : VtkVariable(std::move(of)), values(view) {}
  const BlockView* values;
};

/// The content of one file.
struct VtkBlock {
  Block block{};
  std::vector<BlockArray> arrays{};  ///< including the mesh's arrays
  std::vector<Box> covered{};        ///< see BlockView::covered
  bool gap = false;                  ///< true if the cells belong to no block and must not be shown

  /// The values of the mesh's array with that role; null if not delivered or the mesh has none.
  [[nodiscard]] const BlockView* of(Role role) const noexcept;
};

/// Memory for copying values that are not contiguous.
inline constexpr std::uint64_t vtk_copy_bytes = 4u << 20;

/// Writes PointData and CellData: values, global ids, and `vtkGhostType` if the mesh has flags, refinement levels, or
/// nodes with stored coordinates (which gaps lack).
void write_vtk_fields(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);
/// Declares the same arrays without values, for the file that lists blocks.
void declare_vtk_fields(OutputFile& file, const Mesh& mesh, const std::vector<VtkVariable>& variables);

/// Writes the coordinates of all points, three each; missing ones are not-a-number.
void write_vtk_points(OutputFile& file, const VtkBlock& block, VtkCompression compression);

// The cells of lists in a VTK file.

/// Writes the cells of an unstructured block, as published. Throws Error(analysis) if indices are out of range, since
/// readers would use them unchecked.
void write_vtk_cells(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);

/// Writes a vertex cell for each of `count` points.
void write_vtk_verts(OutputFile& file, Index count, VtkCompression compression);

// The cells of a tree in a VTK file.

/// Number of corners of a cell of a tree: 2, 4 or 8. Cells share no corners.
[[nodiscard]] constexpr int vtk_tree_corners(int dimensions) noexcept { return 1 << dimensions; }

/// Writes all cells of a tree, parents included, as lines, pixels or voxels with separate corners. The flags of the
/// fields hide parents. Throws Error(usage) if the flags of the role `refined` do not form a tree with as many cells.
void write_vtk_tree(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);

}  // namespace sidestream
