// The writers and result formats that come with Sidestream.
#pragma once

#include "sidestream/extend/registry.hpp"

namespace sidestream {
void register_storage(Registry& registry);
}
