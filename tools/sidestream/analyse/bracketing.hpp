// Blocks through which a surface may pass, by what files say of their values.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyse/demand.hpp"
#include "data/block_index.hpp"

namespace sidestream::analysing {

struct Bracketing {
  std::vector<bool> passed;  ///< by block: whether a surface may pass
  /// Those without whose values servers, who go by the values themselves, would find something else.
  std::vector<bool> beside;
};

/// Of a part that goes by values. Nothing where some block's range is not known, or it goes by none.
[[nodiscard]] std::optional<Bracketing> bracketing(const Selected& selected, const Metadata& metadata,
                                                   std::span<const Block> blocks, const BlockIndex& index,
                                                   const Demand::RangeOf& range_of);

}  // namespace sidestream::analysing
