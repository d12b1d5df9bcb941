#include "config/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

#include "data/mesh_arrays.hpp"

namespace sidestream {

namespace {

/// Names under which files say something of meshes, variables and their datasets.
constexpr std::string_view taken[] = {
    "name",       "mesh",        "type",      "kind",         "centering",  "components",
    "order",      "unit",        "units",     "label",        "labels",     "long_name",
    "group",      "role",        "precision", "full_since",   "codec",      "missing",
    "blocks",     "lengths",     "start",     "scale_factor", "add_offset", "attributes",
    "lo",         "hi",          "points_lo", "points_hi",    "level",      "DIMENSION_LABELS",
    "dimensions", "refinement",  "origin",    "spacing",      "roots",      "points",
    "periodic",   "level_times", "covered",   "owner",        "id",         "server"};

template <class Number>
bool is_number(const std::string& text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

Attribute attribute_of(const std::string& name, const std::string& text) {
  std::int64_t whole = 0;
  double real = 0;
  if (is_number(text, whole)) return {name, whole};
  if (is_number(text, real) && std::isfinite(real)) return {name, real};
  return {name, text};
}

std::string wrong_attribute(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto part = [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); };
  if (name.empty() || !letter(name.front()) || !std::all_of(name.begin(), name.end(), part)) {
    return fmt::format("the name '{}', expected a letter, and then letters, digits and _; rename it", name);
  }
  if (!role_named(name) && std::find(std::begin(taken), std::end(taken), name) == std::end(taken)) return {};
  return fmt::format("the name '{}', which files use themselves{}; choose another", name,
                     name == "units" || name == "long_name"
                         ? ": say `unit` and `label` of variables, `units` and `labels` of meshes"
                         : "");
}

std::vector<Attribute> read_attributes(const Settings& settings) {
  std::vector<Attribute> all;
  if (!settings.given("attributes")) return all;
  for (const auto& [name, text] : settings.pairs("attributes")) {
    const std::string wrong = wrong_attribute(name);
    if (!wrong.empty()) settings.fail("attributes", "found " + wrong);
    all.push_back(attribute_of(name, text));
  }
  return all;
}

Option attributes_option(const char* text) {
  Option option{.name = "attributes", .type = OptionType::pairs};
  option.text = text;
  return option;
}

void set_attributes(std::vector<Attribute>& all, const std::vector<Attribute>& more) {
  for (const Attribute& one : more) {
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const Attribute& other) { return other.name == one.name; });
    if (known == all.end()) {
      all.push_back(one);
    } else {
      known->value = one.value;
    }
  }
  std::sort(all.begin(), all.end(), [](const Attribute& a, const Attribute& b) { return a.name < b.name; });
}

}  // namespace sidestream
