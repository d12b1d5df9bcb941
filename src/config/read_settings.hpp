// From YAML values and option declarations to checked values.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "config/expression.hpp"

namespace sidestream {

struct ReadContext {
  ExpressionContext expressions;
  /// What variable and mesh options may name; null while they are not known, when such options are not read.
  const Metadata* metadata = nullptr;
};

/// Reads `node` (a map, or nothing for an empty one) by the declarations: every key must be declared, every
/// required option present, every value of its type and range; the others get their defaults. `owner` names
/// the whole in messages (`the analysis 'histogram'`). `where` is the place of the resulting settings. Throws
/// Error(configuration).
[[nodiscard]] Settings read_settings(const Node& node, const std::vector<Option>& options, const std::string& owner,
                                     const Location& where, const ReadContext& context);

/// Reads the value of one option.
[[nodiscard]] Settings::Value read_value(const Node& node, const Option& option, const ReadContext& context);

}  // namespace sidestream
