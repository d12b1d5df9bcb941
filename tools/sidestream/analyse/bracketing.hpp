// Blocks through which a surface may pass, by what files say of their values.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyse/demand.hpp"
#include "data/block_index.hpp"

namespace sidestream::analysing {

/// The blocks that a part that goes by values may need, and those without which servers, who go by the values
/// themselves, would find something else. Nothing where some block's range is not known, or it goes by no values.
[[nodiscard]] std::optional<std::vector<bool>> bracketing(const Selected& selected, const Metadata& metadata,
                                                          std::span<const Block> blocks, const BlockIndex& index,
                                                          const Demand::RangeOf& range_of);

}  // namespace sidestream::analysing
