// Meshes and variables of files: their names, and their declaration as a program declares them.
#pragma once

#include <string>

#include "sidestream/data/metadata.hpp"
#include "sidestream/kit/base/text.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream {

/// Declares a mesh of `metadata`, whose cells begin at 0, with its periodicity, levels and roles of variables. `of`
/// names its source in messages. Throws Error(usage) if only its name is known.
void declare_mesh(Session& session, const Metadata& metadata, const Mesh& mesh, const char* of);

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
