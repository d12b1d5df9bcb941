// Which cells of several levels lie in the shells round halos.
#pragma once

#include <vector>

#include "analysis/halos/amr/known_levels.hpp"
#include "analysis/halos/finder/profile.hpp"

namespace sidestream::halos {

/// As sum_shells (profile.hpp) does. A cell is in the shell in which its middle is, with all of its volume. `cells`: of
/// halos, if their own cells are wanted.
[[nodiscard]] Bytes sum_level_shells(const ProfileQuery& query, std::int32_t density, int component,
                                     const AmrGrid& levels, const std::vector<NumberedLevelCell>& cells,
                                     const KnownLevelHalos& known, const LocalInput& input);

}  // namespace sidestream::halos
