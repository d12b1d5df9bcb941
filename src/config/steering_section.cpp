#include "config/sections.hpp"

#include <charconv>
#include <cmath>

#include "config/opening.hpp"
#include "config/options/document.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"

namespace sidestream {

namespace {

/// The options of a parameter.
struct SteeringEntry {
  bool real = false;
  double initial = 0;
  std::optional<double> minimum{}, maximum{};
};

/// Refuses a fraction for a parameter of type integer.
void check_whole(const Settings& settings, const std::string& option, const Metadata&, const SteeringEntry& entry) {
  if (entry.real || !settings.has(option)) return;
  const double value = settings.real(option);
  constexpr double exact = 9007199254740992;  // 2^53: integers up to it are exact in a real number
  if (value == std::floor(value) && std::abs(value) <= exact) return;
  settings.fail(option, fmt::format("found {} for '{}' of a parameter of type integer, expected a whole number; write "
                                    "one, or 'type: real'",
                                    value, option));
}

const OptionTable<SteeringEntry>& steering_options() {
  static const OptionTable<SteeringEntry> table{
      option<OptionType::choice>(
          "type", &SteeringEntry::real,
          "`integer`: 64 bits, read with `sidestream_get_int`. `real`: double, `sidestream_get_real`.",
          {.standard = "integer", .choices = {{"integer", false}, {"real", true}}}),
      option("default", &SteeringEntry::initial, "The initial value.", {.required = true}).then(check_whole),
      option("minimum", &SteeringEntry::minimum, "The smallest value that may be set.").then(check_whole),
      option("maximum", &SteeringEntry::maximum, "The largest value that may be set.").then(check_whole)};
  return table;
}

SteeredParameter read_parameter(const Entry& entry, const ReadContext& context) {
  check_name(entry.key, "parameter", entry.where);
  const std::string owner = fmt::format("the steered parameter '{}'", entry.key);
  const Settings settings = read_settings(entry.value, section("steering").options, owner, entry.where, context);
  const OptionTable<SteeringEntry>& options = steering_options();
  const auto [real, initial, minimum, maximum] = options.read(settings);
  SteeredParameter parameter{entry.key, initial, minimum, maximum};
  if (!real) parameter.initial = static_cast<std::int64_t>(initial);
  if (minimum && maximum && *minimum > *maximum) {
    options.fail(
        settings, &SteeringEntry::maximum,
        fmt::format("found the maximum {} below the minimum {}; exchange or correct them", *maximum, *minimum));
  }
  try {
    check_steered(parameter, parameter.initial);
  } catch (const Error& error) {
    options.fail(settings, &SteeringEntry::initial, error.what());
  }
  return parameter;
}

}  // namespace

Section steering_section() {
  return {"steering", SectionForm::named,
          "Parameters that a person (`sidestream set`) or an analysis changes while the simulation runs, and that it "
          "reads after each iteration, the same on all ranks; at most 64. See [steering](steering.md).",
          "steering:\n  stop: {type: integer, default: 0, minimum: 0, maximum: 1}", steering_options().declarations()};
}

std::vector<SteeredParameter> read_steering(const Document& document, const ReadContext& context) {
  std::vector<SteeredParameter> parameters;
  const Entry* found = document.root().find("steering");
  if (found == nullptr || found->value.kind == Node::Kind::null) return parameters;
  if (found->value.kind != Node::Kind::map) {
    fail_at(found->value.where,
            "found {} for 'steering', expected a map of names; write 'steering: {{stop: {{default: 0}}}}'",
            found->value.description());
  }
  for (const Entry& entry : found->value.entries) {
    if (parameters.size() == most_steered) {
      fail_at(entry.where, "found the steered parameter '{}' after {} others, expected at most {}; use fewer",
              entry.key, most_steered, most_steered);
    }
    parameters.push_back(read_parameter(entry, context));
  }
  return parameters;
}

std::size_t find_steered(const std::vector<SteeredParameter>& all, std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all[n].name == name) return n;
    known.push_back(all[n].name);
  }
  fail(Code::usage, "the parameter '{}' is unknown, expected one of {}; {}", name, listed(known),
       suggestion(std::string(name), known, "declare it in the configuration, under 'steering:'"));
}

void check_steered(const SteeredParameter& parameter, const SteeredParameter::Value& value) {
  if (value.index() != parameter.initial.index()) {
    fail(Code::usage, "'{}' is {}, expected {}; the configuration says the type of '{}'", parameter.name,
         parameter.is_real() ? "given an integer" : "given a real number",
         parameter.is_real() ? "a real number" : "an integer", parameter.name);
  }
  const auto* real = std::get_if<double>(&value);
  const double number = real ? *real : static_cast<double>(*std::get_if<std::int64_t>(&value));
  if (!std::isfinite(number)) {
    fail(Code::usage, "'{}' is {}, expected a finite number; give one", parameter.name, number);
  }
  if (parameter.minimum && number < *parameter.minimum) {
    fail(Code::usage, "'{}' is {}, expected at least {}; give a value in that range", parameter.name, text_of(value),
         *parameter.minimum);
  }
  if (parameter.maximum && number > *parameter.maximum) {
    fail(Code::usage, "'{}' is {}, expected at most {}; give a value in that range", parameter.name, text_of(value),
         *parameter.maximum);
  }
}

SteeredParameter::Value parse_steered(const SteeredParameter& parameter, std::string_view text) {
  const auto read = [&](auto number) -> std::optional<SteeredParameter::Value> {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
  };
  const auto value = parameter.is_real() ? read(0.0) : read(std::int64_t{0});
  if (!value) {
    fail(Code::usage, "'{}' is '{}', expected {}; write one", parameter.name, text,
         parameter.is_real() ? "a number such as 0.5 or 1e-3" : "a whole number of at most 64 bits");
  }
  check_steered(parameter, *value);
  return *value;
}

}  // namespace sidestream
