// Former names of keys of the configuration: they keep their meaning, and a warning names the new ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/options/document.hpp"

namespace sidestream {

/// A key that was renamed.
struct FormerName {
  /// The path of the key: the section, and `*` for each list or map of any names in it.
  std::vector<std::string_view> path;
  std::string_view old, now;
};

/// All renamed keys. docs/compatibility.md lists those that are deprecated.
[[nodiscard]] const std::vector<FormerName>& former_names();

/// Gives keys with former names their new ones, and keeps the old ones in Entry::formerly. In a file of the output
/// `metadata` keys have the names of its format, and nothing is kept. Throws Error(configuration) where a map has the
/// old and the new name of a key.
void rename_former(Node& root);

/// One warning for each former name in a configuration, with the place of the first key that has it.
[[nodiscard]] std::vector<std::string> former_names_in(const Document& document);

/// The current name of an attribute of variables, which is a key under `variables: NAME:` too.
[[nodiscard]] std::string current_attribute(const std::string& name);

}  // namespace sidestream
