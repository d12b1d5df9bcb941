// The table of halos in cells of several levels.
#pragma once

#include <vector>

#include "analysis/halos/amr/level_halo.hpp"
#include "sidestream/data/result.hpp"

namespace sidestream::halos {

/// A row for each of this server's halos; `first`: the number of the first of them.
[[nodiscard]] std::vector<Column> level_columns(const std::vector<LevelHalo>& halos, const AmrGrid& levels,
                                                std::int64_t first);

}  // namespace sidestream::halos
