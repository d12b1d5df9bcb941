// The options that all writers have: `variables` and `file`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sidestream/data/selection.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// Declares `variables`: names, or none for all.
[[nodiscard]] Option variables_option();

/// Ids of the variables that `settings` names, in the order of declaration and each once.
[[nodiscard]] std::vector<std::int32_t> chosen_variables(const Settings& settings, const Metadata& metadata);

/// The selection of those, without halo.
[[nodiscard]] Selection selection_of(const std::vector<std::int32_t>& variables);

/// The options `compression`, `none` or that of `name`, and `level`.
[[nodiscard]] std::vector<Option> compression_options(const std::string& name, const std::string& text);

/// The level that they say, 0 for `none`. Throws through settings.fail if there is a level for nothing.
[[nodiscard]] int compression_level(const Settings& settings);

/// Throws through settings.fail unless the file name of the option `file` differs between iterations, does
/// not name {server} (servers' own files get names of their own) and has one of `endings`.
void check_file_option(const Settings& settings, const std::vector<std::string>& endings);

}  // namespace sidestream
