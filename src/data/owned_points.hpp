// Meshes of points that no two blocks share, as in finite-difference codes.
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

/// Makes the points of a mesh owned. The size of a uniform mesh counts points before, and cells afterwards. Returns an
/// error with its remedy, or nothing; after an error the mesh is unchanged. Periodic axes must be known before, or be
/// changed by set_periodic_axes.
[[nodiscard]] std::string own_points(Mesh& mesh);

/// Changes which axes are periodic. A uniform mesh of n owned points has n cells along a periodic axis, and n - 1 along
/// others.
void set_periodic_axes(Mesh& mesh, const std::array<bool, 3>& periodic);

/// True if blocks of the variable lack upper nodes.
[[nodiscard]] bool lacks_nodes(const Mesh& mesh, const Variable& variable) noexcept;

/// Makes the part one of all blocks. Ranges of blocks lack the upper nodes of their cells, so they cannot exclude
/// blocks of a mesh with owned points. A predicate is still called, since it may only listen.
void select_without_ranges(Selected& selected, const Metadata& metadata);

/// The view with all nodes of its cells, in a new array in `memory`: a copy of its own points and of those in its halo.
/// Missing nodes become NaN, or 0 for integers, and are listed in BlockView::absent. Ghosts of the array count only if
/// they are declared filled.
[[nodiscard]] BlockView completed(const BlockView& view, const Variable& variable,
                                  std::vector<std::unique_ptr<std::byte[]>>& memory);

}  // namespace sidestream
