// Translation of SENSEI configurations.
#pragma once

#include <string>

#include "translate/element.hpp"

namespace sidestream::sensei {

/// YAML of the file; parts that cannot be translated are remarked.
[[nodiscard]] std::string translated(const XmlFile& file, Remarks& remarks);

}  // namespace sidestream::sensei
