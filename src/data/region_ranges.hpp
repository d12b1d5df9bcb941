// Ranges of parts of blocks, measured next to the values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sidestream/data/range.hpp"

namespace sidestream {

/// Returns the array of a variable on a block; without data if there is none.
using FindArray = std::function<ArrayView(std::int32_t variable, std::int64_t block)>;

/// The range of a region; empty if its array is missing. Ignores points outside the array.
[[nodiscard]] Range measure_region(const RangeRegion& region, const FindArray& array_of);
/// The ranges of several regions, in their order.
[[nodiscard]] std::vector<Range> measure_regions(std::span<const RangeRegion> regions, const FindArray& array_of);

}  // namespace sidestream
