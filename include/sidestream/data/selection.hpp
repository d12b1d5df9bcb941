// What an analysis needs of an iteration.
#pragma once

#include <cstdint>
#include <vector>

namespace sidestream {

/// One variable and how far around each block its values are needed.
struct Selected {
  std::int32_t variable = -1;
  std::int32_t halo = 0;  ///< points on every side, from neighbouring blocks (not from ghosts)
};

/// The union over the analyses that are due is what moves.
struct Selection {
  std::vector<Selected> variables;
};

}  // namespace sidestream
