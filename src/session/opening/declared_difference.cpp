#include "session/opening/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/meshes.hpp"

namespace sidestream {

namespace {

std::string text_of(const std::variant<std::int64_t, double>& value) {
  return std::visit([](auto number) { return fmt::format("{}", number); }, value);
}

std::string of_parameters(const Parameters& mine, const Parameters& others) {
  for (const auto& [name, value] : others) {
    const auto found = mine.find(name);
    if (found == mine.end()) return fmt::format("${} ({}, here not set)", name, text_of(value));
    if (found->second != value) return fmt::format("${} ({}, here {})", name, text_of(value), text_of(found->second));
  }
  for (const auto& [name, value] : mine) {
    if (others.count(name) == 0) return fmt::format("${} (not set, here {})", name, text_of(value));
  }
  return {};
}

/// Compares named objects in the order of their declaration.
template <class Thing, class Compare>
std::string of_named(const char* what, const std::vector<Thing>& mine, const std::vector<Thing>& others,
                     Compare compare) {
  for (std::size_t n = 0; n < std::max(mine.size(), others.size()); ++n) {
    if (n >= mine.size()) return fmt::format("the {} '{}' (here not declared)", what, others[n].name);
    if (n >= others.size()) return fmt::format("the {} '{}' (declared only here)", what, mine[n].name);
    if (mine[n].name != others[n].name)
      return fmt::format("the {} '{}' (here '{}')", what, others[n].name, mine[n].name);
    if (const std::string part = compare(mine[n], others[n]); !part.empty()) {
      return fmt::format("{} of the {} '{}'", part, what, mine[n].name);
    }
  }
  return {};
}

std::string of_variables(const Variable& a, const Variable& b) {
  if (a.type != b.type) return "type";
  if (a.centering != b.centering) return "centering";
  if (a.components != b.components) return "components";
  if (a.order != b.order) return "order";
  return a.mesh != b.mesh ? "mesh" : "";
}

}  // namespace

std::string difference_of(const Declarations& mine, const Declarations& others) {
  if (std::string found = of_parameters(mine.parameters, others.parameters); !found.empty()) return found;
  const auto meshes = [](const Mesh& a, const Mesh& b) { return difference_of(a, b); };
  if (std::string found = of_named("mesh", mine.metadata.meshes, others.metadata.meshes, meshes); !found.empty()) {
    return found;
  }
  return of_named("variable", mine.metadata.variables, others.metadata.variables, of_variables);
}

}  // namespace sidestream
