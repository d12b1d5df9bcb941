// All methods, by name.
#pragma once

#include "method.hpp"

namespace io {

/// All methods except Sidestream's, in the order of display; `missing` is the reason why one is unavailable.
[[nodiscard]] std::vector<MethodKind> other_methods(const Options& options);

}  // namespace io
