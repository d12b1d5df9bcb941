// `sidestream reference NAME`: a part of the manual.
#pragma once

#include <string>

namespace sidestream {

/// What the manual has under a heading: of a section, a kind of analysis or of output, a partitioner, or under
/// "options" those that every analysis and output has; several where the name is that of several. Throws Error(usage)
/// with the names there are if it is none.
[[nodiscard]] std::string reference_part(const std::string& manual, const std::string& name);

}  // namespace sidestream
