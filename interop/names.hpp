// Names for configurations, made of the names of other interfaces.
#pragma once

#include <string>

namespace sidestream::interop {

/// A name for a configuration: characters other than letters and digits become _.
[[nodiscard]] inline std::string as_name(std::string text) {
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '_';
  }
  return text;
}

}  // namespace sidestream::interop
