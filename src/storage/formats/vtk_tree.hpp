// The cells of a tree in a VTK file.
#pragma once

#include "storage/formats/vtk_fields.hpp"

namespace sidestream {

/// Corners of one cell of a tree, none of which it shares: 2, 4 or 8.
[[nodiscard]] constexpr int vtk_tree_corners(int dimensions) noexcept { return 1 << dimensions; }

/// All cells of a tree, fathers included, as lines, pixels or voxels with corners of their own. Flags of the fields
/// hide fathers. Throws Error(usage) if the flags of the role `refined` are not those of a tree with as many cells.
void write_vtk_tree(OutputFile& file, const Mesh& mesh, const VtkBlock& block, VtkCompression compression);

}  // namespace sidestream
