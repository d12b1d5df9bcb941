// One server's part of a result, as a block of the mesh that it becomes.
#pragma once

#include <cstdint>
#include <vector>

#include "session/made/result_catcher.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// A block and its values.
struct MadeBlock {
  Block block;  ///< only its shape: the box or the lengths of its lists
  struct Array {
    std::int32_t variable = -1;
    Bytes values;  ///< contiguous, of the variable's type
  };
  std::vector<Array> arrays{};  ///< those that the result has
};

/// The block of what was caught, which it moves. Without a part on this server the block is empty. Throws
/// Error(analysis) if the result does not fit the mesh.
[[nodiscard]] MadeBlock made_block(ResultCatcher& caught, const Mesh& mesh, const Metadata& metadata);

}  // namespace sidestream
