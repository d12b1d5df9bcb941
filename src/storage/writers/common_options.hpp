// Options common to all writers: `variables` and `file`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/data/selection.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// Declares `variables`: names; empty means all.
[[nodiscard]] Option variables_option();

/// Ids of the variables that `settings` names, without repetition, in the order of declaration.
[[nodiscard]] std::vector<std::int32_t> chosen_variables(const Settings& settings, const Metadata& metadata);

/// A selection of these variables without halo.
[[nodiscard]] Selection selection_of(const std::vector<std::int32_t>& variables);

/// The options `compression` (`none` or `name`) and `level`.
[[nodiscard]] std::vector<Option> compression_options(const std::string& name, const std::string& text);

/// The chosen level; 0 for `none`. Throws through settings.fail if there is a level without compression.
[[nodiscard]] int compression_level(const Settings& settings);

/// Checks the option `file`. Throws through settings.fail unless the name differs between iterations, has one of
/// `endings`, and has no {server} (servers' own files get other names).
void check_file_option(const Settings& settings, const std::vector<std::string>& endings);

}  // namespace sidestream
