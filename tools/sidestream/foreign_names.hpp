// Conversion of names in files of other codes to names of meshes and variables.
#pragma once

#include <string>

#include "base/text.hpp"

namespace sidestream {

/// Replaces all characters except letters, digits and underscores by underscores.
[[nodiscard]] inline std::string identifier(std::string name) {
  for (char& c : name) {
    if (!is_letter_or_digit(c)) c = '_';
  }
  return name;
}

/// Replaces slashes, which would make folders in files, and characters that are not printable ASCII.
[[nodiscard]] inline std::string printable(std::string name) {
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '_';
  }
  return name;
}

}  // namespace sidestream
