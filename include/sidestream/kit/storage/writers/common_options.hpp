// Options that several outputs share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/selection.hpp"
#include "sidestream/extend/option_table.hpp"

namespace sidestream {

/// The option `variables`.
using NamedVariables = std::optional<std::vector<Variable>>;
template <class Owner>
[[nodiscard]] OptionField<Owner> variables_option(NamedVariables Owner::*named) {
  return option("variables", named, "The variables to write; if left out all published ones, without derived ones.");
}

/// Ids of these variables, or of all but the derived ones, without repetition, in the order of declaration.
[[nodiscard]] std::vector<std::int32_t> chosen_variables(const NamedVariables& named, const Metadata& metadata);

/// A selection of these variables without halo.
[[nodiscard]] Selection selection_of(const std::vector<std::int32_t>& variables);

/// Checks the value of the option `file`. Throws through settings.fail unless the name differs between iterations, has
/// one of `endings`, and has no {server} (servers' own files get other names).
void check_file_option(const Settings& settings, const std::string& file, const std::vector<std::string>& endings);

}  // namespace sidestream
