// Conversion of YAML values to checked values by option declarations.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// Set of the names in a list of declarations that only grows, for look-up in constant time.
class DeclaredNames {
 public:
  template <class Declared>
  [[nodiscard]] bool contains(const std::string& name, const std::vector<Declared>& all) {
    for (; known_ < all.size(); ++known_) names_.insert(all[known_].name);
    return names_.contains(name);
  }

 private:
  std::size_t known_ = 0;
  std::unordered_set<std::string> names_;
};

struct ReadContext {
  ExpressionContext expressions;
  /// Targets of options that name variables and meshes; null while unknown, when such options are not read.
  const Metadata* metadata = nullptr;
  mutable DeclaredNames meshes{}, variables{};
  /// Makes a variable of an expression written instead of a name, with the expression as its name; null where only
  /// names are allowed.
  std::function<void(const Node&)> derive{};
  std::string folder{};       ///< base of relative paths; empty: they are kept as written
  std::string beside_file{};  ///< folder of the configuration's file, if `folder` is not empty
  bool asked = false;         ///< it is a request, which can declare nothing and use no mesh that an analysis makes
};

/// The context for options of `document`.
[[nodiscard]] ReadContext context_of(const Document& document, const ExpressionContext& expressions,
                                     const Metadata* metadata);

/// Reads `node` (a map, or nothing for an empty one) by the declarations. Every key must be declared, every required
/// option present, and every value of its type and range; other options get their defaults. `owner` names the map in
/// messages (`the analysis 'histogram'`). `where` is the place of the resulting settings. Throws Error(configuration).
[[nodiscard]] Settings read_settings(const Node& node, const std::vector<Option>& options, const std::string& owner,
                                     const Location& where, const ReadContext& context);

/// Checks only the names of options, also within maps, before variables and parameters are known. Throws
/// Error(configuration).
void check_option_names(const Node& node, const std::vector<Option>& options, const std::string& owner);

/// Reads the value of one option.
[[nodiscard]] Settings::Value read_value(const Node& node, const Option& option, const ReadContext& context);

/// Calls `visit` with each option that has a value, also within maps, its settings, and the options next to it.
void for_each_option(
    const Settings& settings, const std::vector<Option>& options,
    const std::function<void(const Option& option, const Settings& in, const std::vector<Option>& beside)>& visit);

/// The position of a scalar's first character.
[[nodiscard]] Location inside(const Node& node);

}  // namespace sidestream
