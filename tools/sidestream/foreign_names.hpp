// Names in files of other codes, as names of meshes and variables.
#pragma once

#include <string>

#include "base/text.hpp"

namespace sidestream {

/// In letters, digits and underscores, which replace whatever else there is.
[[nodiscard]] inline std::string identifier(std::string name) {
  for (char& c : name) {
    if (!is_letter_or_digit(c)) c = '_';
  }
  return name;
}

/// In printable ASCII without slashes, which would make folders in files.
[[nodiscard]] inline std::string printable(std::string name) {
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '_';
  }
  return name;
}

}  // namespace sidestream
