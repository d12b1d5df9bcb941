// Amounts of memory: `64 MiB`, `2 GB`, `1048576`.
#pragma once

#include <cstdint>
#include <string>

#include "sidestream/extend/options.hpp"

namespace sidestream {

/// Bytes that `text` states, fractions of a byte dropped. `what` and `where` as for evaluate(). Throws
/// Error(configuration).
[[nodiscard]] std::int64_t parse_byte_size(const std::string& text, const std::string& what, const Location& where);

/// With the largest binary unit that keeps it whole: 536870912 is `512 MiB`.
[[nodiscard]] std::string format_byte_size(std::int64_t bytes);

/// With one digit after the point, in the largest unit below it: 1536 is `1.5 KiB`, 1000 is `1000 B`.
[[nodiscard]] std::string rounded_byte_size(std::uint64_t bytes);

}  // namespace sidestream
