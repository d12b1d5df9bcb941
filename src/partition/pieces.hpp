// Putting plans together.
#pragma once

#include "sidestream/extend/partitioner.hpp"

namespace sidestream {

/// Whether a server's part of the plan is wanted.
[[nodiscard]] inline bool is_wanted(const PlanInput& input, std::int64_t server) noexcept {
  return input.server < 0 || input.server == server;
}

/// The whole block as one piece; `copy` 1: a further copy.
[[nodiscard]] inline PlanPiece whole_block(const PlanInput& input, std::int64_t block, std::int64_t server,
                                           std::int32_t copy = 0) {
  return {block, static_cast<std::int32_t>(server), copy, input.blocks[static_cast<std::size_t>(block)].block.cells};
}

/// Contiguous equal shares of the blocks in their order, the first servers one block more.
[[nodiscard]] Plan equal_shares(const PlanInput& input);

}  // namespace sidestream
