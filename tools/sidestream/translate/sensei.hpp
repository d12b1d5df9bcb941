// Configurations of SENSEI.
#pragma once

#include <string>

#include "translate/element.hpp"

namespace sidestream::sensei {

/// YAML of what the file says; what does not go over is remarked.
[[nodiscard]] std::string translated(const XmlFile& file, Remarks& remarks);

}  // namespace sidestream::sensei
