// The section `placement`: where the work runs.
#pragma once

#include "config/sections.hpp"

namespace sidestream {
[[nodiscard]] Section placement_section();
}
