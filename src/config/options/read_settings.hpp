// From YAML values and option declarations to checked values.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"

namespace sidestream {

/// The names in a list of declarations that only grows, to be looked up in constant time.
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
  /// What variable and mesh options may name; null while they are not known, when such options are not read.
  const Metadata* metadata = nullptr;
  mutable DeclaredNames meshes{}, variables{};
  /// Makes a variable of an expression that stands in place of a name, called as it is written; null where names alone
  /// may stand.
  std::function<void(const Node&)> derive{};
  std::string folder{};       ///< where relative paths begin; empty: they stay as they are
  std::string beside_file{};  ///< the folder of the configuration's file, where `folder` is not empty
};

/// The context of options of `document`.
[[nodiscard]] ReadContext context_of(const Document& document, const ExpressionContext& expressions,
                                     const Metadata* metadata);

/// Reads `node` (a map, or nothing for an empty one) by the declarations: every key must be declared, every
/// required option present, every value of its type and range; the others get their defaults. `owner` names
/// the whole in messages (`the analysis 'histogram'`). `where` is the place of the resulting settings. Throws
/// Error(configuration).
[[nodiscard]] Settings read_settings(const Node& node, const std::vector<Option>& options, const std::string& owner,
                                     const Location& where, const ReadContext& context);

/// Reads the value of one option.
[[nodiscard]] Settings::Value read_value(const Node& node, const Option& option, const ReadContext& context);

/// The place of a scalar's first character.
[[nodiscard]] Location inside(const Node& node);

}  // namespace sidestream
