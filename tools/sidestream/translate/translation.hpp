// Translation of other systems' configurations to ours.
#pragma once

#include <string>

namespace sidestream {

struct Translation {
  std::string configuration;  ///< YAML
  /// Parts without a counterpart, or that need manual work: one line each, beginning with the file and its lines. Equal
  /// remarks on several lines are joined.
  std::string remarks;
};

/// `format` is ascent, damaris or sensei, `file` a file of it. Throws Error(usage) for another format. Throws
/// Error(file) for a file that cannot be read or is not of the format, and Error(configuration) if the tool was built
/// without an XML library.
[[nodiscard]] Translation translate(const std::string& format, const std::string& file);

}  // namespace sidestream
