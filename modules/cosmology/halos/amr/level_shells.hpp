// Sums over the cells of several levels in shells around halos.
#pragma once

#include <vector>

#include "cosmology/halos/amr/known_levels.hpp"
#include "cosmology/halos/finder/profile.hpp"

namespace sidestream::halos {

/// Like sum_shells (profile.hpp). A cell belongs to the shell that contains its middle, with its whole volume. `cells`:
/// of halos, if only their own cells count.
[[nodiscard]] Bytes sum_level_shells(const ProfileQuery& query, std::int32_t density, int component,
                                     const AmrGrid& levels, const std::vector<NumberedLevelCell>& cells,
                                     const KnownLevelHalos& known, const LocalInput& input);

}  // namespace sidestream::halos
