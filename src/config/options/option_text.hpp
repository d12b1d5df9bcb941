// What an option accepts, in words: for error messages and for the manual.
#pragma once

#include <string>

#include "sidestream/extend/options.hpp"

namespace sidestream {

/// `whole number`, `one of wait, skip`, `list of 1 to 3 numbers`: without range.
[[nodiscard]] std::string type_text(const Option& option);

/// `from 1 to 64`, `at least 0`, the option's own words, or empty.
[[nodiscard]] std::string range_text(const Option& option);

/// Both, as the object of "expected".
[[nodiscard]] std::string expected_text(const Option& option);

/// The names in a list of options.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Option>& options);

}  // namespace sidestream
