// The analyses that come with Sidestream.
#pragma once

#include "sidestream/extend/registry.hpp"

namespace sidestream {
void register_analyses(Registry& registry);
}
