// The table of halos.
#pragma once

#include <vector>

#include "cosmology/halos/finder/halo_options.hpp"
#include "sidestream/data/result.hpp"

namespace sidestream::halos {

/// A row for each halo; `first`: number of the first one.
[[nodiscard]] std::vector<Column> halo_columns(const std::vector<Halo>& halos, const Field& field, std::int64_t first);

}  // namespace sidestream::halos
