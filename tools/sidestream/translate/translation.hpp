// Configurations of other systems, written as ours.
#pragma once

#include <string>

namespace sidestream {

struct Translation {
  std::string configuration;  ///< YAML
  /// What has no counterpart, or needs a hand: a line each, beginning with the file and the lines where it stands. What
  /// is said in the same words of several lines is said once.
  std::string remarks;
};

/// `format` is damaris or sensei, `file` a file of it. Throws Error(usage) for another
/// format, Error(file) for a file that cannot be read or is none of it, and Error(configuration) where the tool was
/// built without a library for XML.
[[nodiscard]] Translation translate(const std::string& format, const std::string& file);

}  // namespace sidestream
