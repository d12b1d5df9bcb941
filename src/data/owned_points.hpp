// Meshes of points that no two blocks share, as finite-difference codes have them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/selection.hpp"
#include "sidestream/data/variable.hpp"

namespace sidestream {

/// Makes the points of a mesh owned. The size of a uniform mesh counts points until then, and cells afterwards. Returns
/// what is wrong and what to do, or nothing; if something is wrong the mesh is as before. Axes that are periodic must
/// be known, or be changed by set_periodic_axes.
[[nodiscard]] std::string own_points(Mesh& mesh);

/// Changes which axes are periodic. A uniform mesh of n points that own themselves has n cells along a periodic axis,
/// and n - 1 along others.
void set_periodic_axes(Mesh& mesh, const std::array<bool, 3>& periodic);

/// True if blocks of the variable lack upper nodes.
[[nodiscard]] bool lacks_nodes(const Mesh& mesh, const Variable& variable) noexcept;

/// Ranges of blocks do not have the upper nodes of their cells, so they cannot leave out blocks of a mesh with owned
/// points: makes the part one of all blocks. A predicate is still called, since it may only listen.
void select_without_ranges(Selected& selected, const Metadata& metadata);

/// The view with all nodes of its cells, in a new array that `memory` gets: a copy of its own points and of those in
/// its halo. Nodes that are not there become NaN, or 0 for whole numbers, and are in BlockView::absent. Ghosts
/// of the array count only if they are declared filled.
[[nodiscard]] BlockView completed(const BlockView& view, const Variable& variable,
                                  std::vector<std::unique_ptr<std::byte[]>>& memory);

}  // namespace sidestream
