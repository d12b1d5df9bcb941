// Where blocks on finer levels are.
#pragma once

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Cells of the coarsest level that cover a block on a finer one, and `more` layers of the block's own cells beyond its
/// upper sides: positions are known of nodes of the coarsest level only. The whole mesh if the refinement is not
/// declared.
[[nodiscard]] Box covering(const Mesh& mesh, const Block& block, Index more);

}  // namespace sidestream
