// Blocks through which a surface may pass, according to the ranges in files.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyse/demand.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream::analysing {

struct Bracketing {
  std::vector<bool> passed;  ///< by block: true if a surface may pass
  /// Further blocks that servers, which use the values themselves, need for the same decisions.
  std::vector<bool> beside;
};

/// Blocks for a part that depends on values. Nothing if a block's range is unknown, or the part does not depend on
/// values.
[[nodiscard]] std::optional<Bracketing> bracketing(const Selected& selected, const Metadata& metadata,
                                                   std::span<const Block> blocks, const BlockIndex& index,
                                                   const Demand::RangeOf& range_of);

}  // namespace sidestream::analysing
