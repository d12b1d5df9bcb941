// Options that are paths: texts that are made absolute when they are read, since the program may change its working
// directory after it has opened a session.
#pragma once

#include <string_view>

#include "sidestream/extend/options.hpp"

namespace sidestream {

/// `range_text` of an option of type text that is a path, or a list of paths. Relative ones begin in the working
/// directory that rank 0 has at `open`.
inline constexpr const char* path_range = "relative to the working directory at `open`, or absolute";
/// Of one that is looked for in the folder of the configuration's file first.
inline constexpr const char* path_beside_range = "beside the configuration, or in the working directory at `open`";

[[nodiscard]] inline bool is_beside_path(const Option& option) noexcept {
  return std::string_view(option.range_text) == path_beside_range;
}
[[nodiscard]] inline bool is_path(const Option& option) noexcept {
  return is_beside_path(option) || std::string_view(option.range_text) == path_range;
}

}  // namespace sidestream
