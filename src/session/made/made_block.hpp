// One server's part of a result, as a block of the mesh that the result becomes.
#pragma once

#include <cstdint>
#include <vector>

#include "session/made/result_catcher.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// A block and its values.
struct MadeBlock {
  Block block;  ///< its shape: the box or the lengths of its lists; of a result in blocks also its id and level
  struct Array {
    std::int32_t variable = -1;
    Bytes values;  ///< contiguous, of the variable's type
  };
  std::vector<Array> arrays{};  ///< arrays that the result has
};

/// The blocks of a result in blocks, moved from `mine`. Throws Error(analysis) if an array does not fit.
[[nodiscard]] std::vector<MadeBlock> made_blocks(std::vector<ResultBlock>& mine, const Mesh& mesh,
                                                 const Metadata& metadata);

/// The block of the caught result, moved from `caught`. Without a part on this server the block is empty. Throws
/// Error(analysis) if the result does not fit the mesh.
[[nodiscard]] MadeBlock made_block(ResultCatcher& caught, const Mesh& mesh, const Metadata& metadata);

}  // namespace sidestream
