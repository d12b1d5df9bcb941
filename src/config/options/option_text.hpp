// Descriptions of accepted values, for error messages and the manual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sidestream/extend/options.hpp"

namespace sidestream {

/// `whole number`, `one of wait, skip`, `list of 1 to 3 numbers`: without range.
[[nodiscard]] std::string type_text(const Option& option);

/// `from 1 to 64`, `at least 0`, the option's own words, or empty.
[[nodiscard]] std::string range_text(const Option& option);

/// Type and range, as the object of "expected".
[[nodiscard]] std::string expected_text(const Option& option);

/// The names in a list of options.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Option>& options);

/// The options as a table of the manual, in Markdown, nested ones by their path of names.
[[nodiscard]] std::string table_text(const std::vector<Option>& options);

// Amounts of memory: `64 MiB`, `2 GB`, `1048576`.

/// Parses a number of bytes; fractions of a byte are dropped. `what` and `where` as for evaluate(). Throws
/// Error(configuration).
[[nodiscard]] std::int64_t parse_byte_size(const std::string& text, const std::string& what, const Location& where);

/// Formats exactly, with the largest unit that divides the number: 536870912 is `512 MiB`.
[[nodiscard]] std::string format_byte_size(std::int64_t bytes);

/// Rounds to one decimal in the largest unit below the number: 1536 is `1.5 KiB`, 1000 is `1000 B`.
[[nodiscard]] std::string rounded_byte_size(std::uint64_t bytes);

// Lengths of time: `500 ms`, `10 s`, `2 min`, `24 h`.

/// Parses a number of seconds above 0; nothing if the text is none.
[[nodiscard]] std::optional<double> parse_seconds(std::string_view text);

}  // namespace sidestream
