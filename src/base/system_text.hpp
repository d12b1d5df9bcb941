// What the system says of its errors.
#pragma once

#include <string>

namespace sidestream {

/// What `error_number` (of errno) means, in English and ASCII whatever the program's locale is: messages are written to
/// files that must be UTF-8.
[[nodiscard]] std::string system_text(int error_number);

}  // namespace sidestream
