// What lies in a folder. Instead of the standard library's iterators: those end the process where memory is short.
#pragma once

#include <string>
#include <vector>

namespace sidestream {

/// Names of all that lies in `folder`, without `.` and `..`, in no order. Throws Error(system) if it cannot be read,
/// and std::bad_alloc.
[[nodiscard]] std::vector<std::string> names_in_folder(const std::string& folder);

}  // namespace sidestream
