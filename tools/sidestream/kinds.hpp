// The registry with everything that comes with Sidestream.
#pragma once

#include "sidestream/extend/registry.hpp"

namespace sidestream {

[[nodiscard]] Registry built_in_kinds();

}  // namespace sidestream
